-- Answers that are kept, so that a call which is sent again is not carried out again.

-- name: forget_expired
delete from remembered where (workspace_norm, tool, call_key) in (
  select workspace_norm, tool, call_key from remembered where at_ms <= :before
  order by at_ms, workspace_norm, tool, call_key limit :most)

-- name: claim
-- Changes a row only where the key is free, or was used so long ago that nobody asks for it.
insert into remembered (workspace_norm, tool, call_key, at_ms, arguments)
select cast(:workspace as text), cast(:tool as text), cast(:key as text), cast(:now_ms as bigint),
  cast(:arguments as text)
where not exists (
  select 1 from remembered
  where workspace_norm = :workspace and tool = :tool and call_key = :plain and at_ms > :before)
on conflict (workspace_norm, tool, call_key) do update
set at_ms = excluded.at_ms, arguments = excluded.arguments, answer = null
where remembered.at_ms <= :before

-- name: remembered
select arguments, answer from remembered where workspace_norm = :workspace and tool = :tool and call_key in (:key, :plain)

-- name: remember
insert into remembered (workspace_norm, tool, call_key, at_ms, arguments, answer)
values (:workspace, :tool, :key, :now_ms, :arguments, :answer)
on conflict (workspace_norm, tool, call_key) do update set arguments = excluded.arguments, answer = excluded.answer

-- name: correct
update remembered set answer = :answer
where workspace_norm = :workspace and tool = :tool and call_key = :key and answer is not null

-- name: forget_answers
-- Those without an answer belong to calls that are being carried out.
update remembered set arguments = null, answer = null where answer is not null
