"""Idempotency keys: a call repeated with the same key is executed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, Clock, Door, StoreDoor
from moss_memory.errors import MossError
from moss_memory.storage.idempotency import KEPT_MS
from support.direct_store import dump, rows
from support.promises import holds

if TYPE_CHECKING:
    from moss_memory.store import Store

DAY_S = KEPT_MS // 1000


def refused(code: str, door: Door, key: Any, tool: str, **arguments: Any) -> MossError:
    """Return the error of a call with a key; assert that it has this code and that the store is unchanged."""
    before = dump(door.home)
    with pytest.raises(MossError) as caught:
        door.once(key, tool, **arguments)
    assert caught.value.code == code, caught.value.payload()
    assert dump(door.home) == before
    return caught.value


@holds("decisions §0: a call sent again with its idempotency_key is carried out once; other arguments are a CONFLICT")
def test_a_repeated_call_with_its_key_returns_the_first_answer_and_runs_once(call: Door) -> None:
    first = call.once("k1", "capsule_store", capsule_text=FULL)
    after = dump(call.home)
    for _ in range(3):
        assert call.once("k1", "capsule_store", capsule_text=FULL) == first
    assert dump(call.home) == after, "neither a row nor an event was added"
    assert call.once("k2", "capsule_store", capsule_text=FULL)["id"] != first["id"]
    assert call("capsule_list")["pagination"]["total"] == 2


@holds("decisions §0: a call sent again with its idempotency_key is carried out once; other arguments are a CONFLICT")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("artifact_store", {"kind": "k", "data": {"a": 1}}),
        ("tasks_create", {"workspace": "w", "kind": "task", "title": "t", "steps": [{"title": "s"}]}),
        ("branchmind_notes_commit", {"workspace": "w", "content": "a note"}),
        ("moss_call", {"tool": "capsule_store", "arguments": {"capsule_text": FULL}}),
        ("moss.store", {"capsule_text": FULL}),
    ],
)
def test_every_family_and_tool_name_supports_keys(door: StoreDoor, tool: str, arguments: dict[str, Any]) -> None:
    first = door.store.call(tool, arguments, idempotency_key="k")
    after = dump(door.home)
    assert door.store.call(tool, arguments, idempotency_key="k") == first
    assert dump(door.home) == after


@holds("decisions §0: a call sent again with its idempotency_key is carried out once; other arguments are a CONFLICT")
def test_the_same_key_with_other_arguments_is_a_conflict(call: Door) -> None:
    call.once("k", "capsule_store", name="a", capsule_text=FULL)
    refused("CONFLICT", call, "k", "capsule_store", name="b", capsule_text=FULL)
    refused("CONFLICT", call, "k", "capsule_store", name="a", capsule_text=FULL, mode="replace")
    refused("CONFLICT", call, "k", "capsule_store", name="a", capsule_text=FULL, allow_secrets=True)


@holds("decisions §0: a call sent again with its idempotency_key is carried out once; other arguments are a CONFLICT")
def test_equivalent_arguments_are_equal_for_a_key(door: StoreDoor) -> None:
    first = door.once("k", "capsule_store", name="a", capsule_text=FULL)
    assert door.once("k", "capsule_store", capsule_text=FULL, name="a", title=None, workspace="default") == first


@holds("decisions §0: a call sent again with its idempotency_key is carried out once; other arguments are a CONFLICT")
def test_a_key_belongs_to_one_workspace_and_one_tool(door: StoreDoor) -> None:
    first = door.once("k", "capsule_store", workspace="Shop", capsule_text=FULL)
    assert door.once("k", "capsule_store", workspace="Shop", capsule_text=FULL) == first
    assert door.once("k", "capsule_store", workspace="other", capsule_text=FULL)["id"] != first["id"]
    assert door.once("k", "artifact_store", workspace="Shop", kind="k", data={})["version"] == 1
    refused("CONFLICT", door, "k", "capsule_store", workspace=" shop", capsule_text=FULL)


@holds("decisions §0: answers are remembered for a day, never those of failures; reads ignore the key")
def test_a_failed_call_is_not_stored_and_may_be_repeated(call: Door) -> None:
    refused("NOT_FOUND", call, "k", "capsule_update", name="a", title="new")
    call("capsule_store", name="a", capsule_text=FULL)
    assert call.once("k", "capsule_update", name="a", title="new")["version"] == 2
    assert call.once("k", "capsule_update", name="a", title="new")["version"] == 2


@holds("decisions §0: answers are remembered for a day, never those of failures; reads ignore the key")
def test_a_key_expires_after_a_day_and_is_removed(door: StoreDoor, clock: Clock) -> None:
    for number in range(150):
        door.once(f"k{number}", "artifact_store", kind="k", data={"n": number})
    first = door.once("again", "capsule_store", capsule_text=FULL)
    clock.advance(DAY_S - 1)
    assert door.once("again", "capsule_store", capsule_text=FULL) == first
    clock.advance(1)
    assert door.once("again", "capsule_store", capsule_text=FULL)["id"] != first["id"]
    assert kept(door) == 51, "a hundred at once"
    door.once("another", "capsule_store", capsule_text=FULL)
    assert kept(door) == 2


def kept(door: StoreDoor) -> int:
    [(count,)] = rows(door.home, "select count(*) from remembered")
    return int(count)


@holds("decisions §0: answers are remembered for a day, never those of failures; reads ignore the key")
def test_reading_tools_and_dry_runs_ignore_the_key(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    assert call.once("k", "capsule_list")["pagination"]["total"] == 1
    assert call.once("k", "capsule_bulk_delete", workspace="default", dry_run=True)["dry_run"]
    call("capsule_store", name="b", capsule_text=FULL)
    assert call.once("k", "capsule_list")["pagination"]["total"] == 2
    assert call.once("k", "capsule_bulk_delete", workspace="default")["deleted"] == 2


@holds("decisions §0: answers are remembered for a day, never those of failures; reads ignore the key")
@pytest.mark.parametrize("key", ["", "  ", "x" * 257, 5, True, ["k"], {"k": 1}, "nul\0"])
@pytest.mark.parametrize("tool", ["capsule_store", "capsule_list", "submit_payload"])
def test_an_invalid_key_is_refused(door: StoreDoor, key: Any, tool: str) -> None:
    taken: dict[str, dict[str, Any]] = {
        "capsule_store": {"capsule_text": FULL},
        "capsule_list": {},
        "submit_payload": {"capability_id": "release", "body": {"version": "1"}},
    }
    code = "VALIDATION_ERROR" if tool == "submit_payload" else "INVALID_REQUEST"
    error = refused(code, door, key, tool, **taken[tool])
    assert "idempotency_key" in error.message


@holds("decisions §0: answers are remembered for a day, never those of failures; reads ignore the key")
def test_a_key_may_be_any_text_of_256_characters(door: StoreDoor) -> None:
    key = "ключ 🔑 '\";--" + "k" * 244
    first = door.once(key, "capsule_store", capsule_text=FULL)
    assert door.once(key, "capsule_store", capsule_text=FULL) == first


@holds("decisions §0: a call sent again with its idempotency_key is carried out once; other arguments are a CONFLICT")
def test_store_methods_of_writing_tools_accept_a_key(store: Store) -> None:
    first = store.capsule_store(capsule_text=FULL, idempotency_key="k")
    assert store.capsule_store(capsule_text=FULL, idempotency_key="k") == first
    with pytest.raises(MossError, match="unknown argument"):
        store.capsule_list(idempotency_key="k")  # type: ignore[call-arg]


@holds("decisions §6: remembered answers are emptied by a purge, and their calls still not repeated")
def test_a_repeated_call_is_not_executed_again_after_a_purge(call: Door) -> None:
    stored = {"name": "a", "capsule_text": FULL}
    call.once("k", "capsule_store", **stored)
    call.once("k", "capsule_delete", name="a")
    answer = call.once("k", "capsule_purge")
    assert (answer["purged"], answer["erased"]) == (1, True)
    assert call.once("k", "capsule_purge") == answer, "what was told after the commit is remembered too"
    assert "purged" in refused("CONFLICT", call, "k", "capsule_store", **stored).message
    assert call("capsule_list")["pagination"]["total"] == 0
