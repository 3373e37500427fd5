"""No tool writes in a workspace without its lock: one that writes elsewhere declares `across`."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from contract.doors import Clock, StoreDoor, open_test_store
from contract.everything import call_everything, call_unlisted, prepare
from moss_memory.errors import MossError
from moss_memory.store import Store
from moss_memory.tools.everything.version_tools import moss_rename
from support.store_truth import capsule

# The keys of calls are their own: nobody else writes the same one.
GUARDED = """
select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
where table_schema = current_schema() and table_type = 'BASE TABLE' and column_name = 'workspace_norm'
  and table_name <> 'remembered'
"""
WRITES = "insert or update or delete"
GUARD = """
create function guard() returns trigger language plpgsql as $$
declare
  place text;
begin
  foreach place in array array[to_jsonb(old) ->> 'workspace_norm', to_jsonb(new) ->> 'workspace_norm'] loop
    if place is not null and not exists (
      select 1 from pg_locks
      where pid = pg_backend_pid() and locktype = 'advisory' and mode = 'ExclusiveLock' and granted
        and ((objsubid = 2 and classid = 1836020595 and objid = 0)
          or (objsubid = 1 and (classid::bigint << 32 | objid::bigint) = workspace_lock(place)))
    ) then
      raise '% is written in % without its lock', tg_table_name, place;
    end if;
  end loop;
  return null;
end $$
"""


@pytest.fixture
def guarded(home: str, clock: Clock, url: str) -> Iterator[Store]:
    """Return a store that refuses writes in a workspace without its lock."""
    prepare(home)
    with open_test_store(home, clock) as store, psycopg.connect(url, autocommit=True) as guard:
        store.call("capsule_store", {"capsule_text": capsule()})
        guard.execute(GUARD.encode())
        for (table,) in guard.execute(GUARDED.encode()).fetchall():
            guard.execute(
                f"create trigger guard after {WRITES} on {table} for each row execute function guard()".encode()
            )
        yield store
        guard.execute("drop function guard cascade")


def test_every_tool_holds_the_locks_of_the_workspaces_in_which_it_writes(guarded: Store) -> None:
    door = StoreDoor(guarded)
    call_everything(door)
    call_unlisted(door)


def test_a_tool_that_writes_outside_its_declared_workspaces_is_detected(
    guarded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded.call("capsule_store", {"workspace": "a", "name": "n", "capsule_text": capsule()})
    monkeypatch.setattr(moss_rename, "cross_workspace", False)
    renaming = {"type": "capsule", "workspace": "a", "name": "n", "new_workspace": "b"}
    with pytest.raises(MossError) as refused:
        guarded.call("moss_rename", renaming)
    assert "without its lock" in str(refused.value.__cause__)
