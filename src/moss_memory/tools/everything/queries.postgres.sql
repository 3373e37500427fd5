-- What PostgreSQL says in its own words.

-- name: last_change
-- Writers of several workspaces commit in any order. Where none is at work, the largest number is the last. Else it is
-- the newest first change of a transaction that is older than all that are at work: these have larger numbers, because
-- a transaction has its own number and that of its first change together.
select case when pg_snapshot_xmin(pg_current_snapshot()) = pg_snapshot_xmax(pg_current_snapshot())
  then (select coalesce(max(seq), 0) from events)
  else coalesce((
    select e.seq from events e
    where age(e.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid)
      and not exists (select 1 from events f where f.seq between e.seq - 1000 and e.seq - 1 and f.xmin = e.xmin)
    order by e.seq desc limit 1), 0) end

-- What PostgreSQL says in its own words.

-- name: add_activity
-- What happened in all workspaces is added up when it is read; only what is counted can be changed.
insert into activity_counts as counted (workspace, day, tool, changes)
select :to, day, tool, changes from activity_counts where workspace = :was
on conflict (workspace, day, tool) do update set changes = counted.changes + excluded.changes

-- name: forget_activity
delete from activity_counts where workspace = :was
