-- A sequence shows its first number before it has given it out, so the first removal of words would show nothing.
select nextval('search_word_removals');
