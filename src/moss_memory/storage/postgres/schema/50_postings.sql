-- The index of words, filled from Moss's own tokenizer before each commit.
--
-- A document that changes is indexed anew under a new slot, so a posting never changes. What was indexed lately lies in
-- search_fresh, one row a document; now and then those are folded into a segment: a row for each word, with the packed
-- postings of all its documents, and one row with the documents themselves. Segments of one level are joined into one
-- of the next. Where a document was indexed before is remembered in search_dead until its postings are taken out.
--
-- Measured for 20,000 documents of 1,000 characters against a row a posting: see postgres/index.py.

create table search_words (
  id    integer generated always as identity primary key,
  word  text collate "C" not null unique, -- of a long one the beginning and a hash: an index row has a limit
  whole text collate "C"                  -- the long one itself
);

-- Rises whenever words are taken out, which holds up whoever would use their numbers until it is committed.
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

create index search_docs_by_workspace on search_docs (workspace);
create index search_docs_gone on search_docs (slot) where live = 0;

create table search_fresh (
  slot    integer primary key,
  doc     bigint not null,
  length  integer not null,
  words   integer[] not null,
  weights bytea not null,  -- as in search_postings, one word after the other
  sizes   bytea not null,
  places  bytea not null
);

create table search_segments (
  segment integer primary key,
  level   smallint not null,
  slots   bytea not null,   -- 32 bits each
  docs    bytea not null,   -- 64 bits each
  lengths bytea not null    -- 32 bits each
);

-- Never given out twice, also not when everything is forgotten.
create sequence search_segment_numbers as integer cycle;

create table search_postings (
  word    integer not null,
  segment integer not null,
  slots   bytea not null,   -- of each document, 32 bits each
  weights bytea not null,   -- how often it holds the word, in the title five times over; 255 and more: see places
  sizes   bytea not null,   -- how many bytes its places take; 0 where they are too many to be told here
  places  bytea not null,   -- their distances, those in the title first
  primary key (word, segment)
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
