-- additive: no
-- The state of each file at the last sync of a folder, so that the next one sees which side changed.
create table sync_files (
  place      text collate "C" not null, -- machine and path of the folder
  marker     text collate "C" not null, -- the id in the folder: another clone at the same path is another folder
  family     text collate "C" not null, -- capsule, artifact, record, work
  subject    text collate "C" not null, -- the id of the row; of reasoning and tasks their workspace
  file       text collate "C" not null,
  known_as   text collate "C" not null, -- the id in the file
  hash       text collate "C" not null, -- of the file; empty if it was removed
  pending    text collate "C",          -- of the file that an unfinished sync writes; empty if it removes it
  row_hash   text collate "C" not null, -- of the file that the row would give
  change_seq bigint not null,           -- of the row
  primary key (place, family, subject, file)
);
