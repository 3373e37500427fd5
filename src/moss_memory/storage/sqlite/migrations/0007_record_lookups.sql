-- Records and entities are found without reading past others: by id in any workspace, newest first in one.

create index records_in_workspace on records (workspace_norm, row_id);
create index entities_in_workspace on entities (workspace_norm, row_id);
drop index entities_by_id;
create unique index entities_by_id on entities (entity_id, workspace_norm);

-- What the search asks of every source. A view says the same, but no filter on one is answered by an index alone.
alter table records add column updated_at integer generated always as (updated_at_ms / 1000) virtual;
alter table records add column change_seq integer generated always as (row_id) virtual;
alter table records add column deleted_at integer generated always as (null) virtual;
