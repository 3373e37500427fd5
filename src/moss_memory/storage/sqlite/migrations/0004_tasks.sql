-- Plans, tasks and their steps; pins of cards.

alter table workspaces add column focus_id text;

create table task_numbers (
  workspace_norm text not null,
  kind           text not null,
  last           integer not null,
  primary key (workspace_norm, kind)
) without rowid;

create table tasks (
  row_id         integer primary key,
  workspace_norm text not null,
  id             text not null,
  kind           text not null,
  title          text not null,
  description    text,
  priority       text not null,
  tags_json      text,
  status         text not null,
  parent_id      text,
  contract_json  text,
  revision       integer not null,
  next_index     integer not null default 0, -- of a step at the top
  branch_id      integer not null,
  created_at_ms  integer not null,
  updated_at_ms  integer not null
);

create unique index tasks_by_id on tasks (workspace_norm, id);
create index tasks_by_parent on tasks (workspace_norm, parent_id, row_id) where parent_id is not null;
create index tasks_by_status on tasks (workspace_norm, status, row_id);

create table task_dependencies (
  workspace_norm text not null,
  id             text not null,
  depends_on     text not null,
  place          integer not null,
  primary key (workspace_norm, id, depends_on)
) without rowid;

create index task_dependents on task_dependencies (workspace_norm, depends_on);

create table steps (
  row_id                integer primary key,
  task_row              integer not null,
  workspace_norm        text not null,
  step_id               text not null,
  parent_step           text,
  path                  text not null,
  sort_key              text not null,  -- the path with padded numbers: orders steps as they read
  title                 text not null,
  success_criteria_json text,
  tests_json            text,
  blockers_json         text,
  done                  integer not null default 0,
  blocked               integer not null default 0,
  block_reason          text,
  checkpoints_json      text,
  next_index            integer not null default 0
);

create unique index steps_by_id on steps (workspace_norm, step_id);
create unique index steps_by_path on steps (task_row, path);
create index steps_in_order on steps (task_row, sort_key);
create index steps_open on steps (task_row, sort_key) where done = 0;

create table task_evidence (
  row_id   integer primary key,
  task_row integer not null,
  step_id  text,
  kind     text not null,
  content  text not null,
  ts_ms    integer not null
);

create index task_evidence_by_task on task_evidence (task_row, row_id);

create unique index task_events_by_id on events (event_id) where payload is not null;

-- Pins of cards are versioned like the graph; a pin is not part of a card.
create table card_pins (
  seq       integer primary key,
  branch_id integer not null,
  doc       text not null,
  card_id   text not null,
  pinned    integer not null,
  next_seq  integer not null default 9223372036854775807
);

create index card_pins_by_card on card_pins (branch_id, doc, card_id, seq);
