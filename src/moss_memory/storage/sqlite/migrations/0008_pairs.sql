-- Chinese, Japanese and Korean are found by their words: `moss_words` splits a run of their characters into pairs for
-- the index, and does not change other text. Only the documents with such runs are indexed again.

create temp table moss_paired as
  select doc from search_source where moss_words(title) is not title or moss_words(body) is not body;

insert into search_index (search_index, rowid, title, body, filter)
  select 'delete', doc, title, body, filter from search_source where doc in (select doc from temp.moss_paired);

drop view search_source;
create view search_source as
  select row_id * 16 as doc, moss_words(search_title) as title, moss_words(capsule_text) as body,
    search_filter as filter from capsules
  union all
  select row_id * 16 + 1, moss_words(name_raw), moss_words(text), search_filter from artifacts
  union all
  select row_id * 16 + 2, moss_words(title), moss_words(content), search_filter from note_rows
  union all
  select row_id * 16 + 3, moss_words(search_title), moss_words(text), search_filter from node_rows
  union all
  select row_id * 16 + 4, moss_words(title), moss_words(search_text), search_filter from record_rows;

insert into search_index (rowid, title, body, filter)
  select doc, title, body, filter from search_source where doc in (select doc from temp.moss_paired);
drop table temp.moss_paired;

drop trigger capsules_indexed;
create trigger capsules_indexed after insert on capsules begin
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16, moss_words(new.search_title), moss_words(new.capsule_text), new.search_filter);
end;

drop trigger capsules_reindexed;
create trigger capsules_reindexed
after update of title, name_raw, capsule_text, workspace_norm, deleted_at on capsules begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16, moss_words(old.search_title), moss_words(old.capsule_text), old.search_filter);
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16, moss_words(new.search_title), moss_words(new.capsule_text), new.search_filter);
end;

drop trigger capsules_unindexed;
create trigger capsules_unindexed after delete on capsules begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16, moss_words(old.search_title), moss_words(old.capsule_text), old.search_filter);
end;

drop trigger artifacts_indexed;
create trigger artifacts_indexed after insert on artifacts begin
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16 + 1, moss_words(new.name_raw), moss_words(new.text), new.search_filter);
end;

drop trigger artifacts_reindexed;
create trigger artifacts_reindexed
after update of name_raw, text, workspace_norm, deleted_at on artifacts begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16 + 1, moss_words(old.name_raw), moss_words(old.text), old.search_filter);
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16 + 1, moss_words(new.name_raw), moss_words(new.text), new.search_filter);
end;

drop trigger artifacts_unindexed;
create trigger artifacts_unindexed after delete on artifacts begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16 + 1, moss_words(old.name_raw), moss_words(old.text), old.search_filter);
end;

drop trigger notes_indexed;
create trigger notes_indexed after insert on doc_entries
when new.written_as in ('note', 'step') and new.hidden = 0 begin
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 2, moss_words(new.title), moss_words(new.content), new.search_filter);
end;

drop trigger notes_hidden;
create trigger notes_hidden after update of hidden on doc_entries
when old.written_as in ('note', 'step') and old.hidden = 0 and new.hidden = 1 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 2, moss_words(old.title), moss_words(old.content), old.search_filter);
end;

drop trigger notes_shown;
create trigger notes_shown after update of hidden on doc_entries
when old.written_as in ('note', 'step') and old.hidden = 1 and new.hidden = 0 begin
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 2, moss_words(new.title), moss_words(new.content), new.search_filter);
end;

drop trigger notes_unindexed;
create trigger notes_unindexed after delete on doc_entries
when old.written_as in ('note', 'step') and old.hidden = 0 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 2, moss_words(old.title), moss_words(old.content), old.search_filter);
end;

drop trigger nodes_indexed;
create trigger nodes_indexed after insert on graph_versions
when new.type is not null and new.deleted = 0 and new.next_seq = 9223372036854775807 begin
  insert into search_index (rowid, title, body, filter)
    values (new.seq * 16 + 3, moss_words(new.search_title), moss_words(new.text), new.search_filter);
end;

drop trigger nodes_superseded;
create trigger nodes_superseded after update of next_seq on graph_versions
when old.type is not null and old.deleted = 0 and old.next_seq = 9223372036854775807
  and new.next_seq < 9223372036854775807 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 3, moss_words(old.search_title), moss_words(old.text), old.search_filter);
end;

drop trigger nodes_unindexed;
create trigger nodes_unindexed after delete on graph_versions
when old.type is not null and old.deleted = 0 and old.next_seq = 9223372036854775807 begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.seq * 16 + 3, moss_words(old.search_title), moss_words(old.text), old.search_filter);
end;

drop trigger records_indexed;
create trigger records_indexed after insert on records begin
  insert into search_index (rowid, title, body, filter)
    values (new.row_id * 16 + 4, moss_words(new.title), moss_words(new.search_text), new.search_filter);
end;

drop trigger records_unindexed;
create trigger records_unindexed after delete on records begin
  insert into search_index (search_index, rowid, title, body, filter)
    values ('delete', old.row_id * 16 + 4, moss_words(old.title), moss_words(old.search_text), old.search_filter);
end;
