-- Statements in PostgreSQL's dialect.

-- name: reaches
-- Both parts of a recursive query need the same collation.
with recursive reached (id) as (
  select cast(:start as text) collate "C"
  union
  select d.depends_on from reached join task_dependencies d
    on d.workspace_norm = :workspace and d.id = reached.id
)
select 1 from reached where id = :end limit 1

-- name: waits
-- A recursive query may reference itself only once.
with recursive waiting (id, parent_id) as (
  select id, parent_id from tasks where workspace_norm = :workspace and id = :start
  union
  select n.id, n.parent_id from waiting cross join lateral (
    select t.id, t.parent_id from task_dependencies d join tasks t on t.workspace_norm = :workspace and t.id = d.depends_on
    where d.workspace_norm = :workspace and d.id = waiting.id and d.depends_on <> coalesce(waiting.parent_id, '')
    union all
    select t.id, t.parent_id from tasks t where t.workspace_norm = :workspace and t.parent_id = waiting.id
  ) n
)
select 1 from waiting where id = :end limit 1
