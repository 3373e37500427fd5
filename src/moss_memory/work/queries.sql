-- Every statement on plans, tasks and steps that has one fixed form. Lists add their filters.

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
-- The open task to go on with: one in work, then the more urgent, then the older.
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
-- Whether following dependencies from one leads to the other.
with recursive reached (id) as (
  select cast(:start as text)
  union
  select d.depends_on from reached join task_dependencies d
    on d.workspace_norm = :workspace and d.id = reached.id
)
select 1 from reached where id = :end limit 1

-- name: step_by_id
select row_id, step_id, parent_step, path, sort_key, title, success_criteria_json, tests_json, blockers_json, done,
  blocked, block_reason, checkpoints_json, next_index
from steps where workspace_norm = :workspace and step_id = :step_id and task_row = :task_row

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
order by sort_key

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
select event_id, ts_ms, payload from events
where workspace = :workspace and payload is not null and seq > :after order by seq limit :limit
