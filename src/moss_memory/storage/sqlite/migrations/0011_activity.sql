-- How many changes each tool made on each day in UTC: in a workspace and, under the empty name, in all of them. Kept
-- beside the events, so that nine weeks are read in as many rows whether a thousand events lie in them or a million.
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

-- So that tasks are counted without looking at each: all of them without the few plans.
create index plans on tasks (workspace_norm) where kind = 'plan';
