-- name: capsule_of_name
-- The source and text of the capsule with a name, else of the last deleted one with that name and source.
select source, capsule_text from capsules where workspace_norm = :workspace and name_norm = :name and deleted_at is null
union all
select source, capsule_text from (
  select source, capsule_text from capsules where workspace_norm = :workspace and name_norm = :name and deleted_at is not null
    and source = :source
  order by deleted_at desc limit 1
) as deleted
limit 1;

-- name: date_capsule
-- Give a capsule the times of its source.
update capsules set created_at = :created, updated_at = :updated, version_at = :updated where id = :id;

-- name: main_branch
-- The branch to which items are imported, if it exists.
select branch_id from branches where workspace_norm = :workspace and name = 'main' limit 1;

-- name: last_version
-- The last version of a node or edge, deleted or not.
select meta_json, text from graph_versions where branch_id = :branch and doc = :doc and key = :key
order by seq desc limit 1;

-- name: note_metas
-- The meta of every note in a document.
select meta_json from doc_entries where branch_id = :branch and doc = :doc and meta_json is not null order by seq;

-- name: tagged_tasks
-- Every plan and task with tags.
select id, title, tags_json from tasks where workspace_norm = :workspace and tags_json is not null order by row_id;
