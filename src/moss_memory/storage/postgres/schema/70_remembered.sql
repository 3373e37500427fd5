-- The answers of calls with an idempotency key, for a day. One without arguments was emptied, because it may contain
-- purged text.
create table remembered (
  workspace_norm text collate "C" not null, -- empty where the call named none
  tool           text collate "C" not null,
  call_key       text collate "C" not null,
  at_ms          bigint not null,
  arguments      text collate "C",          -- their hash
  answer         text collate "C",
  primary key (workspace_norm, tool, call_key)
);

create index remembered_by_age on remembered (at_ms);
