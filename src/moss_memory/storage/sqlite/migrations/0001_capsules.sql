-- Capsules, the log of mutations, and the one search index of all families.

create table capsules (
  row_id          integer primary key,
  id              text not null unique,
  workspace_raw   text not null,
  workspace_norm  text not null,
  name_raw        text,
  name_norm       text,
  title           text,
  capsule_text    text not null,
  capsule_chars   integer not null,
  tokens_estimate integer not null,
  tags_json       text,
  source          text,
  run_id          text,
  phase           text,
  role            text,
  created_at      integer not null,
  updated_at      integer not null,
  deleted_at      integer,
  change_seq      integer not null,
  -- What the search index sees beside the text. The filter carries family, workspace and state as tokens behind
  -- a private-use character, so that filters are postings; user text cannot reach that column.
  search_title    text generated always as (
    case when title is null then name_raw
      when name_raw is null or title = name_raw then title
      else title || ' ' || name_raw end) virtual,
  search_filter   text generated always as (
    char(57344) || 'tcapsule ' || char(57344) || 'w' || hex(workspace_norm) || ' '
      || char(57344) || iif(deleted_at is null, 'live', 'gone')) virtual
);

create unique index capsules_by_name on capsules (workspace_norm, name_norm)
  where name_norm is not null and deleted_at is null;
create index capsules_by_workspace on capsules (workspace_norm, updated_at desc, change_seq desc)
  where deleted_at is null;
create index capsules_by_change on capsules (updated_at desc, change_seq desc)
  where deleted_at is null;
create index capsules_by_run on capsules (run_id, phase, role)
  where run_id is not null and deleted_at is null;
create index capsules_deleted on capsules (workspace_norm, name_norm, deleted_at desc, change_seq desc)
  where deleted_at is not null;

create table events (
  seq       integer primary key,
  event_id  text not null,
  workspace text,
  tool      text not null,
  address   text,
  ts_ms     integer not null,
  payload   text
);

-- Purges whose bytes may still be on disk: the file must be rebuilt, then the write-ahead log emptied. A reader can
-- delay this.
create table erasures (
  seq     integer primary key,
  rebuilt integer not null default 0
);

-- One row a document. doc = row_id * 16 + the family's code (capsules: 0).
create view search_source as
  select row_id * 16 as doc, search_title as title, capsule_text as body, search_filter as filter from capsules;

create virtual table search_index using fts5 (
  title, body, filter,
  content = 'search_source', content_rowid = 'doc',
  tokenize = 'unicode61 remove_diacritics 2'
);

create virtual table search_terms using fts5vocab (search_index, row);

create trigger capsules_indexed after insert on capsules begin
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16, new.search_title, new.capsule_text, new.search_filter);
end;

create trigger capsules_reindexed
after update of title, name_raw, capsule_text, workspace_norm, deleted_at on capsules begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16, old.search_title, old.capsule_text, old.search_filter);
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16, new.search_title, new.capsule_text, new.search_filter);
end;

create trigger capsules_unindexed after delete on capsules begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16, old.search_title, old.capsule_text, old.search_filter);
end;
