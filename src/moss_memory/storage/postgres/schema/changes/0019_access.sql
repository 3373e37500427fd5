-- additive: no
-- The named tokens of a server. Only a hash of each is stored. They belong to this database and are in no export or copy.
create table access_tokens (
  name       text collate "C" primary key,
  sha256     text collate "C" not null unique,
  read_only  bigint not null,
  created_at bigint not null,
  expires_at bigint,          -- null: never
  used_at    bigint           -- the hour of the last use
);

-- The key that signs the ids of sessions, so that every process of this database accepts them.
create table access_keys (
  purpose text collate "C" primary key,
  key     text collate "C" not null
);

-- Sessions that were used more than an hour after they began, or were ended by their client.
create table access_sessions (
  session text collate "C" primary key,    -- a hash of its id
  seen_at bigint not null,
  ended   bigint not null
);

-- The number up to which no event is added any more. Only writers of this database count: they hold its advisory lock.
-- A writer takes its transaction id and the number of its event together, so a transaction that is older than every
-- writer has a smaller number. The steps have to run in this order: a writer that is not among the locks has
-- finished, or takes a number larger than `taken`. In a transaction with one snapshot for all statements the result may
-- be too large.
create function last_change() returns bigint language plpgsql volatile as $$
declare
  taken  bigint;
  oldest xid;
  found  bigint;
begin
  execute format('select case when is_called then last_value else last_value - 1 end from %s',
    pg_get_serial_sequence('events', 'seq')) into taken;
  select l.transactionid into oldest from pg_locks l
    where l.locktype = 'transactionid' and l.granted and l.mode = 'ExclusiveLock'
      and l.virtualtransaction in (
        select w.virtualtransaction from pg_locks w
        where w.locktype = 'advisory' and w.granted and w.classid = 1836020595 and w.objid = 0 and w.objsubid = 2
          and w.database = (select oid from pg_database where datname = current_database()))
    order by age(l.transactionid) desc limit 1;
  if oldest is null then
    select max(seq) into found from events where seq <= taken;
  else
    select e.seq into found from events e
    where e.seq <= taken and age(e.xmin) > age(oldest)
      and not exists (select 1 from events f where f.seq between e.seq - 1000 and e.seq - 1 and f.xmin = e.xmin)
    order by e.seq desc limit 1;
  end if;
  return coalesce(found, 0);
end $$;
