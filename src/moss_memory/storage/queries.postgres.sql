-- What PostgreSQL says in its own words.

-- name: forget_expired
-- What another call is removing right now is left to it.
delete from remembered where (workspace_norm, tool, call_key) in (
  select workspace_norm, tool, call_key from remembered where at_ms <= :before
  order by at_ms, workspace_norm, tool, call_key limit :most for update skip locked)

-- name: remembered
-- It is written again as it is: so the answer is given only when it is known to be as safe as a commit makes it.
update remembered set at_ms = at_ms
where workspace_norm = :workspace and tool = :tool and call_key = :key
returning arguments, answer
