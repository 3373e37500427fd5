-- Statements whose text differs on PostgreSQL.

-- name: delete_expired_answers
-- Rows that another call is deleting are skipped. The rows are selected in a materialized expression: the planner may
-- run a subquery once per row, and then more than `most` rows would be deleted.
with expired as materialized (
  select workspace_norm, tool, call_key from remembered where at_ms <= :before
  order by at_ms, workspace_norm, tool, call_key limit :most for update skip locked
)
delete from remembered using expired
where remembered.workspace_norm = expired.workspace_norm and remembered.tool = expired.tool
  and remembered.call_key = expired.call_key

-- name: stored_answer
-- The row is rewritten unchanged, so that the answer is returned only after a commit that is as durable as the first.
update remembered set at_ms = at_ms
where workspace_norm = :workspace and tool = :tool and call_key in (:key, :plain)
returning arguments, answer
