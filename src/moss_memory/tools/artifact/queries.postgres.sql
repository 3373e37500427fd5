-- Statements in the dialect of PostgreSQL.

-- name: sweep
-- Only in workspaces without another writer; the advisory lock keeps others out until the commit.
update artifacts set
  deleted_at = :now, updated_at = greatest(updated_at, :now), change_seq = :change + expired.place
from (
  select row_id, row_number() over (order by expires_at, row_id) as place from (
    select row_id, expires_at, workspace_norm from artifacts
    where deleted_at is null and expires_at is not null and expires_at <= :now
    order by expires_at, row_id limit :most
  ) as due where pg_try_advisory_xact_lock(workspace_lock(workspace_norm))
) as expired
where artifacts.row_id = expired.row_id and artifacts.deleted_at is null and artifacts.expires_at <= :now
