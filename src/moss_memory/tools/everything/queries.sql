-- Events, counts of workspaces, and their renaming.

-- name: last_change
-- The number of the last change; no change with a lower number is added later.
select coalesce(max(seq), 0) from events

-- name: changes
select seq, workspace, tool, address, ts_ms, (select actor from origins where origin_id = events.origin)
from events where seq > :after and seq <= :last order by seq

-- name: capsules
-- The active rows of each workspace, and the time of the last change.
select workspace_norm, count(*), max(updated_at) from capsules where deleted_at is null group by workspace_norm

-- name: artifacts
select workspace_norm, count(*), max(updated_at) from artifacts
where deleted_at is null and (expires_at is null or expires_at > :now) group by workspace_norm

-- name: tasks
select workspace_norm, count(*), max(updated_at_ms) / 1000 from tasks group by workspace_norm

-- name: records
select workspace_norm, count(*), max(updated_at_ms) / 1000 from records group by workspace_norm

-- name: notes
select workspace_norm, count(case when written_as = 'note' and hidden = 0 then 1 end), max(ts_ms) / 1000
from doc_entries group by workspace_norm

-- name: graphs
select workspace_norm, max(ts_ms) / 1000 from graph_versions group by workspace_norm

-- name: recent
select workspace, max(seq), max(ts_ms) from (
  select seq, workspace, ts_ms from events order by seq desc limit :limit
) as latest where workspace is not null group by workspace

-- name: last_day
select max(day) from activity where workspace = :workspace

-- name: has_artifacts
select 1 from artifacts
where workspace_norm = :workspace and deleted_at is null and (expires_at is null or expires_at > :now) limit 1

-- name: has_reasoning
-- The branches of tasks and plans are left out: their content counts as tasks.
select 1 from branches
where workspace_norm = :workspace and (name < 'plan/' or (name >= 'plan0' and name < 'task/') or name >= 'task0')
  and exists (select 1 from documents where documents.branch_id = branches.branch_id) limit 1

-- name: held_capsules
-- The counts of the content of one workspace.
select count(*) from capsules where workspace_norm = :workspace and deleted_at is null

-- name: held_artifacts
select count(*) from artifacts
where workspace_norm = :workspace and deleted_at is null and (expires_at is null or expires_at > :now)

-- name: held_tasks
select count(*) from tasks where workspace_norm = :workspace

-- name: held_notes
select count(*) from doc_entries where branch_id in (select branch_id from branches where workspace_norm = :workspace)

-- name: held_nodes
select count(*) from graph_versions
where branch_id in (select branch_id from branches where workspace_norm = :workspace)
  and type is not null and deleted = 0 and next_seq = 9223372036854775807

-- name: held_records
select count(*) from records where workspace_norm = :workspace

-- name: held_deleted
select (select count(*) from capsules where workspace_norm = :workspace and deleted_at is not null)
  + (select count(*) from artifacts where workspace_norm = :workspace and (deleted_at is not null or expires_at <= :now))

-- name: rename_events
-- The events of a workspace move to its new name.
update events set workspace = :to where workspace = :was

-- name: rename_repositories
insert into workspace_repositories (workspace, repository_id, repository)
select :to, repository_id, repository from workspace_repositories where workspace = :was
on conflict (workspace, repository_id, repository) do nothing

-- name: delete_repositories
delete from workspace_repositories where workspace = :was

-- name: add_activity
insert into activity (workspace, day, tool, changes)
select :to, day, tool, changes from activity where workspace = :was
on conflict (workspace, day, tool) do update set changes = activity.changes + excluded.changes

-- name: delete_activity
delete from activity where workspace = :was

-- name: recent_counts
-- Each count stops early, so that the cost does not depend on the size of the store. Deleted workspaces have no content.
with recent(workspace, last) as (
  select workspace, max(seq) from (
    select seq, workspace from events order by seq desc limit :events
  ) as latest where workspace is not null group by workspace order by 2 desc limit :most
)
select coalesce(
    (select workspace_raw from capsules where workspace_norm = recent.workspace and deleted_at is null
     order by updated_at desc, change_seq desc limit 1),
    (select workspace_raw from records where workspace_norm = recent.workspace order by row_id desc limit 1),
    (select workspace_raw from workspaces where workspace_norm = recent.workspace),
    recent.workspace),
  (select count(*) from (
     select 1 from capsules where workspace_norm = recent.workspace and deleted_at is null limit :counted) as counted),
  (select count(*) from (
     select 1 from tasks where workspace_norm = recent.workspace and status in ('TODO', 'ACTIVE') limit :counted) as counted),
  (select count(*) from (
     select 1 from records where workspace_norm = recent.workspace limit :counted) as counted)
from recent order by last desc

-- name: cards_about_code
-- The present versions of decisions and evidence, newest first.
select coalesce((select w.workspace_raw from workspaces w where w.workspace_norm = v.workspace_norm), v.workspace_norm),
  v.key, v.title, v.text, v.origin, v.seq
from documents d join graph_versions v on v.branch_id = d.branch_id and v.doc = d.doc
where d.shape = 'graph' and v.type in ('decision', 'evidence') and v.next_seq = 9223372036854775807 and v.deleted = 0
  and coalesce(v.status, '') not in ('superseded', 'merged', 'rejected') {condition}
order by v.seq desc limit :most
