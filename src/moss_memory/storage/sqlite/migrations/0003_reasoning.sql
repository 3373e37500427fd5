-- Reasoning: branches, append-only documents, a versioned graph, merges and conflicts.

-- The last number of each series. Writers wait for each other, so numbers rise in the order of commits; the number of a
-- deleted row is never reused.
create table numbers (
  series text primary key,
  last   integer not null
) without rowid;

insert into numbers (series, last) values ('seq', 0), ('branch', 0);

create table workspaces (
  workspace_norm text primary key,
  workspace_raw  text not null,
  checkout_id    integer
) without rowid;

-- A branch keeps its id when it is renamed; its base is a snapshot of another one at base_seq.
create table branches (
  branch_id      integer primary key,
  workspace_norm text not null,
  name           text not null,
  base_id        integer,
  base_seq       integer,
  depth          integer not null,
  canonical      integer not null default 0
);

create unique index branches_by_name on branches (workspace_norm, name);
create index branches_by_base on branches (base_id) where base_id is not null;

-- The documents that a branch has written itself: 'log' for entries, 'graph' for versions.
create table documents (
  branch_id integer not null,
  shape     text not null,
  doc       text not null,
  first_seq integer not null,
  last_seq  integer,
  reset_seq integer,
  primary key (branch_id, shape, doc)
) without rowid;

create table doc_entries (
  seq             integer primary key,
  branch_id       integer not null,
  workspace_norm  text not null,
  doc             text not null,
  written_as      text not null,              -- note, step, card or event
  title           text,
  format          text,
  meta_json       text,
  content         text not null,
  source_event_id text,
  card_id         text,
  ts_ms           integer not null,
  hidden          integer not null default 0, -- 1 when resets left no branch that shows it
  search_filter   text generated always as (
    char(57344) || 'tnote ' || char(57344) || 'w' || hex(workspace_norm) || ' ' || char(57344) || 'live') virtual
);

create index doc_entries_by_document on doc_entries (branch_id, doc, seq);
create unique index doc_entries_by_event on doc_entries (branch_id, doc, source_event_id)
  where written_as = 'event';
create index doc_entries_by_origin on doc_entries (branch_id, doc, source_event_id)
  where source_event_id is not null and written_as <> 'event';

create index doc_entries_by_card on doc_entries (branch_id, doc, card_id) where card_id is not null;

-- Resets of the head of `notes`. A branch shows the entries of reach_json, ranges of seq by branch, and its own entries
-- after own_after: the number of the reset, or an earlier one if no entry in between is hidden.
create table resets (
  seq        integer primary key,
  branch_id  integer not null,
  old_seq    integer,
  new_seq    integer not null,
  message    text not null,
  reach_json text not null,
  own_after  integer not null,
  ts_ms      integer not null
);

create index resets_by_branch on resets (branch_id, seq);

create table tags (
  workspace_norm text not null,
  name           text not null,
  branch_id      integer not null,
  doc            text not null,
  seq            integer not null,
  created_at_ms  integer not null,
  primary key (workspace_norm, name)
) without rowid;

create index tags_by_branch on tags (branch_id);

-- Nodes (with a type) and edges (with from, rel and to), one row for each version. The key of a node is its id, of an
-- edge `from|rel|to`. A version is valid from seq until next_seq; equal versions have the same state.
create table graph_versions (
  seq            integer primary key,
  branch_id      integer not null,
  workspace_norm text not null,
  doc            text not null,
  key            text not null,
  type           text,
  title          text,
  text           text,
  status         text,
  tags_json      text,
  from_id        text,
  rel            text,
  to_id          text,
  meta_json      text,
  deleted        integer not null,
  state          text not null,
  ts_ms          integer not null,
  next_seq       integer not null default 9223372036854775807,
  search_title   text generated always as (coalesce(title, key)) virtual,
  search_filter  text generated always as (
    char(57344) || 'tnode ' || char(57344) || 'w' || hex(workspace_norm) || ' ' || char(57344) || 'live') virtual
);

create index graph_versions_by_key on graph_versions (branch_id, doc, key, seq, next_seq);
create index graph_nodes_by_seq on graph_versions (branch_id, doc, seq, next_seq, deleted)
  where type is not null;
