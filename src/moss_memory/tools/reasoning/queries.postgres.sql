-- Statements in PostgreSQL's dialect.

-- name: take_numbers
-- A sequence, because an updated row would block the writers of all other workspaces until the commit.
select take_numbers(:series, :count)
