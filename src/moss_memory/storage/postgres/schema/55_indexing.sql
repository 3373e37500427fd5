-- What a commit does for the search, as far as the server does it: functions, because a session plans their statements
-- once and not in every call, and because each takes one message. Words are found by Moss itself, in between.

-- Which changed documents there are, at most so many: their texts, and the slots under which they are indexed anew. One
-- that is gone has no workspace. What comes with each row is how often words were taken out of the dictionary, by which
-- whoever remembers their numbers knows whether to believe them; the caller shares its lock.
create function take_changed(most bigint)
returns table (doc bigint, slot integer, workspace text, live integer, title text, body text, removals bigint)
language plpgsql rows 10 as $$
declare
  docs bigint[];
begin
  with taken as (
    delete from changed_documents as gone
      where gone.ctid = any(array(select one.ctid from changed_documents one limit most)) returning gone.doc)
    select array_agg(distinct taken.doc) into docs from taken;
  select last_value into removals from search_word_removals;
  for doc, workspace, live, title, body in
    select one, row.workspace_norm, case when row.deleted_at is null then 1 else 0 end, row.search_title,
        row.capsule_text
      from unnest(docs) one left join capsules row on row.row_id = one >> 4 where one & 15 = 0
    union all
    select one, row.workspace_norm, case when row.deleted_at is null then 1 else 0 end, row.name_raw, row.text
      from unnest(docs) one left join artifacts row on row.row_id = one >> 4 where one & 15 = 1
    union all
    select one, row.workspace_norm, 1, row.title, row.content
      from unnest(docs) one left join note_rows row on row.row_id = one >> 4 where one & 15 = 2
    union all
    select one, row.workspace_norm, 1, row.search_title, row.text
      from unnest(docs) one left join node_rows row on row.row_id = one >> 4 where one & 15 = 3
    union all
    select one, row.workspace_norm, 1, row.title, row.search_text
      from unnest(docs) one left join records row on row.row_id = one >> 4 where one & 15 = 4
  loop
    slot := case when workspace is not null then nextval('search_slots') end;
    return next;
  end loop;
end $$;

-- The numbers of words; those that have none get one, in the order of the words, so that nobody waits for a word of
-- another who waits for one of his. What another gave meanwhile is seen by the second statement.
create function number_words(given text[], wholes text[])
returns table (word text, id integer) language plpgsql as $$
begin
  insert into search_words (word, whole)
    select one.word, one.whole from unnest(given, wholes) as one (word, whole)
    where not exists (select 1 from search_words known where known.word = one.word collate "C")
    order by one.word collate "C"
    on conflict do nothing;
  return query select known.word, known.id from search_words known where known.word = any(given);
end $$;

-- Indexes documents under new slots, and forgets where they, and those that are gone, were indexed before.
create function index_documents(
  changed bigint[], slots integer[], docs bigint[], workspaces text[], lives smallint[], lengths integer[],
  words bytea[], weights bytea[], sizes bytea[], places bytea[]
) returns void language plpgsql as $$
begin
  with gone as (delete from search_docs old where old.doc = any(changed) returning old.slot, old.length, old.words),
  buried as (insert into search_dead (slot, words) select gone.slot, gone.words from gone),
  wilted as (delete from search_fresh fresh where fresh.slot in (select gone.slot from gone))
  insert into search_totals (docs, length)
    select 0 - count(*), 0 - sum(gone.length) from gone having count(*) > 0;
  insert into search_docs (slot, doc, workspace, live, length, words)
    select * from unnest(slots, docs, workspaces, lives, lengths, words);
  insert into search_fresh (slot, weights, sizes, places) select * from unnest(slots, weights, sizes, places);
  insert into search_totals (docs, length)
    select count(*), sum(one) from unnest(lengths) one having count(*) > 0;
end $$;
