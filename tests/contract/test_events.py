"""The event log: one row for each change, none for reads and failures, no texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.doors import FULL
from support.direct_store import rows
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

SECRET = "xyzzy-never-logged"  # noqa: S105


def tools(call: Door) -> list[str]:
    return [tool for (tool,) in rows(call.home, "select tool from events order by seq")]


@holds("decisions §0: one event for each mutation, none for reads and failures, never a text")
def test_every_successful_mutation_writes_exactly_one_event(call: Door) -> None:
    text = FULL + SECRET
    made: list[tuple[str, dict[str, Any]]] = [
        ("capsule_store", {"name": "a", "capsule_text": text}),
        ("capsule_store", {"name": "a", "capsule_text": text, "mode": "replace"}),
        ("capsule_update", {"name": "a", "title": "T"}),
        ("capsule_append", {"name": "a", "section": "Objective", "content": SECRET}),
        ("capsule_compose", {"items": [{"name": "a"}], "store_as": {"name": "b"}}),
        ("capsule_bulk_update", {"workspace": "default", "set_phase": "p"}),
        ("capsule_bulk_update", {"workspace": "nowhere", "set_phase": "p"}),
        ("capsule_delete", {"name": "a"}),
        ("capsule_bulk_delete", {"workspace": "default"}),
        ("capsule_purge", {}),
    ]
    for number, (tool, arguments) in enumerate(made, 1):
        call(tool, **arguments)
        assert tools(call) == [name for name, _ in made[:number]]
    path = call.write_export(
        {"id": "X", "workspace_raw": "w", "capsule_text": SECRET}, {"id": "Y", "workspace_raw": "w"}
    )
    call("capsule_import", path=path)
    call("capsule_delete", id="X")
    call("capsule_restore", id="X")
    assert tools(call)[len(made) :] == ["capsule_import", "capsule_delete", "capsule_restore"]
    assert SECRET not in str(rows(call.home, "select * from events"))


@holds("decisions §0: one event for each mutation, none for reads and failures, never a text")
def test_reads_write_no_event(call: Door) -> None:
    stored = call("capsule_store", name="a", capsule_text=FULL)
    items = [{"name": "a"}]
    reads: list[tuple[str, dict[str, Any]]] = [
        ("capsule_fetch", {"name": "a"}), ("capsule_fetch_many", {"items": items}), ("capsule_latest", {}),
        ("capsule_list", {}), ("capsule_inventory", {}), ("capsule_export", {}), ("capsule_compose", {"items": items}),
        ("capsule_search", {"query": "objective"}), ("moss_search", {"search_mode": "keyword", "query": "objective"}),
    ]  # fmt: skip
    for tool, arguments in reads:
        call(tool, **arguments)
    assert rows(call.home, "select tool, address from events") == [("capsule_store", stored["id"])]


@holds("decisions §0: one event for each mutation, none for reads and failures, never a text")
def test_failures_write_no_event(call: Door) -> None:
    call.refuses("NOT_FOUND", "capsule_delete", name="a")
    call.refuses("CAPSULE_TOO_THIN", "capsule_store", capsule_text="x")
    call.refuses("INVALID_REQUEST", "capsule_bulk_delete")
    assert tools(call) == []


@holds("decisions §0: one event for each mutation, none for reads and failures, never a text")
def test_an_event_names_the_tool_the_workspace_the_capsule_and_the_time(call: Door) -> None:
    stored = call("capsule_store", workspace="My Shop", name="a", capsule_text=FULL)
    [(event_id, workspace, address, ts_ms, payload)] = rows(
        call.home, "select event_id, workspace, address, ts_ms, payload from events"
    )
    assert (workspace, address, payload) == ("my shop", stored["id"], None)
    assert len(event_id) == 26
    assert ts_ms > 1_500_000_000_000


@holds("decisions §0: one event for each mutation, none for reads and failures, never a text")
def test_events_are_numbered_in_the_order_of_commit(call: Door) -> None:
    for _ in range(3):
        call("capsule_store", capsule_text=FULL)
    found = rows(call.home, "select seq, event_id from events order by seq")
    assert found == sorted(found, key=lambda row: row[1])
    assert len({event_id for _, event_id in found}) == 3
