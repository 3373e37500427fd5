"""Calls that conflict in a server: one that the server aborts is executed again, once."""

from __future__ import annotations

import psycopg
import pytest

from moss_memory.store import Store
from support.store_truth import capsule, refusal

BREAK_OFF = """
create sequence attempts;
create function break_off() returns trigger language plpgsql as $$
begin
  if nextval('attempts') <= {times} then
    raise 'in the way of others' using errcode = '{code}';
  end if;
  return new;
end $$;
create trigger break_off before insert on capsules for each row execute function break_off();
"""


@pytest.fixture
def beside(url: str, store: Store) -> psycopg.Connection[tuple[int]]:
    """Return a connection to the database of the store, which exists."""
    store.call("capsule_store", {"capsule_text": capsule()})
    return psycopg.connect(url, autocommit=True)


@pytest.mark.parametrize("code", ["40001", "40P01"])
def test_a_call_aborted_by_a_conflict_is_executed_again(
    store: Store, beside: psycopg.Connection[tuple[int]], code: str
) -> None:
    with beside:
        beside.execute(BREAK_OFF.format(times=3, code=code))
        kept = store.call("capsule_store", {"name": "kept", "capsule_text": capsule()})
        found = beside.execute("select count(*) from capsules where id = %s", (kept["id"],)).fetchone()
        beside.execute("drop function break_off cascade; drop sequence attempts")
    assert found == (1,)
    assert store.call("capsule_list", {})["pagination"]["total"] == 2


def test_a_call_that_always_conflicts_fails_and_writes_nothing(
    store: Store, beside: psycopg.Connection[tuple[int]]
) -> None:
    wanted = {"name": "kept", "capsule_text": capsule()}
    with beside:
        beside.execute(BREAK_OFF.format(times=1000, code="40001"))
        error = refusal(store.call, "capsule_store", wanted, wait=False)
        beside.execute("drop function break_off cascade; drop sequence attempts")
    assert (error.code, error.retryable) == ("STORAGE_BUSY", True)
    assert store.call("capsule_list", {})["pagination"]["total"] == 1


def test_a_call_that_exceeds_the_servers_timeout_fails_and_writes_nothing(
    store: Store, beside: psycopg.Connection[tuple[int]]
) -> None:
    with beside:
        beside.execute(BREAK_OFF.format(times=1000, code="57014"))
        error = refusal(store.call, "capsule_store", {"name": "kept", "capsule_text": capsule()})
        beside.execute("drop function break_off cascade; drop sequence attempts")
    assert (error.code, error.retryable) == ("STORAGE_BUSY", True)
    assert store.call("capsule_list", {})["pagination"]["total"] == 1
