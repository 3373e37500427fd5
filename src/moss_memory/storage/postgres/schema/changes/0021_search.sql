-- additive: no
-- Search by words; docs/explanation/search-on-postgres.md explains it. An index of an earlier layout is dropped: the
-- upgrade indexes every document again, in the transaction that runs this file.
do $$
declare
  old regprocedure;
begin
  for old in
    select oid from pg_proc where pronamespace = current_schema()::regnamespace and proname in (
      'search_look_up', 'take_changed', 'number_words', 'index_documents', 'count_removal')
  loop
    execute format('drop function %s cascade', old);
  end loop;
end $$;
drop table if exists
  search_words, search_docs, search_fresh, search_segments, search_postings, search_dead, search_totals;
drop sequence if exists search_segment_numbers, search_word_removals, search_slots;

-- The term dictionary.
create table search_terms (
  id    integer generated always as identity primary key,
  term  text collate "C" not null unique, -- of a long term a prefix and a hash: an index row has a limit
  whole text collate "C"                  -- the long term itself
);

-- The generation of the dictionary, incremented when terms are removed. Readers of ids wait until that is committed.
create sequence search_term_removals minvalue 0 start with 0;
select nextval('search_term_removals'); -- from now on last_value is the last number that was returned

create function count_removal() returns trigger language plpgsql as $$
begin
  perform nextval('search_term_removals');
  return null;
end $$;

create trigger search_terms_removed after delete on search_terms execute function count_removal();

-- A document gets a new slot each time that it is indexed: four billion times.
create sequence search_slots as integer minvalue -2147483648 start with -2147483648;

create table search_docs (
  slot      integer primary key,
  doc       bigint not null unique,
  workspace text collate "C" not null,
  live      smallint not null,
  length    integer not null,   -- the number of words, including those of the filter, as FTS5 counts
  terms     bytea not null      -- the ids of its terms, delta-encoded
);

-- The postings of documents that are in no segment yet, one row for each document.
create table search_buffer (
  slot      integer primary key,
  tag       bigint not null default cast(random() * 9e15 as bigint), -- as that of a segment
  weights   bytea not null,  -- as in search_postings, one term after the other
  sizes     bytea not null,
  positions bytea not null
);

create table search_segments (
  segment    integer primary key,
  tag        bigint not null default cast(random() * 9e15 as bigint), -- a restored backup assigns numbers again
  low        integer not null,  -- the lowest and the highest slot
  high       integer not null,
  slots      bytea not null,    -- one value for each document: 32 bits
  docs       bytea not null,    -- 64 bits
  lengths    bytea not null,    -- 32 bits
  lives      bytea not null,    -- 8 bits
  workspaces bytea not null     -- 64 bits of a hash
);

create sequence search_segment_numbers as integer cycle;

-- A block has the posting list of one frequent term, or those of several rare terms with adjacent ids.
create table search_postings (
  key       integer not null,   -- the id of its one term, or a negative number that its terms share
  segment   integer not null,
  base      integer not null,   -- its lowest slot
  terms     bytea not null,     -- the ids of its terms, delta-encoded
  counts    bytea not null,     -- the number of postings of each term
  slots     bytea not null,     -- the slot of each posting, delta-encoded
  weights   bytea not null,     -- occurrences, in the title times five; 255: the weight precedes the positions
  sizes     bytea not null,     -- the number of bytes of the positions; 0: it precedes the positions
  positions bytea not null,     -- delta-encoded, those in the title first
  primary key (key, segment)
) with (autovacuum_vacuum_scale_factor = 0.02);

-- Deleted documents whose postings are still in a segment.
create table search_deleted (
  slot  integer primary key,
  doc   bigint not null,
  terms bytea not null
);

create index search_deleted_by_doc on search_deleted (doc);

-- Terms that may be in no document any more, by the document that had them.
create table search_orphans (
  doc   bigint not null,
  terms bytea not null
);

create index search_orphans_by_doc on search_orphans (doc);

-- The number of documents and words: each write inserts a row, so that writers do not wait for each other.
create table search_totals (
  docs   bigint not null,
  length bigint not null
);

-- The first message of a search: the state of the index, the terms of ranges, and the blocks of the asked terms, or of
-- all terms in the ranges if `asked` is null.
create function search_look_up(
  with_state boolean, firsts text[], lasts text[], asked text[], with_positions boolean,
  out number bigint, out total bigint, out term text, out terms bytea, out counts bytea, out base integer,
  out slots bytea, out weights bytea, out sizes bytea, out positions bytea
) returns setof record language plpgsql stable set plan_cache_mode to force_generic_plan as $$
declare
  ids integer[];
