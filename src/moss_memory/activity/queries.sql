-- What changed, in the order of the changes.

-- name: last_change
-- The number up to which nothing is added any more.
select coalesce(max(seq), 0) from events

-- name: changes
select seq, workspace, tool, address, ts_ms from events where seq > :after and seq <= :last order by seq
