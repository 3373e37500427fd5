-- additive: yes
-- A phase or role that few artifacts or none have is looked for in the index alone: 100 ms of 100,000, now ten. A kind
-- is found by artifacts_by_kind in every workspace; with it, or with tags, an entry could be too long for an index.
drop index artifacts_by_change;
create index artifacts_by_change on artifacts (updated_at desc, change_seq desc, phase, role)
  where deleted_at is null;
