-- Statements in the dialect of PostgreSQL.

-- name: last_change
select last_change()

-- name: add_activity
-- `activity` is a view that adds up the workspaces; only `activity_counts` can be changed.
insert into activity_counts as counted (workspace, day, tool, changes)
select :to, day, tool, changes from activity_counts where workspace = :was
on conflict (workspace, day, tool) do update set changes = counted.changes + excluded.changes

-- name: delete_activity
delete from activity_counts where workspace = :was
