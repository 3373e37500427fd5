-- additive: no
-- A page of artifacts of a workspace is found without sorting all of them.
create index artifacts_by_workspace on artifacts (workspace_norm, updated_at desc, change_seq desc)
  where deleted_at is null;

-- Some stores of the earliest schemas lack the following objects.
-- The fields of the source that the capability does not have.
alter table observations add column if not exists unmapped_json text collate "C";

-- An imported row may have a number already; only a row without one gets a new number.
create or replace function number_row() returns trigger language plpgsql as $$
begin
  new.row_id := nextval(pg_get_serial_sequence(tg_table_name, 'row_id'));
  return new;
end $$;

create or replace trigger capsules_numbered before insert on capsules
  for each row when (new.row_id is null) execute function number_row();
create or replace trigger artifacts_numbered before insert on artifacts
  for each row when (new.row_id is null) execute function number_row();

-- Give back the number of a failed call, unless another call has taken a later one, to avoid gaps.
create or replace function give_back_change(taken bigint) returns void language plpgsql as $$
declare
  counter text := pg_get_serial_sequence('events', 'seq');
begin
  perform pg_advisory_lock(1836020595, 2);
  begin
    execute format('select setval(%L, %s, false) from %s where last_value = %s', counter, taken, counter, taken);
  exception when query_canceled or others then
    perform pg_advisory_unlock(1836020595, 2);
    raise;
  end;
  perform pg_advisory_unlock(1836020595, 2);
end $$;

create or replace function give_back_numbers(taken_from text, before bigint, last_taken bigint) returns void language plpgsql as $$
declare
  counter text := taken_from || '_numbers';
begin
  perform pg_advisory_lock(1836020595, 1);
  begin
    execute format('select setval(%L, %s) from %I where last_value = %s', counter, before, counter, last_taken);
  exception when query_canceled or others then
    perform pg_advisory_unlock(1836020595, 1);
    raise;
  end;
  perform pg_advisory_unlock(1836020595, 1);
end $$;