begin
  if with_state then
    return query select coalesce(sum(docs), 0)::bigint, coalesce(sum(length), 0)::bigint, null::text,
      (select string_agg(int4send(slot), '') from search_deleted),
      (select string_agg(int4send(slot) || int8send(tag), '') from search_buffer), null::integer,
      (select string_agg(int4send(segment) || int8send(tag), '') from search_segments),
      null::bytea, null::bytea, null::bytea
    from search_totals;
  end if;
  ids := array(
    select known.id from unnest(firsts, lasts) as span (first, last)
    cross join lateral (
      select id from search_terms as one where one.term >= span.first and one.term < span.last offset 0) as known);
  return query select known.id::bigint, null::bigint, coalesce(known.whole, known.term), null::bytea, null::bytea,
    null::integer, null::bytea, null::bytea, null::bytea, null::bytea
  from search_terms as known where id = any(ids);
  if asked is not null then
    ids := array(select id from search_terms as one where one.term = any(asked));
  end if;
  return query select block.key::bigint, null::bigint, null::text, block.terms, block.counts, block.base, block.slots,
    block.weights, case when with_positions then block.sizes end, case when with_positions then block.positions end
  from search_postings as block
  where block.key = any(array(
    select one from unnest(ids) as one union select -1 - (one >> 5) from unnest(ids) as one));
end $$;

-- The texts and new slots of changed documents, with the generation of the dictionary; one that is gone has no workspace.
-- Without `given` they are taken from the queue, at most `most`, and the first row has the others, for later calls.
create function take_changed(most bigint, given bigint[])
returns table (
  doc bigint, slot integer, workspace text, live integer, title text, body text, generation bigint, others bigint[])
language plpgsql rows 10 as $$
declare
  docs bigint[] := given;
begin
  if docs is null then
    with taken as (delete from changed_documents as one returning one.doc)
      select array_agg(distinct taken.doc) into docs from taken;
  end if;
  others := docs[most + 1:];
  docs := docs[:most];
  select last_value into generation from search_term_removals;
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
    others := null;
  end loop;
end $$;

-- The ids of terms. New terms get one in the order of the terms, so that no two writers wait for each other. The second
-- statement sees the ids that other writers have committed meanwhile.
create function assign_term_ids(given text[], wholes text[])
returns table (term text, id integer) language plpgsql as $$
begin
  insert into search_terms (term, whole)
    select one.term, one.whole from unnest(given, wholes) as one (term, whole)
    where not exists (select 1 from search_terms known where known.term = one.term collate "C")
    order by one.term collate "C"
    on conflict do nothing;
  return query select known.term, known.id from search_terms known where known.term = any(given);
end $$;

-- Index documents under new slots, delete their earlier slots and those of documents that are gone, and buffer postings.
create function index_documents(
  changed bigint[], slots integer[], docs bigint[], workspaces text[], lives smallint[], lengths integer[],
  terms bytea[], buffered integer[], weights bytea[], sizes bytea[], positions bytea[]
) returns void language plpgsql as $$
begin
  with gone as (
    delete from search_docs old where old.doc = any(changed) returning old.slot, old.doc, old.length, old.terms),
  unbuffered as (
    delete from search_buffer one where one.slot in (select gone.slot from gone) returning one.slot),
  orphaned as (
    insert into search_orphans (doc, terms)
      select gone.doc, gone.terms from gone join unbuffered on unbuffered.slot = gone.slot),
  deleted as (
    insert into search_deleted (slot, doc, terms)
      select gone.slot, gone.doc, gone.terms from gone where gone.slot not in (select unbuffered.slot from unbuffered))
  insert into search_totals (docs, length)
    select 0 - count(*), 0 - sum(gone.length) from gone having count(*) > 0;
  insert into search_docs (slot, doc, workspace, live, length, terms)
    select * from unnest(slots, docs, workspaces, lives, lengths, terms);
  insert into search_buffer (slot, weights, sizes, positions) select * from unnest(buffered, weights, sizes, positions);
  insert into search_totals (docs, length)
    select count(*), sum(one) from unnest(lengths) one having count(*) > 0;
end $$;

-- An earlier version that is erased leaves the index too.
create or replace function note_erased_version() returns trigger language plpgsql as $$
begin
  insert into changed_documents (doc) values (new.subject * 16 + case new.family when 'capsule' then 0 else 1 end);
  return null;
end $$;

create trigger versions_erasure_noted after update of erased on versions
  for each row when (old.erased = 0 and new.erased <> 0) execute function note_erased_version();

insert into changed_documents (doc) select doc from search_source;

-- If Moss of the version before can work with this schema: the first line of the newest migration.
alter table moss_schema add column additive bigint not null default 0;

-- Some stores of the schemas 17 and 18 have no such index.
create index if not exists graph_conflicts_open on graph_conflicts (workspace_norm, seq) where resolution is null;
