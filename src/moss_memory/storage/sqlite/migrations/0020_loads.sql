-- How often each actor loaded the text of a capsule, and when last. Processes count in memory and write in batches.
create table capsule_loads (
  capsule text not null,    -- its id
  actor   text not null,
  loads   integer not null,
  last_at integer not null, -- seconds
  primary key (capsule, actor)
) without rowid;

create trigger capsule_loads_end after delete on capsules begin
  delete from capsule_loads where capsule = old.id;
end;
