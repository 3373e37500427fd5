"""Purging reasoning: it deletes exactly the entries that no branch shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from contract.reasoning.reasoning_tools import edge, gone, node
from storage.test_purge import on_disk
from support.direct_store import DirectStore
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock
    from contract.reasoning.reasoning_tools import ReasoningTools

NOTE, NODE, BEFORE, LINK, TAG = "Aqvornimblex", "Bruzelkantoq", "Cwiffleplodz", "Dgorpthanzik", "Evlaxiquoomp"
WORDS = (NOTE, NODE, BEFORE, LINK, TAG)


def leave_behind(room: ReasoningTools) -> None:
    """Create a note hidden by a reset, and a deleted node with older versions and an edge."""
    kept = room.note("kept")
    room.note(NOTE, title=NOTE, meta={"deep": NOTE})
    room("reset", to=kept)
    room.apply(node("n", title=BEFORE), node("m", title="kept"), edge("n", "r", "m", meta={"why": LINK}))
    room.apply(node("n", text=NODE, tags=[TAG]))
    room.apply(gone("n"))


@holds("purge: rows that no branch shows are deleted permanently, and no others")
def test_purging_reasoning_removes_every_byte_of_unreachable_entries(timed: ReasoningTools) -> None:
    leave_behind(timed)
    answer = timed.door("branchmind_purge")
    assert answer["purged"] == 3
    assert answer["message"] == "Permanently deleted 1 note and 2 nodes and edges"
    assert answer["erased"] is True
    assert on_disk(Path(timed.door.home), *WORDS) == {}
    assert timed.texts() == ["kept"]
    assert set(timed.nodes(include_deleted=True)) == {"m"}
    with DirectStore(timed.door.home) as direct:
        assert direct.problems() == []


@holds("purge: rows that no branch shows are deleted permanently, and no others")
def test_purging_reasoning_keeps_entries_visible_on_any_branch(timed: ReasoningTools) -> None:
    first = timed.note("first")
    timed.note("second")
    timed.apply(node("n", title="shown"))
    timed.branch("what-if")
    timed("reset", to=first, ref="main")
    timed.apply(gone("n"), branch="main")
    assert timed.door("branchmind_purge")["purged"] == 0
    assert timed.texts("what-if") == ["first", "second"]
    assert timed.nodes("what-if")["n"]["title"] == "shown"


@holds("purge: rows that no branch shows are deleted permanently, and no others")
def test_purging_reasoning_keeps_tagged_entries(timed: ReasoningTools) -> None:
    first = timed.note("first")
    timed.note("second")
    timed("tag_create", name="release")
    timed("reset", to=first)
    assert timed.door("branchmind_purge")["purged"] == 0
    timed("reset", to="release")
    assert timed.texts() == ["first", "second"]


@holds("purge: rows that no branch shows are deleted permanently, and no others")
def test_purging_reasoning_keeps_the_states_of_open_conflicts(timed: ReasoningTools) -> None:
    timed.apply(node("n", title="base"))
    timed.branch("b")
    timed.apply(node("n", title="theirs"), branch="b")
    timed.apply(node("n", title="ours"), branch="main")
    timed("graph_merge", from_="b", into="main")
    for branch in ("b", "main"):
        timed.apply(gone("n"), branch=branch)
    assert timed.door("branchmind_purge")["purged"] == 0
    assert len(timed.conflicts()) == 1


@holds("purge: rows that no branch shows are deleted permanently, and no others")
def test_purging_reasoning_can_be_limited_by_workspace_and_age(timed: ReasoningTools, clock: Clock) -> None:
    leave_behind(timed)
    clock.ms += 3 * 86_400_000
    assert timed.door("branchmind_purge", workspace="elsewhere")["purged"] == 0
    assert timed.door("branchmind_purge", older_than_days=4)["purged"] == 0
    assert timed.door("branchmind_purge", workspace="shop", older_than_days=3)["purged"] == 3
    timed.door.refuses("INVALID_REQUEST", "branchmind_purge", older_than_days=-1)


@holds("purge: rows that no branch shows are deleted permanently, and no others")
def test_purging_reasoning_has_a_dry_run(timed: ReasoningTools) -> None:
    leave_behind(timed)
    answer = timed.door("branchmind_purge", dry_run=True)
    assert (answer["purged"], answer["erased"], answer["dry_run"]) == (3, False, True)
    assert answer["ids"] == ["2", "n", "n|r|m"]
    assert answer["message"] == "Would permanently delete 1 note and 2 nodes and edges"
    assert timed.door("branchmind_purge")["purged"] == 3


@holds("purge: rows that no branch shows are deleted permanently, and no others")
def test_purged_nodes_and_notes_can_be_written_again(timed: ReasoningTools) -> None:
    leave_behind(timed)
    timed.door("branchmind_purge")
    assert timed.note("new") > 2
    timed.apply(node("n", title="new"))
    assert timed.nodes()["n"]["title"] == "new"
    timed.branch("later")
    timed.apply(node("n", title="newer"), branch="later")
    assert timed("graph_merge", from_="later", into="main")["merged"] == 1
