-- Artifacts: typed state for orchestration code, with versions and a time to live.

create table artifacts (
  row_id         integer primary key,
  id             text not null unique,
  workspace_raw  text not null,
  workspace_norm text not null,
  name_raw       text,
  name_norm      text,
  kind           text not null,
  data_json      text not null,
  text           text,
  data_chars     integer not null,
  text_chars     integer,
  run_id         text,
  phase          text,
  role           text,
  tags_json      text,
  version        integer not null,
  ttl_seconds    integer,
  expires_at     integer,
  created_at     integer not null,
  updated_at     integer not null,
  deleted_at     integer,
  change_seq     integer not null,
  search_filter  text generated always as (
    char(57344) || 'tartifact ' || char(57344) || 'w' || hex(workspace_norm) || ' '
      || char(57344) || iif(deleted_at is null, 'live', 'gone')) virtual
);

create unique index artifacts_by_name on artifacts (workspace_norm, name_norm)
  where name_norm is not null and deleted_at is null;
create index artifacts_by_run on artifacts (run_id, updated_at desc, change_seq desc)
  where run_id is not null and deleted_at is null;
create index artifacts_by_kind on artifacts (workspace_norm, kind, updated_at desc, change_seq desc)
  where deleted_at is null;
create index artifacts_by_change on artifacts (updated_at desc, change_seq desc)
  where deleted_at is null;
create index artifacts_by_creation on artifacts (created_at desc, row_id desc)
  where deleted_at is null;
create index artifacts_by_expiry on artifacts (expires_at)
  where expires_at is not null and deleted_at is null;
create index artifacts_deleted on artifacts (workspace_norm, name_norm, deleted_at desc, change_seq desc)
  where deleted_at is not null;

-- When a housekeeping task was last done, by any process.
create table upkeep (
  task    text primary key,
  done_at integer not null
) without rowid;

-- Artifacts join the search index with the family code 1; every row is indexed, also those without text.
drop view search_source;
create view search_source as
  select row_id * 16 as doc, search_title as title, capsule_text as body, search_filter as filter from capsules
  union all
  select row_id * 16 + 1, name_raw, text, search_filter from artifacts;

create trigger artifacts_indexed after insert on artifacts begin
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16 + 1, new.name_raw, new.text, new.search_filter);
end;

create trigger artifacts_reindexed
after update of name_raw, text, workspace_norm, deleted_at on artifacts begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16 + 1, old.name_raw, old.text, old.search_filter);
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16 + 1, new.name_raw, new.text, new.search_filter);
end;

create trigger artifacts_unindexed after delete on artifacts begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16 + 1, old.name_raw, old.text, old.search_filter);
end;
