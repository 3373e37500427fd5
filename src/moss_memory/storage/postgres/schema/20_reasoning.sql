-- Reasoning: branches, append-only documents, a versioned graph, merges and conflicts.

-- The last number of each series. Writers of one workspace wait for each other, so within a workspace numbers rise in
-- the order of commits; writers of other workspaces do not wait. The number of a deleted row is never reused; that of a
-- failed call is, unless another call has taken a later one.
create sequence seq_numbers minvalue 0 start with 0;
create sequence branch_numbers minvalue 0 start with 0;
select setval('seq_numbers', 0), setval('branch_numbers', 0);

create view numbers as
  select 'seq' collate "C" as series, last_value as last from seq_numbers
  union all
  select 'branch' collate "C", last_value from branch_numbers;

create function set_numbers() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform setval((old.series || '_numbers')::regclass, 0);
    return old;
  end if;
  perform setval((new.series || '_numbers')::regclass, new.last);
  return new;
end $$;

create trigger numbers_set instead of insert or update or delete on numbers
  for each row execute function set_numbers();

-- Reserve a range of consecutive numbers and return the last. The lock is released at once, not at the commit.
create function take_numbers(taken_from text, so_many bigint) returns bigint language plpgsql as $$
declare
  counter text := taken_from || '_numbers';
  taken bigint;
begin
  perform pg_advisory_lock(1836020595, 1);
  begin
    execute format('select setval(%L, last_value + %s) from %I', counter, so_many, counter) into taken;
  exception when query_canceled or others then
    perform pg_advisory_unlock(1836020595, 1);
    raise;
  end;
  perform pg_advisory_unlock(1836020595, 1);
  return taken;
end $$;

create table workspaces (
  workspace_norm text collate "C" primary key,
  workspace_raw  text collate "C" not null,
  checkout_id    bigint,
  focus_id       text collate "C"
);

-- A branch keeps its id when it is renamed; its base is a snapshot of another one at base_seq.
create table branches (
  branch_id      bigint primary key,
  workspace_norm text collate "C" not null,
  name           text collate "C" not null,
  base_id        bigint,
  base_seq       bigint,
  depth          bigint not null,
  canonical      bigint not null default 0
);

create unique index branches_by_name on branches (workspace_norm, name);
create index branches_by_base on branches (base_id) where base_id is not null;

-- The documents that a branch has written itself: 'log' for entries, 'graph' for versions.
create table documents (
  branch_id bigint not null,
  shape     text collate "C" not null,
  doc       text collate "C" not null,
  first_seq bigint not null,
  last_seq  bigint,
  reset_seq bigint,
  primary key (branch_id, shape, doc)
);

create table doc_entries (
  seq             bigint primary key,
  branch_id       bigint not null,
  workspace_norm  text collate "C" not null,
  doc             text collate "C" not null,
  written_as      text collate "C" not null,              -- note, step, card or event
  title           text collate "C",
  format          text collate "C",
  meta_json       text collate "C",
  content         text collate "C" not null,
  source_event_id text collate "C",
  card_id         text collate "C",
  ts_ms           bigint not null,
  hidden          bigint not null default 0  -- 1 when resets left no branch that shows it
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
  seq        bigint primary key,
  branch_id  bigint not null,
  old_seq    bigint,
  new_seq    bigint not null,
  message    text collate "C" not null,
  reach_json text collate "C" not null,
  own_after  bigint not null,
  ts_ms      bigint not null
);

create index resets_by_branch on resets (branch_id, seq);

create table tags (
  workspace_norm text collate "C" not null,
  name           text collate "C" not null,
  branch_id      bigint not null,
  doc            text collate "C" not null,
  seq            bigint not null,
  created_at_ms  bigint not null,
  primary key (workspace_norm, name)
);

create index tags_by_branch on tags (branch_id);

-- Nodes (with a type) and edges (with from, rel and to), one row for each version. The key of a node is its id, of an
-- edge `from|rel|to`. A version is valid from seq until next_seq; equal versions have the same state.
create table graph_versions (
  seq            bigint primary key,
  branch_id      bigint not null,
  workspace_norm text collate "C" not null,
  doc            text collate "C" not null,
  key            text collate "C" not null,
  type           text collate "C",
  title          text collate "C",
  text           text collate "C",
  status         text collate "C",
  tags_json      text collate "C",
  from_id        text collate "C",
  rel            text collate "C",
  to_id          text collate "C",
  meta_json      text collate "C",
  deleted        bigint not null,
  state          text collate "C" not null,
  ts_ms          bigint not null,
  next_seq       bigint not null default 9223372036854775807,
  search_title   text collate "C" generated always as (coalesce(title, key)) stored
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
  branch_id bigint not null,
  doc       text collate "C" not null,
  tag       text collate "C" not null,
  seq       bigint not null,
  primary key (branch_id, doc, tag, seq)
);

-- The version of a derived branch's key that was last merged into its base, or refused.
create table graph_merges (
  from_id  bigint not null,
  doc      text collate "C" not null,
  key      text collate "C" not null,
  from_seq bigint not null,
  primary key (from_id, doc, key)
);

create table graph_conflicts (
  seq            bigint primary key,
  conflict_id    text collate "C" not null unique,
  workspace_norm text collate "C" not null,
  from_id        bigint not null,
  into_id        bigint not null,
  doc            text collate "C" not null,
  key            text collate "C" not null,
  from_seq       bigint not null,
  base_json      text collate "C",
  theirs_json    text collate "C" not null,
  ours_json      text collate "C",
  resolution     text collate "C",
  created_at_ms  bigint not null,
  resolved_at_ms bigint
);

create index graph_conflicts_by_into on graph_conflicts (into_id, doc, seq);
create index graph_conflicts_by_key on graph_conflicts (from_id, doc, key);
