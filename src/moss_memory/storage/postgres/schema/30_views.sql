-- The searchable rows of every family in the same columns.

create view note_rows as
  select seq as row_id, workspace_norm, title, content,
    ts_ms / 1000 as updated_at, seq as change_seq, cast(null as bigint) as deleted_at
  from doc_entries where written_as in ('note', 'step') and hidden = 0;

create view node_rows as
  select seq as row_id, workspace_norm, search_title, text,
    ts_ms / 1000 as updated_at, seq as change_seq, cast(null as bigint) as deleted_at
  from graph_versions where type is not null and deleted = 0 and next_seq = 9223372036854775807;

create view record_rows as
  select row_id, workspace_norm, type, payload_id, title, search_text, updated_at, change_seq, deleted_at from records;

-- One row for each document. doc = row_id * 16 + the family's code. Deleted rows are indexed too; `live` marks the others.
create view search_source as
  select row_id * 16 as doc, search_title as title, capsule_text as body, workspace_norm as workspace,
    deleted_at is null as live from capsules
  union all
  select row_id * 16 + 1, name_raw, text, workspace_norm, deleted_at is null from artifacts
  union all
  select row_id * 16 + 2, title, content, workspace_norm, true from note_rows
  union all
  select row_id * 16 + 3, search_title, text, workspace_norm, true from node_rows
  union all
  select row_id * 16 + 4, title, search_text, workspace_norm, true from records;

-- The texts that can be searched by meaning, with the time of their last change.
create view embeddable as
  select row_id * 16 as doc, updated_at, change_seq from capsules where deleted_at is null
  union all
  select row_id * 16 + 1, updated_at, change_seq from artifacts
    where deleted_at is null and coalesce(text, name_raw) is not null
  union all
  select row_id * 16 + 2, updated_at, change_seq from note_rows
  union all
  select row_id * 16 + 3, updated_at, change_seq from node_rows
  union all
  select row_id * 16 + 4, updated_at, change_seq from records;
