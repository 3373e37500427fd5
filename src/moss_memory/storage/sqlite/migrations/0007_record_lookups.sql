-- Records and entities are found without reading past others: by id in any workspace, newest first in one.

create index records_in_workspace on records (workspace_norm, row_id);
create index entities_in_workspace on entities (workspace_norm, row_id);
drop index entities_by_id;
create unique index entities_by_id on entities (entity_id, workspace_norm);

-- The columns that search reads in every table. A view could compute them, but no index alone answers a filter on it.
alter table records add column updated_at integer generated always as (updated_at_ms / 1000) virtual;
alter table records add column change_seq integer generated always as (row_id) virtual;
alter table records add column deleted_at integer generated always as (null) virtual;
