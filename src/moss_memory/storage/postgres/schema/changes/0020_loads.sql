-- additive: no
-- How often each actor loaded the text of a capsule, and when last. Processes count in memory and write in batches.
create table capsule_loads (
  capsule text collate "C" not null, -- its id
  actor   text collate "C" not null,
  loads   bigint not null,
  last_at bigint not null,           -- seconds
  primary key (capsule, actor)
);

create function end_capsule_loads() returns trigger language plpgsql as $$
begin
  delete from capsule_loads where capsule = old.id;
  return null;
end $$;

create trigger capsule_loads_end after delete on capsules for each row execute function end_capsule_loads();
