-- A page of artifacts of a workspace is found without sorting all of them.
create index artifacts_by_workspace on artifacts (workspace_norm, updated_at desc, change_seq desc)
  where deleted_at is null;
