"""Dry runs: the usual answer with the first ids, and an unchanged store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import no_artifacts as no_artifacts
from contract.doors import FULL, Clock, StoreDoor
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "capsule_bulk_delete": ("deleted", {"run_id": "r"}),
    "capsule_bulk_update": ("updated", {"run_id": "r", "set_phase": "done"}),
    "capsule_purge": ("purged", {"workspace": "shop"}),
    "artifact_bulk_delete": ("deleted", {"run_id": "r"}),
    "artifact_bulk_update": ("updated", {"run_id": "r", "set_phase": "done"}),
    "artifact_purge": ("purged", {"workspace": "shop"}),
}
LISTED = [tool for tool in TOOLS if tool != "artifact_purge"]


def fill(call: Door, tool: str, count: int) -> list[str]:
    """Create `count` rows that the tool would change and some others; return the names of the former, newest first."""
    family = tool.partition("_")[0]
    content = {"capsule_text": FULL} if family == "capsule" else {"kind": "k", "data": {}}
    call(f"{family}_store", name="other", workspace="other", run_id="s", **content)
    ids = [call(f"{family}_store", workspace="shop", run_id="r", **content)["id"] for _ in range(count)]
    for made in ids if tool.endswith("purge") else ():
        call(f"{family}_delete", id=made)
    return ids[::-1]


@holds("decisions §6: a dry run answers as usual, with dry_run and the first 20 ids, and changes nothing")
@pytest.mark.parametrize("tool", LISTED)
@pytest.mark.parametrize("count", [0, 3, 25])
def test_a_dry_run_answers_as_usual_and_changes_nothing(call: Door, tool: str, count: int) -> None:
    ids = fill(call, tool, count)
    before = dump(call.home)
    counts, arguments = TOOLS[tool]
    answer = call(tool, dry_run=True, **arguments)
    assert dump(call.home) == before
    assert answer["dry_run"] is True
    assert answer["ids"] == ids[:20]
    assert answer[counts] == count
    real = call(tool, **arguments)
    assert set(answer) == {*real, "dry_run", "ids"}
    assert real[counts] == count
    assert not {"dry_run", "ids"} & set(real)


@holds("decisions §6: a dry run answers as usual, with dry_run and the first 20 ids, and changes nothing")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_false_dry_run_argument_executes_the_call(door: StoreDoor, tool: str) -> None:
    fill(door, tool, 2)
    counts, arguments = TOOLS[tool]
    assert door(tool, dry_run=False, **arguments)[counts] == 2
    assert door(tool, dry_run=True, **arguments)[counts] == (2 if tool.endswith("update") else 0)


@holds("decisions §6: a dry run answers as usual, with dry_run and the first 20 ids, and changes nothing")
@pytest.mark.parametrize("tool", [tool for tool in LISTED if not tool.endswith("purge")])
def test_a_dry_run_is_refused_if_the_real_call_is(call: Door, tool: str) -> None:
    code = "FILTER_REQUIRED" if tool.startswith("artifact") else "INVALID_REQUEST"
    setting = {"set_phase": "x"} if tool.endswith("update") else {}
    call.refuses(code, tool, dry_run=True, **setting)
    call.refuses("INVALID_REQUEST", tool, dry_run=True, tag=" ", **setting)
    call.refuses("INVALID_REQUEST", tool, dry_run="yes", run_id="r", **setting)
    if setting:
        call.refuses("INVALID_REQUEST", tool, dry_run=True, run_id="r")


@holds("decisions §6: a dry run answers as usual, with dry_run and the first 20 ids, and changes nothing")
def test_a_dry_purge_respects_the_age_and_reports_nothing_erased(door: StoreDoor, clock: Clock) -> None:
    (old,) = fill(door, "capsule_purge", 1)
    clock.advance(8 * 86_400)
    door("capsule_store", workspace="shop", name="new", capsule_text=FULL)
    door("capsule_delete", workspace="shop", name="new")
    answer = door("capsule_purge", older_than_days=7, dry_run=True)
    assert (answer["purged"], answer["ids"], answer["erased"]) == (1, [old], False)
    assert door("capsule_purge", older_than_days=7)["erased"] is True


@holds("decisions §6: a dry run answers as usual, with dry_run and the first 20 ids, and changes nothing")
def test_a_dry_run_creates_no_store(door: StoreDoor) -> None:
    answer = door("capsule_bulk_delete", run_id="r", dry_run=True)
    assert (answer["deleted"], answer["ids"]) == (0, [])
    assert dump(door.home) == {}


@holds("decisions §6: a dry run answers as usual, with dry_run and the first 20 ids, and changes nothing")
def test_a_dry_run_leaves_expired_artifacts_out_and_unswept(door: StoreDoor, clock: Clock) -> None:
    door("artifact_store", kind="k", data={}, run_id="r", ttl_seconds=10)
    clock.advance(1000)
    before = dump(door.home)
    assert door("artifact_bulk_delete", run_id="r", dry_run=True) == {"deleted": 0, "dry_run": True, "ids": []}
    assert dump(door.home) == before
