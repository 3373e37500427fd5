-- What PostgreSQL says in its own words.

-- name: take_numbers
-- A row that is changed would keep the writers of all other workspaces waiting until the commit.
select take_numbers(:series, :count)
