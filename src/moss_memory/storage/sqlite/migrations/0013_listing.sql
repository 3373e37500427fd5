-- Indexes for pages of capsules with one filter, so that no other capsules are read: tag, run, phase or role, in one
-- workspace or in all, newest change first; and the prefix of a name in all workspaces. Each index ends with
-- deleted_at, which is null in all its entries: otherwise SQLite would read every capsule to count them.

drop index capsules_by_workspace;
create index capsules_by_workspace on capsules (workspace_norm, updated_at desc, change_seq desc, deleted_at)
  where deleted_at is null;

drop index capsules_by_run;
create index capsules_by_run on capsules (run_id, updated_at desc, change_seq desc, deleted_at)
  where run_id is not null and deleted_at is null;
create index capsules_by_workspace_run on capsules (workspace_norm, run_id, updated_at desc, change_seq desc, deleted_at)
  where run_id is not null and deleted_at is null;
create index capsules_by_phase on capsules (phase, updated_at desc, change_seq desc, deleted_at)
  where phase is not null and deleted_at is null;
create index capsules_by_workspace_phase on capsules (workspace_norm, phase, updated_at desc, change_seq desc, deleted_at)
  where phase is not null and deleted_at is null;
create index capsules_by_role on capsules (role, updated_at desc, change_seq desc, deleted_at)
  where role is not null and deleted_at is null;
create index capsules_by_workspace_role on capsules (workspace_norm, role, updated_at desc, change_seq desc, deleted_at)
  where role is not null and deleted_at is null;

-- Names in any workspace, and the names of the last changed; in one workspace capsules_by_name has them.
create index capsules_by_name_alone on capsules (name_norm, updated_at desc, change_seq desc, deleted_at)
  where name_norm is not null and deleted_at is null;
drop index capsules_by_change;
create index capsules_by_change on capsules (updated_at desc, change_seq desc, name_norm, deleted_at)
  where deleted_at is null;

-- The tags of capsules that are not deleted.
create table capsule_tags (
  tag        text not null,
  tagged_at  integer not null,  -- the capsule's time and number of change
  tagged_seq integer not null,
  capsule    integer not null,
  primary key (tag, tagged_at desc, tagged_seq desc, capsule)
) without rowid;

insert into capsule_tags (tag, tagged_at, tagged_seq, capsule)
  select distinct value, updated_at, change_seq, row_id from capsules, json_each(tags_json)
  where tags_json is not null and deleted_at is null;

create trigger capsules_tagged after insert on capsules
when new.tags_json is not null and new.deleted_at is null begin
  insert into capsule_tags (tag, tagged_at, tagged_seq, capsule)
    select distinct value, new.updated_at, new.change_seq, new.row_id from json_each(new.tags_json);
end;

create trigger capsules_tagged_again after update of tags_json, updated_at, change_seq, deleted_at on capsules
when old.tags_json is not null or new.tags_json is not null begin
  delete from capsule_tags
    where tag in (select value from json_each(old.tags_json))
      and tagged_at = old.updated_at and tagged_seq = old.change_seq and capsule = old.row_id;
  insert into capsule_tags (tag, tagged_at, tagged_seq, capsule)
    select distinct value, new.updated_at, new.change_seq, new.row_id from json_each(new.tags_json)
    where new.tags_json is not null and new.deleted_at is null;
end;

create trigger capsules_tagged_no_more after delete on capsules when old.tags_json is not null begin
  delete from capsule_tags
    where tag in (select value from json_each(old.tags_json))
      and tagged_at = old.updated_at and tagged_seq = old.change_seq and capsule = old.row_id;
end;
