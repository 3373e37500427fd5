-- Records: payloads with provenance, their entities, and the events of these.

create table entities (
  row_id            integer primary key,
  workspace_norm    text not null,
  workspace_raw     text not null,
  entity_id         text not null,
  type              text not null,
  snapshot_json     text not null,
  sources_json      text not null,   -- field -> the submission it came from
  observation_count integer not null,
  last_observed_us  integer not null, -- the observation that the snapshot ends with
  last_content_id   text not null,
  last_submission   text not null
);

create unique index entities_by_id on entities (workspace_norm, entity_id);
create index entities_by_type on entities (type, row_id);
create index entities_by_workspace on entities (workspace_norm, type, row_id);

create table records (
  row_id         integer primary key,
  workspace_norm text not null,
  workspace_raw  text not null,
  payload_id     text not null unique,
  content_id     text not null,
  capability_id  text not null,
  type           text not null,
  entity_row     integer not null,
  body_json      text not null,
  sets_json      text not null,    -- the fields that are sets, as the capability said then
  title          text,
  search_text    text,
  created_at_ms  integer not null,
  updated_at_ms  integer not null,
  search_filter  text generated always as (
    char(57344) || 'trecord ' || char(57344) || 'w' || hex(workspace_norm) || ' ' || char(57344) || 'live') virtual
);

create unique index records_by_content on records (workspace_norm, content_id);
create index records_by_type on records (type, row_id);
create index records_by_workspace on records (workspace_norm, type, row_id);

-- Scalars and items of arrays as canonical JSON, long ones as a hash: property filters look them up.
create table record_properties (
  name   text not null,
  value  text not null,
  row_id integer not null,
  primary key (name, value, row_id)
) without rowid;

create table observations (
  row_id            integer primary key,
  workspace_norm    text not null,
  entity_row        integer not null,
  record_row        integer not null,
  submission_id     text not null unique,
  observed_us       integer not null,
  content_id        text not null,
  agent_id          text,
  source_refs_json  text,
  extractor_version text,
  client_request_id text,
  answer_json       text,   -- what a repeated request is told again
  arrived_at_ms     integer not null
);

create index observations_in_order on observations (entity_row, observed_us, content_id, submission_id);
create unique index observations_by_request on observations (workspace_norm, client_request_id)
  where client_request_id is not null;

create table timeline_events (
  row_id         integer primary key,
  workspace_norm text not null,
  workspace_raw  text not null,
  event_id       text not null,
  event_type     text not null,
  at_us          integer not null,
  entity_row     integer not null,
  record_row     integer not null
);

create unique index timeline_events_by_id on timeline_events (workspace_norm, event_id);
create index timeline_events_in_order on timeline_events (at_us, row_id);
create index timeline_events_by_workspace on timeline_events (workspace_norm, at_us, row_id);
create index timeline_events_by_type on timeline_events (event_type, at_us, row_id);
create index timeline_events_by_entity on timeline_events (entity_row, at_us, row_id);
create index timeline_events_by_record on timeline_events (record_row, at_us, row_id);

-- Records join the search index with the code 4.
create view record_rows as
  select row_id, workspace_norm, type, payload_id, title, search_text, search_filter,
    updated_at_ms / 1000 as updated_at, row_id as change_seq, null as deleted_at
  from records;

drop view search_source;
create view search_source as
  select row_id * 16 as doc, search_title as title, capsule_text as body, search_filter as filter from capsules
  union all
  select row_id * 16 + 1, name_raw, text, search_filter from artifacts
  union all
  select row_id * 16 + 2, title, content, search_filter from note_rows
  union all
  select row_id * 16 + 3, search_title, text, search_filter from node_rows
  union all
  select row_id * 16 + 4, title, search_text, search_filter from record_rows;

create trigger records_indexed after insert on records begin
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16 + 4, new.title, new.search_text, new.search_filter);
end;

create trigger records_unindexed after delete on records begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16 + 4, old.title, old.search_text, old.search_filter);
end;
