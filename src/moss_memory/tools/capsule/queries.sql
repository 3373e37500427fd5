-- Every statement on capsules that has one fixed form. Lists and bulk changes add their filters.

-- name: insert
insert into capsules (
  id, workspace_raw, workspace_norm, name_raw, name_norm, title, capsule_text, capsule_chars, tokens_estimate,
  tags_json, source, run_id, phase, role, created_at, updated_at, deleted_at, change_seq, version, version_at,
  version_tool, version_origin
) values (
  :id, :workspace_raw, :workspace_norm, :name_raw, :name_norm, :title, :capsule_text, :capsule_chars, :tokens_estimate,
  :tags_json, :source, :run_id, :phase, :role, :created_at, :updated_at, :deleted_at, :change_seq, :version,
  :version_at, :version_tool, :version_origin
)

-- name: id_taken
select 1 from capsules where id = :id

-- name: name_taken
select id from capsules
where workspace_norm = :workspace_norm and name_norm = :name_norm and deleted_at is null

-- name: owner_of_name
-- The capsule that has a name, if any, and whether the workspace has capsules.
select
  (select id from capsules where workspace_norm = :workspace_norm and name_norm = :name_norm and deleted_at is null),
  exists (select 1 from capsules where workspace_norm = :workspace_norm and deleted_at is null)

-- name: change
-- Content and metadata of one capsule, as its next version; its time of change never falls.
update capsules set
  title = :title, capsule_text = :capsule_text, capsule_chars = :capsule_chars, tokens_estimate = :tokens_estimate,
  tags_json = :tags_json, source = :source, run_id = :run_id, phase = :phase, role = :role,
  updated_at = greatest(updated_at, :now), change_seq = :change_seq,
  version = version + 1, version_at = greatest(version_at, :now), version_tool = :tool,
  version_origin = :origin, confirmed_origin = :kept_origin
where id = :id

-- name: change_metadata
update capsules set
  title = :title, tags_json = :tags_json, source = :source, run_id = :run_id, phase = :phase, role = :role,
  updated_at = greatest(updated_at, :now), change_seq = :change_seq,
  version = version + 1, version_at = greatest(version_at, :now), version_tool = :tool,
  version_origin = :origin, confirmed_origin = null
where id = :id

-- name: overwrite
-- Every column of an existing capsule but its id, as an import restores it.
update capsules set
  workspace_raw = :workspace_raw, workspace_norm = :workspace_norm, name_raw = :name_raw, name_norm = :name_norm,
  title = :title, capsule_text = :capsule_text, capsule_chars = :capsule_chars, tokens_estimate = :tokens_estimate,
  tags_json = :tags_json, source = :source, run_id = :run_id, phase = :phase, role = :role,
  created_at = :created_at, updated_at = :updated_at, deleted_at = :deleted_at, change_seq = :change_seq,
  version = version + 1, version_at = greatest(version_at, :now), version_tool = :tool,
  version_origin = :version_origin, confirmed_origin = null
where id = :id

-- name: rename
update capsules set
  workspace_raw = :workspace_raw, workspace_norm = :workspace_norm, name_raw = :name_raw, name_norm = :name_norm,
  title = :title, updated_at = greatest(updated_at, :now), change_seq = :change_seq,
  version = version + 1, version_at = greatest(version_at, :now), version_tool = :tool,
  version_origin = :origin, confirmed_origin = coalesce(confirmed_origin, version_origin)
where id = :id

-- name: restore_over
-- A capsule as an import restores it, over the one that has its id, if there is one, as its next version.
insert into capsules (
  id, workspace_raw, workspace_norm, name_raw, name_norm, title, capsule_text, capsule_chars, tokens_estimate,
  tags_json, source, run_id, phase, role, created_at, updated_at, deleted_at, change_seq, version, version_at,
  version_tool, version_origin
) values (
  :id, :workspace_raw, :workspace_norm, :name_raw, :name_norm, :title, :capsule_text, :capsule_chars, :tokens_estimate,
  :tags_json, :source, :run_id, :phase, :role, :created_at, :updated_at, :deleted_at, :change_seq, :version,
  :version_at, :version_tool, :version_origin
) on conflict (id) do update set
  workspace_raw = excluded.workspace_raw, workspace_norm = excluded.workspace_norm, name_raw = excluded.name_raw,
  name_norm = excluded.name_norm, title = excluded.title, capsule_text = excluded.capsule_text,
  capsule_chars = excluded.capsule_chars, tokens_estimate = excluded.tokens_estimate, tags_json = excluded.tags_json,
  source = excluded.source, run_id = excluded.run_id, phase = excluded.phase, role = excluded.role,
  created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at,
  change_seq = excluded.change_seq, version = capsules.version + 1,
  version_at = greatest(capsules.version_at, excluded.version_at), version_tool = excluded.version_tool,
  version_origin = excluded.version_origin, confirmed_origin = null

-- name: confirm
-- Sets the commit at which the text of a capsule was confirmed; no version of it changes.
update capsules set confirmed_origin = :origin where id = :id

-- name: soft_delete
update capsules set deleted_at = :now, updated_at = greatest(updated_at, :now), change_seq = :change_seq where id = :id

-- name: restore
update capsules set deleted_at = null, updated_at = greatest(updated_at, :now), change_seq = :change_seq where id = :id
