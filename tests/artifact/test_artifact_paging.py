"""Paging of a thousand artifacts of one second returns every row exactly once, in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import check_artifacts, put
from moss_memory.storage.sqlite import connections

if TYPE_CHECKING:
    from contract.doors import Clock, StoreDoor

ROWS = 1_000
ORDERS = ("updated_at", "created_at")


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off synchronous writes; other tests check durability."""
    real = connections.set_pragma

    def set_pragma(connection: Any, pragma: str, expected: str | int) -> None:
        real(connection, *(("synchronous = off", 0) if pragma.startswith("synchronous") else (pragma, expected)))

    monkeypatch.setattr(connections, "set_pragma", set_pragma)


def paged(door: StoreDoor, *, limit: int, **arguments: Any) -> list[str]:
    """Return all ids in listing order, from as many pages as necessary."""
    found: list[str] = []
    while True:
        answer = door("artifact_list", limit=limit, offset=len(found), **arguments)
        found += [item["id"] for item in answer["items"]]
        if not answer["pagination"]["has_more"]:
            return found
        assert len(answer["items"]) == limit


def test_a_thousand_artifacts_of_one_second_are_paged_exactly_once_in_both_orders(door: StoreDoor) -> None:
    created: list[str] = []
    for number in range(ROWS):
        fields = {"run_id": "r", "tags": [f"t{number % 3}"], "workspace": f"W{number % 2}", "role": "x"}
        created.insert(0, put(door, f"n{number}", **fields))
    for order_by in ORDERS:
        for filters in ({}, {"run_id": "r"}, {"role": "x"}, {"kind": "freeform"}):
            assert paged(door, limit=100, order_by=order_by, **filters) == created
    changed = list(created)
    for number in range(0, ROWS, 37):
        touched = created[number]
        door("artifact_touch", id=touched, ttl_seconds=999)
        changed.remove(touched)
        changed.insert(0, touched)
    odd = [each for each in changed if created.index(each) % 2 == 0]
    assert door("artifact_bulk_update", workspace="w1", set_phase="p")["updated"] == ROWS // 2
    changed = odd + [each for each in changed if each not in set(odd)]
    for limit in (100, 77):
        assert paged(door, limit=limit) == changed
        assert paged(door, limit=limit, order_by="created_at") == created
    assert paged(door, limit=33, workspace="w1", kind="freeform") == odd
    assert paged(door, limit=33, phase="p", order_by="created_at") == [each for each in created if each in set(odd)]
    assert door("artifact_bulk_delete", tag="t0")["deleted"] == 334
    assert len(paged(door, limit=100)) == ROWS - 334
    for order_by in ORDERS:
        both = paged(door, limit=90, order_by=order_by, include_deleted=True)
        assert sorted(both) == sorted(created)
    assert paged(door, limit=90, order_by="created_at", include_deleted=True) == created
    check_artifacts(door.home)


def test_swept_artifacts_are_paged_exactly_once_in_both_orders(door: StoreDoor, clock: Clock) -> None:
    created = [put(door, f"n{number}", ttl_seconds=1 + number % 7, run_id="r") for number in range(300)][::-1]
    both = {"include_expired": True, "include_deleted": True}
    for _ in range(4):
        clock.advance(301)
        created.insert(0, put(door, run_id="r"))
        for filters in ({}, {"run_id": "r"}):
            assert sorted(paged(door, limit=7, **filters, **both)) == sorted(created)
            assert paged(door, limit=7, order_by="created_at", **filters, **both) == created
    assert len(paged(door, limit=50)) == 4


def test_pages_of_every_size_agree_if_nothing_changes(door: StoreDoor) -> None:
    for number in range(60):
        put(door, f"n{number}", mode="replace")
    whole = {order_by: paged(door, limit=100, order_by=order_by) for order_by in ORDERS}
    for limit in (1, 2, 7, 59, 60, 61):
        for order_by in ORDERS:
            assert paged(door, limit=limit, order_by=order_by) == whole[order_by]
