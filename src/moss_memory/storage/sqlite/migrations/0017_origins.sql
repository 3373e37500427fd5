-- Who made a change, and at which commit of which repository. A row has a hash of its content as its key, so that it is
-- the same in every store, and an event is only a few bytes longer. Rows that were written before have none.
create table origins (
  origin_id     text primary key,
  actor         text not null,
  repository    text,           -- the folder name of the main work tree
  repository_id text,
  branch        text,
  commit_id     text
) without rowid;

alter table events add column origin text;
alter table capsules add column version_origin text;
alter table capsules add column confirmed_origin text; -- of the last check that the text matches the code
alter table artifacts add column version_origin text;
alter table versions add column origin text;
alter table doc_entries add column origin text;
alter table graph_versions add column origin text;

-- The repositories from which a workspace was written.
create table workspace_repositories (
  workspace     text not null,
  repository_id text not null, -- empty if it is unknown
  repository    text not null,
  primary key (workspace, repository_id, repository)
) without rowid;

create index graph_conflicts_open on graph_conflicts (workspace_norm, seq) where resolution is null;
