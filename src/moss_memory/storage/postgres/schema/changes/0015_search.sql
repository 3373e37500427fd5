-- A page of artifacts of a workspace is found without sorting all of them.
create index artifacts_by_workspace on artifacts (workspace_norm, updated_at desc, change_seq desc)
  where deleted_at is null;

-- An index of words that was laid out otherwise goes. Its documents count as changed, at the end of this file, so that
-- the next write fills the new one.
drop table if exists
  search_words, search_docs, search_fresh, search_segments, search_postings, search_dead, search_totals;
drop sequence if exists search_segment_numbers;

-- The index of words, filled from Moss's own tokenizer before each commit.
--
-- A document that changes is indexed anew under a new slot, so a posting never changes. What was indexed lately lies in
-- search_fresh, one row a document; now and then those are folded into a segment: blocks of postings, and one row with
-- the documents themselves. Segments of one level are joined into one of the next. Where a document was indexed before
-- is remembered in search_dead until its postings are taken out.
--
-- Measured for 20,000 documents of 1,000 characters against a row a posting: see postgres/index.py.

create table search_words (
  id    integer generated always as identity primary key,
  word  text collate "C" not null unique, -- of a long one the beginning and a hash: an index row has a limit
  whole text collate "C"                  -- the long one itself
);

-- Incremented when words are removed; readers of their numbers wait until that is committed.
create sequence search_word_removals minvalue 0 start with 0;

create function count_removal() returns trigger language plpgsql as $$
begin
  perform nextval('search_word_removals');
  return null;
end $$;

create trigger search_words_removed after delete on search_words execute function count_removal();

-- A slot is given out once for each time that a document is indexed: four billion times.
create sequence search_slots as integer minvalue -2147483648 start with -2147483648;

create table search_docs (
  slot      integer primary key,
  doc       bigint not null unique,
  workspace text collate "C" not null,
  live      smallint not null,
  length    integer not null,   -- words, those of the filter included, as FTS5 counts
  words     bytea not null      -- the distances between the numbers of its words
);

-- What was indexed lately; the rest of it is in search_docs.
create table search_fresh (
  slot    integer primary key,
  tag     bigint not null default cast(random() * 9e15 as bigint), -- as that of a segment
  weights bytea not null,  -- as in search_postings, one word after the other
  sizes   bytea not null,
  places  bytea not null
);

create table search_segments (
  segment    integer primary key,
  -- Any number, so that who has read the segment takes no other for it: numbers are given out again where a backup is
  -- put back.
  tag        bigint not null default cast(random() * 9e15 as bigint),
  level      smallint not null,
  slots      bytea not null,    -- of each document, 32 bits each
  docs       bytea not null,    -- 64 bits each
  lengths    bytea not null,    -- 32 bits each
  lives      bytea not null,    -- 8 bits each
  workspaces bytea not null     -- 64 bits of a hash each
);

-- Never given out twice, also not when everything is forgotten.
create sequence search_segment_numbers as integer cycle;

-- A block holds the postings of one word with many, or of all others that are near, packed: see postgres/postings.py.
create table search_postings (
  key     integer not null,   -- the number of its one word, or one below 0 that its words share
  segment integer not null,
  base    integer not null,   -- the lowest of its slots
  words   bytea not null,     -- their numbers
  counts  bytea not null,     -- how many documents hold each
  slots   bytea not null,     -- of each of these
  weights bytea not null,     -- how often it holds the word, in the title five times over; 255 and more: see places
  sizes   bytea not null,     -- how many bytes its places take; 0 where they are too many to be told here
  places  bytea not null,     -- their distances, those in the title first
  primary key (key, segment)
) with (autovacuum_vacuum_scale_factor = 0.02); -- whole segments go at once, and the next take their room

create table search_dead (
  slot  integer primary key,
  words bytea not null
);

-- How many documents and words there are: each change adds a row, so nobody waits for another, and they are summed.
create table search_totals (
  docs   bigint not null,
  length bigint not null
);

-- What a search reads first, in one statement that a session plans once: the state of the index, the words of ranges,
-- and the blocks that hold some words, or where none are told all of those.
create function search_look_up(
  with_state boolean, firsts text[], lasts text[], asked text[], with_places boolean,
  out number bigint, out total bigint, out word text, out words bytea, out counts bytea, out base integer,
  out slots bytea, out weights bytea, out sizes bytea, out places bytea
) returns setof record language plpgsql stable set plan_cache_mode to force_generic_plan as $$
declare
  numbers integer[];
begin
  if with_state then
    return query select coalesce(sum(docs), 0)::bigint, coalesce(sum(length), 0)::bigint, null::text,
      (select string_agg(int4send(slot), '') from search_dead),
      (select string_agg(int4send(slot) || int8send(tag), '') from search_fresh), null::integer,
      (select string_agg(int4send(segment) || int8send(tag), '') from search_segments),
      null::bytea, null::bytea, null::bytea
    from search_totals;
  end if;
  numbers := array(
    select known.id from unnest(firsts, lasts) as span (first, last)
    cross join lateral (
      select id from search_words as one where one.word >= span.first and one.word < span.last offset 0) as known);
  return query select known.id::bigint, null::bigint, coalesce(known.whole, known.word), null::bytea, null::bytea,
    null::integer, null::bytea, null::bytea, null::bytea, null::bytea
  from search_words as known where id = any(numbers);
  if asked is not null then
    numbers := array(select id from search_words as one where one.word = any(asked));
  end if;
  return query select block.key::bigint, null::bigint, null::text, block.words, block.counts, block.base, block.slots,
    block.weights, case when with_places then block.sizes end, case when with_places then block.places end
  from search_postings as block
  where block.key = any(array(
    select one from unnest(numbers) as one union select -1 - (one >> 5) from unnest(numbers) as one));
end $$;

-- What a commit does for the search, as far as the server does it: functions, because a session plans their statements
-- once and not in every call, and because each takes one message. Words are found by Moss itself, in between.

-- Return a limited number of changed documents: their texts, and the slots under which they are indexed anew. One
-- that is gone has no workspace. What comes with each row is how often words were taken out of the dictionary, by which
-- a cached number can be verified; the caller shares its lock.
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

insert into changed_documents (doc) select doc from search_source;
