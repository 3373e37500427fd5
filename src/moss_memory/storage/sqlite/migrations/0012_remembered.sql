-- The answers of calls with an idempotency key, for a day. One without arguments was emptied, because it may contain
-- purged text.
create table remembered (
  workspace_norm text not null, -- empty where the call named none
  tool           text not null,
  call_key       text not null,
  at_ms          integer not null,
  arguments      text,          -- their hash
  answer         text,
  primary key (workspace_norm, tool, call_key)
) without rowid;

create index remembered_by_age on remembered (at_ms);
