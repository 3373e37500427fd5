-- The documents that a transaction has changed and indexes before it commits: Moss searches words itself. Every
-- transaction deletes its own rows before its commit, so no other one ever reads any; the table needs no log.

create unlogged table changed_documents (doc bigint not null);

create function note_changed_row() returns trigger language plpgsql as $$
begin
  insert into changed_documents (doc)
    values (case tg_op when 'DELETE' then old.row_id else new.row_id end * 16 + tg_argv[0]::bigint);
  return null;
end $$;

create function note_changed_seq() returns trigger language plpgsql as $$
begin
  insert into changed_documents (doc)
    values (case tg_op when 'DELETE' then old.seq else new.seq end * 16 + tg_argv[0]::bigint);
  return null;
end $$;

create trigger capsules_noted after insert or delete on capsules
  for each row execute function note_changed_row('0');
create trigger capsules_change_noted after update on capsules
  for each row when (
    old.search_title is distinct from new.search_title or old.capsule_text <> new.capsule_text
    or old.workspace_norm <> new.workspace_norm or (old.deleted_at is null) <> (new.deleted_at is null))
  execute function note_changed_row('0');

create trigger artifacts_noted after insert or delete on artifacts
  for each row execute function note_changed_row('1');
create trigger artifacts_change_noted after update on artifacts
  for each row when (
    old.name_raw is distinct from new.name_raw or old.text is distinct from new.text
    or old.workspace_norm <> new.workspace_norm or (old.deleted_at is null) <> (new.deleted_at is null))
  execute function note_changed_row('1');

create trigger notes_noted after insert on doc_entries
  for each row when (new.written_as in ('note', 'step')) execute function note_changed_seq('2');
create trigger notes_change_noted after update on doc_entries
  for each row when (
    old.written_as in ('note', 'step') and (
      old.hidden <> new.hidden or old.title is distinct from new.title or old.content <> new.content
      or old.workspace_norm <> new.workspace_norm))
  execute function note_changed_seq('2');
create trigger notes_removal_noted after delete on doc_entries
  for each row when (old.written_as in ('note', 'step')) execute function note_changed_seq('2');

create trigger nodes_noted after insert on graph_versions
  for each row when (new.type is not null) execute function note_changed_seq('3');
create trigger nodes_change_noted after update on graph_versions
  for each row when (
    old.type is not null and (
      old.next_seq <> new.next_seq or old.deleted <> new.deleted or old.search_title <> new.search_title
      or old.text is distinct from new.text or old.workspace_norm <> new.workspace_norm))
  execute function note_changed_seq('3');
create trigger nodes_removal_noted after delete on graph_versions
  for each row when (old.type is not null) execute function note_changed_seq('3');

create trigger records_noted after insert or delete on records
  for each row execute function note_changed_row('4');
create trigger records_change_noted after update on records
  for each row when (
    old.title is distinct from new.title or old.search_text is distinct from new.search_text
    or old.workspace_norm <> new.workspace_norm)
  execute function note_changed_row('4');
