-- What calls with a key of their caller's were answered, for a day. Without arguments it was emptied, because something
-- was purged that the answer may have shown.
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