create index graph_nodes_by_type on graph_versions (branch_id, doc, type, seq, next_seq, deleted, status)
  where type is not null;
create index graph_nodes_by_status on graph_versions (branch_id, doc, status, seq, next_seq, deleted)
  where status is not null;
-- The current versions of a branch: an index of statuses would lead to many old versions.
create index graph_nodes_by_present_status on graph_versions (branch_id, doc, status, seq)
  where status is not null and next_seq = 9223372036854775807;
create index graph_edges_by_from on graph_versions (branch_id, doc, from_id, seq, next_seq, deleted)
  where from_id is not null;
create index graph_edges_by_to on graph_versions (branch_id, doc, to_id, seq, next_seq, deleted)
  where to_id is not null;

create table graph_tags (
  branch_id integer not null,
  doc       text not null,
  tag       text not null,
  seq       integer not null,
  primary key (branch_id, doc, tag, seq)
) without rowid;

-- The version of a derived branch's key that was last merged into its base, or refused.
create table graph_merges (
  from_id  integer not null,
  doc      text not null,
  key      text not null,
  from_seq integer not null,
  primary key (from_id, doc, key)
) without rowid;

create table graph_conflicts (
  seq            integer primary key,
  conflict_id    text not null unique,
  workspace_norm text not null,
  from_id        integer not null,
  into_id        integer not null,
  doc            text not null,
  key            text not null,
  from_seq       integer not null,
  base_json      text,
  theirs_json    text not null,
  ours_json      text,
  resolution     text,
  created_at_ms  integer not null,
  resolved_at_ms integer
);

create index graph_conflicts_by_into on graph_conflicts (into_id, doc, seq);
create index graph_conflicts_by_key on graph_conflicts (from_id, doc, key);

-- Task events are the ones with a payload.
create index events_of_tasks on events (workspace, seq) where payload is not null;

-- Notes and the present versions of nodes join the search index with the codes 2 and 3.
create view note_rows as
  select seq as row_id, workspace_norm, title, content, search_filter,
    ts_ms / 1000 as updated_at, seq as change_seq, null as deleted_at
  from doc_entries where written_as in ('note', 'step') and hidden = 0;
create view node_rows as
  select seq as row_id, workspace_norm, search_title, text, search_filter,
    ts_ms / 1000 as updated_at, seq as change_seq, null as deleted_at
  from graph_versions where type is not null and deleted = 0 and next_seq = 9223372036854775807;

drop view search_source;
create view search_source as
  select row_id * 16 as doc, search_title as title, capsule_text as body, search_filter as filter from capsules
  union all
  select row_id * 16 + 1, name_raw, text, search_filter from artifacts
  union all
  select row_id * 16 + 2, title, content, search_filter from note_rows
  union all
  select row_id * 16 + 3, search_title, text, search_filter from node_rows;

create trigger notes_indexed after insert on doc_entries
when new.written_as in ('note', 'step') and new.hidden = 0 begin
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 2, new.title, new.content, new.search_filter);
end;

create trigger notes_hidden after update of hidden on doc_entries
when old.written_as in ('note', 'step') and old.hidden = 0 and new.hidden = 1 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 2, old.title, old.content, old.search_filter);
end;

create trigger notes_shown after update of hidden on doc_entries
when old.written_as in ('note', 'step') and old.hidden = 1 and new.hidden = 0 begin
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 2, new.title, new.content, new.search_filter);
end;

create trigger notes_unindexed after delete on doc_entries
when old.written_as in ('note', 'step') and old.hidden = 0 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 2, old.title, old.content, old.search_filter);
end;

create trigger nodes_indexed after insert on graph_versions
when new.type is not null and new.deleted = 0 and new.next_seq = 9223372036854775807 begin
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 3, new.search_title, new.text, new.search_filter);
end;

create trigger nodes_superseded after update of next_seq on graph_versions
when old.type is not null and old.deleted = 0 and old.next_seq = 9223372036854775807
  and new.next_seq < 9223372036854775807 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 3, old.search_title, old.text, old.search_filter);
end;

create trigger nodes_unindexed after delete on graph_versions
when old.type is not null and old.deleted = 0 and old.next_seq = 9223372036854775807 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 3, old.search_title, old.text, old.search_filter);
end;
