-- What PostgreSQL says in its own words.

-- name: reaches
-- Both parts of what is followed have to be compared in the same order.
with recursive reached (id) as (
  select cast(:start as text) collate "C"
  union
  select d.depends_on from reached join task_dependencies d
    on d.workspace_norm = :workspace and d.id = reached.id
)
select 1 from reached where id = :end limit 1
