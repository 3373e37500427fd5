-- The earlier versions of capsules and artifacts, in one table for both.

alter table capsules add column version integer not null default 1;
alter table capsules add column version_at integer not null default 0;
alter table capsules add column version_tool text not null default 'capsule_store';
alter table artifacts add column version_at integer not null default 0;
alter table artifacts add column version_tool text not null default 'artifact_store';
update capsules set version_at = updated_at;
update artifacts set version_at = updated_at;

create table versions (
  row_id        integer primary key,
  family        text not null,     -- capsule, artifact
  subject       integer not null,  -- the row_id of what it is a version of
  version       integer not null,
  at            integer not null,  -- when it was written, by which tool, and when the next one took its place
  tool          text not null,
  superseded_at integer not null,
  workspace_raw text not null,     -- its names at that time
  name_raw      text,
  chars         integer not null,
  erased        integer not null default 0,
  title         text,
  source        text,
  kind          text,
  data_json     text,
  text          text,
  tags_json     text,
  run_id        text,
  phase         text,
  role          text
);

create unique index versions_by_subject on versions (family, subject, version);

create trigger capsules_versions_gone after delete on capsules begin
  delete from versions where family = 'capsule' and subject = old.row_id;
end;

create trigger artifacts_versions_gone after delete on artifacts begin
  delete from versions where family = 'artifact' and subject = old.row_id;
end;

-- A purge in a large store runs in slices, between which others write: its process, and the end of its lease.
alter table erasures add column worker integer not null default 0;
alter table erasures add column until_ms integer not null default 0;
