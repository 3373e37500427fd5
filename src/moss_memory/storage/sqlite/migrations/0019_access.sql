-- The named tokens of a server. Only a hash of each is stored. They belong to this database and are in no export or copy.
create table access_tokens (
  name       text primary key,
  sha256     text not null unique,
  read_only  integer not null,
  created_at integer not null,
  expires_at integer,          -- null: never
  used_at    integer           -- the hour of the last use
) without rowid;

-- The key that signs the ids of sessions, so that every process of this database accepts them.
create table access_keys (
  purpose text primary key,
  key     text not null
) without rowid;

-- Sessions that were used more than an hour after they began, or were ended by their client.
create table access_sessions (
  session text primary key,    -- a hash of its id
  seen_at integer not null,
  ended   integer not null
) without rowid;
