-- additive: no
-- Who made a change, and at which commit of which repository. A row has a hash of its content as its key, so that it is
-- the same in every store, and an event is only a few bytes longer. Rows that were written before have none.
create table origins (
  origin_id     text collate "C" primary key,
  actor         text collate "C" not null,
  repository    text collate "C",           -- the folder name of the main work tree
  repository_id text collate "C",
  branch        text collate "C",
  commit_id     text collate "C"
);

alter table events add column origin text collate "C";
alter table capsules add column version_origin text collate "C";
-- The origin of the last check that the text matches the code.
alter table capsules add column confirmed_origin text collate "C";
alter table artifacts add column version_origin text collate "C";
alter table versions add column origin text collate "C";
alter table doc_entries add column origin text collate "C";
alter table graph_versions add column origin text collate "C";

-- The repositories from which a workspace was written.
create table workspace_repositories (
  workspace     text collate "C" not null,
  repository_id text collate "C" not null, -- empty if it is unknown
  repository    text collate "C" not null,
  primary key (workspace, repository_id, repository)
);

create index graph_conflicts_open on graph_conflicts (workspace_norm, seq) where resolution is null;
