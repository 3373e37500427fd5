-- Fixed statements of plans, tasks and steps. Lists add their filters.

-- name: take_numbers
insert into task_numbers (workspace_norm, kind, last) values (:workspace, :kind, :count)
on conflict (workspace_norm, kind) do update set last = task_numbers.last + excluded.last
returning last

-- name: task
select row_id, id, kind, title, description, priority, tags_json, status, parent_id, contract_json, revision,
  next_index, branch_id
from tasks where workspace_norm = :workspace and id = :id

-- name: add_task
insert into tasks (
  workspace_norm, id, kind, title, description, priority, tags_json, status, parent_id, revision, branch_id,
  created_at_ms, updated_at_ms
) values (
  :workspace, :id, :kind, :title, :description, :priority, :tags_json, 'TODO', :parent_id, 1, :branch_id, :now_ms,
  :now_ms
)

-- name: change_task
update tasks set
  title = :title, description = :description, priority = :priority, tags_json = :tags_json, status = :status,
  contract_json = :contract_json, revision = :revision, next_index = :next_index,
  updated_at_ms = greatest(updated_at_ms, :now_ms)
where row_id = :row_id

-- name: delete_task
delete from tasks where row_id = :row_id

-- name: tasks_of_plan
select row_id, id, kind, title, description, priority, tags_json, status, parent_id, contract_json, revision,
  next_index, branch_id
from tasks where workspace_norm = :workspace and parent_id = :id order by row_id

-- name: open_tasks_of_plan
select id from tasks where workspace_norm = :workspace and parent_id = :id and status <> 'DONE' order by row_id limit 20

-- name: next_task_of_plan
-- The next open task: ACTIVE first, then by priority, then by age.
select row_id, id, kind, title, description, priority, tags_json, status, parent_id, contract_json, revision,
  next_index, branch_id
from tasks where workspace_norm = :workspace and parent_id = :id and status <> 'DONE'
order by case status when 'ACTIVE' then 0 else 1 end,
  case priority when 'high' then 0 when 'normal' then 1 else 2 end, row_id
limit 1

-- name: dependencies
select d.depends_on, t.title, t.status from task_dependencies d
join tasks t on t.workspace_norm = d.workspace_norm and t.id = d.depends_on
where d.workspace_norm = :workspace and d.id = :id order by d.place

-- name: dependents
select id from task_dependencies where workspace_norm = :workspace and depends_on = :id order by id

-- name: add_dependency
insert into task_dependencies (workspace_norm, id, depends_on, place) values (:workspace, :id, :depends_on, :place)

-- name: clear_dependencies
delete from task_dependencies where workspace_norm = :workspace and id = :id

-- name: forget_dependency
delete from task_dependencies where workspace_norm = :workspace and depends_on = :id

-- name: reaches
-- Returns a row if a path of dependencies leads from `start` to `end`.
with recursive reached (id) as (
  select cast(:start as text)
  union
  select d.depends_on from reached join task_dependencies d
    on d.workspace_norm = :workspace and d.id = reached.id
)
select 1 from reached where id = :end limit 1

-- name: waits
-- Returns a row if `start` cannot be DONE before `end`: it depends on it, or is a plan that contains it, transitively.
-- A task does not wait for its own plan. The recursion follows edges from `start` instead of scanning all tasks.
with recursive waiting (id, parent_id) as (
  select id, parent_id from tasks where workspace_norm = :workspace and id = :start
  union
  select t.id, t.parent_id from waiting cross join task_dependencies d cross join tasks t
  where d.workspace_norm = :workspace and d.id = waiting.id and d.depends_on <> coalesce(waiting.parent_id, '')
    and t.workspace_norm = :workspace and t.id = d.depends_on
  union
  select t.id, t.parent_id from waiting cross join tasks t where t.workspace_norm = :workspace and t.parent_id = waiting.id
)
select 1 from waiting where id = :end limit 1

-- name: step_by_id
select row_id, step_id, parent_step, path, sort_key, title, success_criteria_json, tests_json, blockers_json, done,
  blocked, block_reason, checkpoints_json, next_index
from steps where workspace_norm = :workspace and step_id = :step_id and task_row = :task_row

-- name: task_of_step
select t.id from steps s join tasks t on t.row_id = s.task_row where s.workspace_norm = :workspace and s.step_id = :step_id

