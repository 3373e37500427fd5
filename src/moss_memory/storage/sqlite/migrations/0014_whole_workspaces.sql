-- When a workspace is renamed, its reasoning and records are indexed under the new name, like capsules and artifacts.
-- Vectors have no workspace and do not change.

create trigger notes_moved after update of workspace_norm on doc_entries
when old.written_as in ('note', 'step') and old.hidden = 0 and old.workspace_norm <> new.workspace_norm begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 2, moss_words(old.title), moss_words(old.content), old.search_filter);
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 2, moss_words(new.title), moss_words(new.content), new.search_filter);
end;

create trigger nodes_moved after update of workspace_norm on graph_versions
when old.type is not null and old.deleted = 0 and old.next_seq = 9223372036854775807
  and old.workspace_norm <> new.workspace_norm begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 3, moss_words(old.search_title), moss_words(old.text), old.search_filter);
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 3, moss_words(new.search_title), moss_words(new.text), new.search_filter);
end;

create trigger records_moved after update of workspace_norm on records
when old.workspace_norm <> new.workspace_norm begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16 + 4, moss_words(old.title), moss_words(old.search_text), old.search_filter);
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16 + 4, moss_words(new.title), moss_words(new.search_text), new.search_filter);
end;

-- The fields of an imported record that its capability does not have; they are part of its provenance.
alter table observations add column unmapped_json text;
