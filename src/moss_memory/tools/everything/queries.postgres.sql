-- What PostgreSQL says in its own words.

-- name: last_change
select last_change()

-- What PostgreSQL says in its own words.

-- name: add_activity
-- What happened in all workspaces is added up when it is read; only what is counted can be changed.
insert into activity_counts as counted (workspace, day, tool, changes)
select :to, day, tool, changes from activity_counts where workspace = :was
on conflict (workspace, day, tool) do update set changes = counted.changes + excluded.changes

-- name: forget_activity
delete from activity_counts where workspace = :was
