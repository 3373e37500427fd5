-- Search by meaning: one vector for each document, and the queue of documents without one.

-- A vector is deleted when its text is changed or deleted. Numbers are never reused, so a process that has read all
-- vectors up to a number needs only later ones.
create table vectors (
  seq    integer primary key autoincrement,
  doc    integer not null unique,  -- as in the search index: row_id * 16 + the source's code
  model  text not null,
  vector blob not null             -- one signed byte a dimension; its length means nothing
);

-- The newest last.
create table unembedded (
  seq integer primary key,
  doc integer not null unique
);

create trigger capsules_to_embed after insert on capsules when new.deleted_at is null begin
  insert into unembedded (doc) values (new.row_id * 16);
end;

create trigger capsules_to_embed_again
after update of title, name_raw, capsule_text, deleted_at on capsules
when old.search_title is not new.search_title or old.capsule_text is not new.capsule_text
  or old.deleted_at is not new.deleted_at begin
  delete from vectors where doc = old.row_id * 16;
  delete from unembedded where doc = old.row_id * 16;
  insert into unembedded (doc) select new.row_id * 16 where new.deleted_at is null;
end;

create trigger capsules_embedded_no_more after delete on capsules begin
  delete from vectors where doc = old.row_id * 16;
  delete from unembedded where doc = old.row_id * 16;
end;

-- Artifacts without a text and a name have nothing to search.
create trigger artifacts_to_embed after insert on artifacts
when new.deleted_at is null and coalesce(new.text, new.name_raw) is not null begin
  insert into unembedded (doc) values (new.row_id * 16 + 1);
end;

create trigger artifacts_to_embed_again after update of name_raw, text, deleted_at on artifacts
when old.name_raw is not new.name_raw or old.text is not new.text or old.deleted_at is not new.deleted_at begin
  delete from vectors where doc = old.row_id * 16 + 1;
  delete from unembedded where doc = old.row_id * 16 + 1;
  insert into unembedded (doc) select new.row_id * 16 + 1
    where new.deleted_at is null and coalesce(new.text, new.name_raw) is not null;
end;

create trigger artifacts_embedded_no_more after delete on artifacts begin
  delete from vectors where doc = old.row_id * 16 + 1;
  delete from unembedded where doc = old.row_id * 16 + 1;
end;

create trigger notes_to_embed after insert on doc_entries
when new.written_as in ('note', 'step') and new.hidden = 0 begin
  insert into unembedded (doc) values (new.seq * 16 + 2);
end;

create trigger notes_to_embed_again after update of hidden on doc_entries
when old.written_as in ('note', 'step') and old.hidden <> new.hidden begin
  delete from vectors where doc = old.seq * 16 + 2;
  delete from unembedded where doc = old.seq * 16 + 2;
  insert into unembedded (doc) select new.seq * 16 + 2 where new.hidden = 0;
end;

create trigger notes_embedded_no_more after delete on doc_entries
when old.written_as in ('note', 'step') begin
  delete from vectors where doc = old.seq * 16 + 2;
  delete from unembedded where doc = old.seq * 16 + 2;
end;

create trigger nodes_to_embed after insert on graph_versions
when new.type is not null and new.deleted = 0 and new.next_seq = 9223372036854775807 begin
  insert into unembedded (doc) values (new.seq * 16 + 3);
end;

create trigger nodes_to_embed_again after update of next_seq on graph_versions
when old.type is not null and old.deleted = 0 and old.next_seq <> new.next_seq begin
  delete from vectors where doc = old.seq * 16 + 3;
  delete from unembedded where doc = old.seq * 16 + 3;
  insert into unembedded (doc) select new.seq * 16 + 3 where new.next_seq = 9223372036854775807;
end;

create trigger nodes_embedded_no_more after delete on graph_versions when old.type is not null begin
  delete from vectors where doc = old.seq * 16 + 3;
  delete from unembedded where doc = old.seq * 16 + 3;
end;

create trigger records_to_embed after insert on records begin
  insert into unembedded (doc) values (new.row_id * 16 + 4);
end;

create trigger records_embedded_no_more after delete on records begin
  delete from vectors where doc = old.row_id * 16 + 4;
  delete from unembedded where doc = old.row_id * 16 + 4;
end;

-- The existing documents are queued too.
create view embeddable as
  select row_id * 16 as doc, updated_at, change_seq from capsules where deleted_at is null
  union all
  select row_id * 16 + 1, updated_at, change_seq from artifacts
    where deleted_at is null and coalesce(text, name_raw) is not null
  union all
  select row_id * 16 + 2, updated_at, change_seq from note_rows
  union all
  select row_id * 16 + 3, updated_at, change_seq from node_rows
  union all
  select row_id * 16 + 4, updated_at, change_seq from record_rows;

insert into unembedded (doc) select doc from embeddable order by updated_at, change_seq, doc;
