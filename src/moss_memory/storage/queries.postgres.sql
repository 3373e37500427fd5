-- What PostgreSQL says in its own words.

-- name: forget_expired
-- What another call is removing right now is left to it. They are chosen once: as a part of the condition they would be
-- chosen anew for each row where the server thinks that quicker, and more would go than were asked for.
with expired as materialized (
  select workspace_norm, tool, call_key from remembered where at_ms <= :before
  order by at_ms, workspace_norm, tool, call_key limit :most for update skip locked
)
delete from remembered using expired
where remembered.workspace_norm = expired.workspace_norm and remembered.tool = expired.tool
  and remembered.call_key = expired.call_key

-- name: remembered
-- It is written again as it is: so the answer is given only when it is known to be as safe as a commit makes it.
update remembered set at_ms = at_ms
where workspace_norm = :workspace and tool = :tool and call_key in (:key, :plain)
returning arguments, answer
