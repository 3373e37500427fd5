-- Stored answers of idempotent calls.

-- name: delete_expired_answers
delete from remembered where (workspace_norm, tool, call_key) in (
  select workspace_norm, tool, call_key from remembered where at_ms <= :before
  order by at_ms, workspace_norm, tool, call_key limit :most)

-- name: claim
-- Changes a row only if the key is unclaimed or its answer has expired.
insert into remembered (workspace_norm, tool, call_key, at_ms, arguments)
select cast(:workspace as text), cast(:tool as text), cast(:key as text), cast(:now_ms as bigint),
  cast(:arguments as text)
where not exists (
  select 1 from remembered
  where workspace_norm = :workspace and tool = :tool and call_key = :plain and at_ms > :before)
on conflict (workspace_norm, tool, call_key) do update
set at_ms = excluded.at_ms, arguments = excluded.arguments, answer = null
where remembered.at_ms <= :before

-- name: stored_answer
select arguments, answer from remembered where workspace_norm = :workspace and tool = :tool and call_key in (:key, :plain)

-- name: store_answer
insert into remembered (workspace_norm, tool, call_key, at_ms, arguments, answer)
values (:workspace, :tool, :key, :now_ms, :arguments, :answer)
on conflict (workspace_norm, tool, call_key) do update set arguments = excluded.arguments, answer = excluded.answer

-- name: replace_answer
update remembered set answer = :answer
where workspace_norm = :workspace and tool = :tool and call_key = :key and answer is not null

-- name: empty_answers
-- Rows without an answer belong to calls that still run.
update remembered set arguments = null, answer = null where answer is not null
