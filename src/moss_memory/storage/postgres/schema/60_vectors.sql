-- Search by meaning: one vector for each document, and the queue of documents without one.

-- Numbers are never reused, also not after all rows are deleted. A process finds new vectors by the transaction that
-- wrote them: one that began earlier and is committed later has a smaller number.
create sequence vectors_seq;
create table vectors (
  seq    bigint primary key default nextval('vectors_seq'),
  doc    bigint not null unique,
  model  text collate "C" not null,
  vector bytea not null,
  tx     xid8 not null default pg_current_xact_id()
);

create index vectors_by_tx on vectors (tx);

-- The newest last.
create table unembedded (
  seq bigint generated always as identity primary key,
  doc bigint not null unique
);

-- Delete the vector of a text that is changed or deleted. A writer of vectors locks the row of the queue, so that row is
-- deleted first: after that the vector is visible.
create function embed_later(document bigint, again boolean) returns void language plpgsql as $$
begin
  delete from unembedded where doc = document;
  delete from vectors where doc = document;
  if again then
    insert into unembedded (doc) values (document);
  end if;
end $$;

create function embed_capsule() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform embed_later(old.row_id * 16, false);
  else
    perform embed_later(new.row_id * 16, new.deleted_at is null);
  end if;
  return null;
end $$;

create trigger capsules_to_embed after insert or delete on capsules for each row execute function embed_capsule();
create trigger capsules_to_embed_again after update on capsules
  for each row when (
    old.search_title is distinct from new.search_title or old.capsule_text <> new.capsule_text
    or old.deleted_at is distinct from new.deleted_at)
  execute function embed_capsule();

-- Artifacts without a text and a name have nothing to search.
create function embed_artifact() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform embed_later(old.row_id * 16 + 1, false);
  else
    perform embed_later(
      new.row_id * 16 + 1, new.deleted_at is null and coalesce(new.text, new.name_raw) is not null);
  end if;
  return null;
end $$;

create trigger artifacts_to_embed after insert or delete on artifacts for each row execute function embed_artifact();
create trigger artifacts_to_embed_again after update on artifacts
  for each row when (
    old.name_raw is distinct from new.name_raw or old.text is distinct from new.text
    or old.deleted_at is distinct from new.deleted_at)
  execute function embed_artifact();

create function embed_note() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform embed_later(old.seq * 16 + 2, false);
  else
    perform embed_later(new.seq * 16 + 2, new.hidden = 0);
  end if;
  return null;
end $$;

create trigger notes_to_embed after insert on doc_entries
  for each row when (new.written_as in ('note', 'step')) execute function embed_note();
create trigger notes_to_embed_again after update on doc_entries
  for each row when (
    old.written_as in ('note', 'step') and (
      old.hidden <> new.hidden or old.title is distinct from new.title or old.content <> new.content))
  execute function embed_note();
create trigger notes_embedded_no_more after delete on doc_entries
  for each row when (old.written_as in ('note', 'step')) execute function embed_note();

create function embed_node() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform embed_later(old.seq * 16 + 3, false);
  else
    perform embed_later(new.seq * 16 + 3, new.deleted = 0 and new.next_seq = 9223372036854775807);
  end if;
  return null;
end $$;

create trigger nodes_to_embed after insert on graph_versions
  for each row when (new.type is not null) execute function embed_node();
create trigger nodes_to_embed_again after update on graph_versions
  for each row when (
    old.type is not null and (
      old.next_seq <> new.next_seq or old.deleted <> new.deleted or old.search_title <> new.search_title
      or old.text is distinct from new.text))
  execute function embed_node();
create trigger nodes_embedded_no_more after delete on graph_versions
  for each row when (old.type is not null) execute function embed_node();

create function embed_record() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform embed_later(old.row_id * 16 + 4, false);
  else
    perform embed_later(new.row_id * 16 + 4, true);
  end if;
  return null;
end $$;

create trigger records_to_embed after insert or delete on records for each row execute function embed_record();
create trigger records_to_embed_again after update on records
  for each row when (old.title is distinct from new.title or old.search_text is distinct from new.search_text)
  execute function embed_record();