-- name: step_by_path
select row_id, step_id, parent_step, path, sort_key, title, success_criteria_json, tests_json, blockers_json, done,
  blocked, block_reason, checkpoints_json, next_index
from steps where task_row = :task_row and path = :path

-- name: steps
select row_id, step_id, parent_step, path, sort_key, title, success_criteria_json, tests_json, blockers_json, done,
  blocked, block_reason, checkpoints_json, next_index
from steps where task_row = :task_row order by sort_key limit :limit

-- name: open_steps
select row_id, step_id, parent_step, path, sort_key, title, success_criteria_json, tests_json, blockers_json, done,
  blocked, block_reason, checkpoints_json, next_index
from steps where task_row = :task_row and done = 0 order by sort_key limit :limit

-- name: subtree
select row_id, step_id, parent_step, path, sort_key, title, success_criteria_json, tests_json, blockers_json, done,
  blocked, block_reason, checkpoints_json, next_index
from steps
where task_row = :task_row and (sort_key = :sort_key or (sort_key > :sort_key || '.' and sort_key < :sort_key || '/'))
order by sort_key limit :limit

-- name: open_children
select path from steps where task_row = :task_row and parent_step = :step_id and done = 0 order by sort_key limit 20

-- name: count_steps
select count(*), coalesce(sum(done), 0) from steps where task_row = :task_row

-- name: add_step
insert into steps (
  task_row, workspace_norm, step_id, parent_step, path, sort_key, title, success_criteria_json, tests_json,
  blockers_json
) values (
  :task_row, :workspace, :step_id, :parent_step, :path, :sort_key, :title, :success_criteria_json, :tests_json,
  :blockers_json
)

-- name: change_step
update steps set
  title = :title, success_criteria_json = :success_criteria_json, tests_json = :tests_json,
  blockers_json = :blockers_json, done = :done, blocked = :blocked, block_reason = :block_reason,
  checkpoints_json = :checkpoints_json, next_index = :next_index
where row_id = :row_id

-- name: delete_step
delete from steps where row_id = :row_id

-- name: delete_steps
delete from steps where task_row = :task_row

-- name: add_evidence
insert into task_evidence (task_row, step_id, kind, content, ts_ms)
values (:task_row, :step_id, :kind, :content, :now_ms)

-- name: evidence
select step_id, kind, content from task_evidence where task_row = :task_row order by row_id

-- name: delete_evidence
delete from task_evidence where task_row = :task_row

-- name: delete_step_evidence
delete from task_evidence where task_row = :task_row and step_id = :step_id

-- name: focus
select focus_id from workspaces where workspace_norm = :workspace

-- name: set_focus
update workspaces set focus_id = :id where workspace_norm = :workspace

-- name: clear_focus_on
update workspaces set focus_id = null where workspace_norm = :workspace and focus_id = :id

-- name: event_seq
select seq from events where event_id = :event_id and payload is not null and workspace = :workspace

-- name: events_after
select event_id, ts_ms, payload, (select actor from origins where origin_id = events.origin) from events
where workspace = :workspace and payload is not null and seq > :after order by seq limit :limit

-- name: note_events
-- The events of the last notes about a plan or task.
select payload from events
where workspace = :workspace and address = :address and tool = 'tasks_note' and payload is not null
order by seq desc limit :limit

-- name: claim_events
-- The last claims on a plan or task and their actors.
select payload, (select actor from origins where origin_id = events.origin) from events
where workspace = :workspace and address = :address and tool = 'tasks_claim' and payload is not null
order by seq desc limit 100

-- name: claims
-- The unexpired claims on a plan or task and its steps.
select c.step_id, c.agent, c.lease_s, c.lease_until_ms, s.path, s.sort_key from task_claims c
left join steps s on s.task_row = c.task_row and s.step_id = c.step_id
where c.task_row = :task_row and c.lease_until_ms > :now_ms order by c.step_id

-- name: claims_of_agent
select t.id, s.step_id, s.path from task_claims c
join tasks t on t.row_id = c.task_row
left join steps s on s.task_row = c.task_row and s.step_id = c.step_id
where c.workspace_norm = :workspace and c.agent = :agent and c.lease_until_ms > :now_ms
order by c.row_id limit 20

