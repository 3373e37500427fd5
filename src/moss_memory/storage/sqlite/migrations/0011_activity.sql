-- The number of changes of each tool on each day in UTC, by workspace; the empty name has the sums of all workspaces.
-- The number of rows does not depend on the number of events, so a report of nine weeks is always fast.
create table activity (
  workspace text not null,
  day       integer not null,
  tool      text not null,
  changes   integer not null,
  primary key (workspace, day, tool)
) without rowid;

insert into activity (workspace, day, tool, changes)
  select '', ts_ms / 86400000, tool, count(*) from events group by ts_ms / 86400000, tool;
insert into activity (workspace, day, tool, changes)
  select workspace, ts_ms / 86400000, tool, count(*) from events
  where workspace <> '' group by workspace, ts_ms / 86400000, tool;

create trigger events_counted after insert on events begin
  insert into activity (workspace, day, tool, changes) values ('', new.ts_ms / 86400000, new.tool, 1)
    on conflict (workspace, day, tool) do update set changes = changes + 1;
  insert into activity (workspace, day, tool, changes)
    select new.workspace, new.ts_ms / 86400000, new.tool, 1 where new.workspace <> ''
    on conflict (workspace, day, tool) do update set changes = changes + 1;
end;

-- Tasks are counted by this index alone: all rows but the few plans.
create index plans on tasks (workspace_norm) where kind = 'plan';
