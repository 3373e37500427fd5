-- Every statement on artifacts that has one fixed form. Lists and bulk changes add their filters.

-- name: insert
insert into artifacts (
  id, workspace_raw, workspace_norm, name_raw, name_norm, kind, data_json, text, data_chars, text_chars,
  run_id, phase, role, tags_json, version, ttl_seconds, expires_at, created_at, updated_at, change_seq, version_at,
  version_tool, version_origin
) values (
  :id, :workspace_raw, :workspace_norm, :name_raw, :name_norm, :kind, :data_json, :text, :data_chars, :text_chars,
  :run_id, :phase, :role, :tags_json, 1, :ttl_seconds, :expires_at, :now, :now, :change_seq, :now,
  :tool, :origin
)

-- name: named
-- The active row of a name, expired or not.
select id, expires_at, version from artifacts
where workspace_norm = :workspace_norm and name_norm = :name_norm and deleted_at is null

-- name: update_versioned
-- One conditional update: of several writers with the same expected version exactly one changes the row.
update artifacts set
  kind = :kind, data_json = :data_json, text = :text, data_chars = :data_chars, text_chars = :text_chars,
  run_id = :run_id, phase = :phase, role = :role, tags_json = :tags_json, version = version + 1,
  ttl_seconds = :ttl_seconds, expires_at = :expires_at,
  updated_at = greatest(updated_at, :now), change_seq = :change_seq,
  version_at = greatest(version_at, :now), version_tool = :tool,
  version_origin = :origin
{where}
returning id, workspace_raw, name_raw, version

-- name: change
-- The next version of an artifact; its names and its time to live stay.
update artifacts set
  kind = :kind, data_json = :data_json, text = :text, data_chars = :data_chars, text_chars = :text_chars,
  run_id = :run_id, phase = :phase, role = :role, tags_json = :tags_json, version = version + 1,
  updated_at = greatest(updated_at, :now), change_seq = :change_seq,
  version_at = greatest(version_at, :now), version_tool = :tool,
  version_origin = :origin
where id = :id

-- name: rename
update artifacts set
  workspace_raw = :workspace_raw, workspace_norm = :workspace_norm, name_raw = :name_raw, name_norm = :name_norm,
  updated_at = greatest(updated_at, :now), change_seq = :change_seq
where id = :id

-- name: restore
update artifacts set deleted_at = null, updated_at = greatest(updated_at, :now), change_seq = :change_seq where id = :id

-- name: soft_delete
update artifacts set deleted_at = :now, updated_at = greatest(updated_at, :now), change_seq = :change_seq where id = :id

-- name: touch
update artifacts set
  ttl_seconds = :ttl_seconds, expires_at = :expires_at, updated_at = greatest(updated_at, :now), change_seq = :change_seq
where id = :id

-- name: last_sweep
select done_at from upkeep where task = 'expired artifacts'

-- name: note_sweep
insert into upkeep (task, done_at) values ('expired artifacts', :now)
on conflict (task) do update set done_at = excluded.done_at

-- name: sweep
-- A batch of expired artifacts becomes deleted; the audit trail stays.
update artifacts set
  deleted_at = :now, updated_at = greatest(updated_at, :now), change_seq = :change + expired.place
from (
  select row_id, row_number() over (order by expires_at, row_id) as place from artifacts
  where deleted_at is null and expires_at is not null and expires_at <= :now
  order by expires_at, row_id limit :most
) as expired
where artifacts.row_id = expired.row_id

-- name: kept
-- The data that a program stored under a name, and its times.
select data_json, ttl_seconds, created_at, updated_at from artifacts
where workspace_norm = :workspace and name_norm = :name and deleted_at is null
  and (expires_at is null or expires_at > :now)