-- name: claim
insert into task_claims (task_row, workspace_norm, step_id, agent, lease_s, lease_until_ms)
values (:task_row, :workspace, :step_id, :agent, :lease_s, :lease_until_ms)
on conflict (task_row, step_id) do update set
  agent = excluded.agent, lease_s = excluded.lease_s, lease_until_ms = excluded.lease_until_ms

-- name: release
delete from task_claims where task_row = :task_row and step_id = :step_id

-- name: release_all
delete from task_claims where task_row = :task_row

-- name: ready
-- Tasks that can be started: open, unclaimed, without unmet dependencies, first open step not blocked.
-- A plan with steps of its own counts as a task, unless only its tasks are open.
select t.id, t.title, t.priority, f.step_id, f.path, f.title from tasks t
left join steps f on f.task_row = t.row_id and f.step_id = (
  select s.step_id from steps s
  where s.task_row = t.row_id and s.done = 0 and not exists (
    select 1 from steps c where c.task_row = s.task_row and c.parent_step = s.step_id and c.done = 0)
  order by s.sort_key limit 1)
where t.workspace_norm = :workspace and t.status <> 'DONE'
  and (t.kind = 'task' or f.step_id is not null or (
    exists (select 1 from steps o where o.task_row = t.row_id)
    and not exists (
      select 1 from tasks c where c.workspace_norm = t.workspace_norm and c.parent_id = t.id and c.status <> 'DONE')))
  and not exists (select 1 from task_claims k where k.task_row = t.row_id and k.lease_until_ms > :now_ms)
  and not exists (
    select 1 from task_dependencies d join tasks n on n.workspace_norm = d.workspace_norm and n.id = d.depends_on
    where d.workspace_norm = t.workspace_norm and d.id = t.id and n.status <> 'DONE'
      and n.id <> coalesce(t.parent_id, ''))
  and not exists (
    select 1 from steps b where b.task_row = t.row_id and b.done = 0 and b.blocked = 1
      and (b.step_id = f.step_id or substr(f.sort_key, 1, length(b.sort_key) + 1) = b.sort_key || '.'))

-- name: in_order
order by case t.priority when 'high' then 0 when 'normal' then 1 else 2 end, t.row_id

-- name: open_works
-- Open candidates for a call without `target`; two rows suffice to detect more than one.
select t.id from tasks t where t.workspace_norm = :workspace and t.status <> 'DONE' and {counts} order by t.row_id limit 2

-- name: last_worked_on
select t.id from events e join tasks t on t.workspace_norm = e.workspace and t.id = e.address
where e.workspace = :workspace and e.payload is not null and e.tool <> 'tasks_create' and t.status <> 'DONE' and {counts}
order by e.seq desc limit 1

-- name: last_created
select t.id from tasks t where t.workspace_norm = :workspace and t.status <> 'DONE' and {counts}
order by t.row_id desc limit 1

-- name: step_counts
select t.id, t.title, t.status, count(s.row_id), coalesce(sum(s.done), 0) from tasks t
left join steps s on s.task_row = t.row_id
where t.workspace_norm = :workspace and t.parent_id = :id group by t.row_id, t.id, t.title, t.status order by t.row_id

-- name: evidence_by_step
select step_id, content from task_evidence where task_row = :task_row order by row_id

-- name: evidence_rows
select row_id, step_id, content from task_evidence where task_row = :task_row order by row_id

-- name: events_of_task
select event_id, payload from events where workspace = :workspace and address = :id and payload is not null order by seq

-- name: steps_in_graph
-- The present and former steps of a graph.
select distinct key from graph_versions
where branch_id = :branch_id and doc = :doc and key >= 'step:' and key < 'step;' and type is not null
order by key

-- name: step_in_graph
-- The metadata with the path of a present or deleted step.
select meta_json from graph_versions
where branch_id = :branch_id and doc = :doc and key = :key and type is not null and meta_json is not null
order by seq desc limit 1

-- name: entries_of_document
select e.seq from branches b join doc_entries e on e.branch_id = b.branch_id and e.doc = :doc
where b.workspace_norm = :workspace order by e.seq

-- name: entries_of_branch
select seq, source_event_id from doc_entries where branch_id = :branch_id order by seq
