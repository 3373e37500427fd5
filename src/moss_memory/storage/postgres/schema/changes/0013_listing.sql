-- additive: no
-- Indexes for pages of capsules with one filter, so that no other capsules are read: tag, run, phase or role, in one
-- workspace or in all, newest change first; and the prefix of a name in all workspaces.

drop index capsules_by_run;
create index capsules_by_run on capsules (run_id, updated_at desc, change_seq desc)
  where run_id is not null and deleted_at is null;
create index capsules_by_workspace_run on capsules (workspace_norm, run_id, updated_at desc, change_seq desc)
  where run_id is not null and deleted_at is null;
create index capsules_by_phase on capsules (phase, updated_at desc, change_seq desc)
  where phase is not null and deleted_at is null;
create index capsules_by_workspace_phase on capsules (workspace_norm, phase, updated_at desc, change_seq desc)
  where phase is not null and deleted_at is null;
create index capsules_by_role on capsules (role, updated_at desc, change_seq desc)
  where role is not null and deleted_at is null;
create index capsules_by_workspace_role on capsules (workspace_norm, role, updated_at desc, change_seq desc)
  where role is not null and deleted_at is null;

-- Names in any workspace, and the names of the last changed; in one workspace capsules_by_name has them.
create index capsules_by_name_alone on capsules (name_norm, updated_at desc, change_seq desc)
  where name_norm is not null and deleted_at is null;
drop index capsules_by_change;
create index capsules_by_change on capsules (updated_at desc, change_seq desc, name_norm)
  where deleted_at is null;

-- The tags of capsules that are not deleted.
create table capsule_tags (
  tag        text collate "C" not null,
  tagged_at  bigint not null,  -- the capsule's time and number of change
  tagged_seq bigint not null,
  capsule    bigint not null,
  primary key (capsule, tag)
);

create index capsule_tags_in_order on capsule_tags (tag, tagged_at desc, tagged_seq desc, capsule);

insert into capsule_tags (tag, tagged_at, tagged_seq, capsule)
  select distinct tags.tag, updated_at, change_seq, row_id
  from capsules, jsonb_array_elements_text(tags_json::jsonb) as tags (tag)
  where tags_json is not null and deleted_at is null;

create function tag_capsule() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from capsule_tags where capsule = old.row_id;
  end if;
  if tg_op <> 'DELETE' and new.tags_json is not null and new.deleted_at is null then
    insert into capsule_tags (tag, tagged_at, tagged_seq, capsule)
      select distinct tags.tag, new.updated_at, new.change_seq, new.row_id
      from jsonb_array_elements_text(new.tags_json::jsonb) as tags (tag);
  end if;
  return null;
end $$;

create trigger capsules_tagged after insert on capsules
  for each row when (new.tags_json is not null) execute function tag_capsule();
create trigger capsules_tagged_again after update on capsules
  for each row when (old.tags_json is not null or new.tags_json is not null) execute function tag_capsule();
create trigger capsules_tagged_no_more after delete on capsules
  for each row when (old.tags_json is not null) execute function tag_capsule();
