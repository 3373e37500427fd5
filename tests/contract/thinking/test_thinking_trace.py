"""Traces: steps, numbered thoughts, reading and validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import oldest_first
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools


def think(desk: TaskTools, number: int, total: int = 9, *, more: bool = True, **given: Any) -> int:
    """Write a thought and return its seq."""
    answer = desk.room(
        "trace_sequential_step", thought=f"thought {number}", thought_number=number, total_thoughts=total,
        next_thought_needed=more, **given,
    )  # fmt: skip
    seq: int = answer["entry"]["seq"]
    return seq


def wrong(desk: TaskTools, **where: Any) -> list[tuple[str, int]]:
    """Return the codes and seqs of the errors of a trace."""
    answer = desk.room("trace_validate", **where)
    assert answer["ok"] == (answer["errors"] == [])
    return [(error["code"], error["seq"]) for error in answer["errors"]]


@holds("shapes trace_step: an entry with its fields")
def test_a_step_is_an_entry_of_the_trace(desk: TaskTools) -> None:
    answer = desk.room(
        "trace_step", step="Read the log", message="No retries.\nNone.", mode="explore", supports=["h1"], blocks="q1",
        meta={"minutes": 5},
    )  # fmt: skip
    assert set(answer) == {"workspace", "created_workspace", "branch", "doc", "entry"}
    assert (answer["branch"], answer["doc"]) == ("main", "trace")
    entry = answer["entry"]
    assert {"seq", "ts", "ts_ms", "kind", "format", "title", "content", "meta"} <= set(entry)
    assert (entry["kind"], entry["format"]) == ("note", "trace_step")
    assert (entry["title"], entry["content"]) == ("Read the log", "No retries.\nNone.")
    assert entry["meta"] == {"minutes": 5, "mode": "explore", "supports": ["h1"], "blocks": ["q1"]}
    assert desk.room.entries(doc="trace") == [entry]
    plain = desk.room("trace_step", step="Just this")["entry"]
    assert (plain["title"], plain["content"]) == ("Just this", "Just this")
    assert "meta" not in plain


@holds("shapes trace_step: an entry with its fields")
def test_an_empty_step_is_refused(desk: TaskTools) -> None:
    desk.room("init")
    for given in (
        {}, {"step": ""}, {"step": " \n"}, {"step": 5}, {"step": "s", "meta": ["x"]},
        {"step": "x" * 10_001}, {"step": "s", "supports": [5]}, {"step": "s", "mode": "a\nb"},
        {"step": "s", "mesage": "x"},
    ):  # fmt: skip
        desk.room.refuses("INVALID_REQUEST", "trace_step", **given)
    desk.room.refuses("TEXT_TOO_LARGE", "trace_step", step="s", message="x" * 200_001)


@holds("shapes trace_sequential_step: ordering metadata, in the sequential-thinking server's spelling too")
def test_a_numbered_thought_keeps_its_number(desk: TaskTools) -> None:
    answer = desk.room(
        "trace_sequential_step", thought="The proxy retries.", thought_number=2, total_thoughts=5,
        next_thought_needed=True, is_revision=True, revises_thought=1, branch_from_thought=1, branch_id="alt",
        meta={"sure": 0.5},
    )  # fmt: skip
    assert set(answer) == {"workspace", "created_workspace", "branch", "doc", "entry"}
    entry = answer["entry"]
    assert (entry["kind"], entry["format"], entry["content"]) == ("note", "trace_step", "The proxy retries.")
    assert "2" in entry["title"]
    assert "5" in entry["title"]
    assert entry["meta"] == {
        "thought_number": 2, "total_thoughts": 5, "next_thought_needed": True, "is_revision": True,
        "revises_thought": 1, "branch_from_thought": 1, "branch_id": "alt", "sure": 0.5,
    }  # fmt: skip


@holds("shapes trace_sequential_step: ordering metadata, in the sequential-thinking server's spelling too")
def test_the_argument_names_of_the_sequential_thinking_server_are_accepted(desk: TaskTools) -> None:
    snake = desk.room(
        "trace_sequential_step", thought="T", thought_number=2, total_thoughts=5, next_thought_needed=False,
        is_revision=True, revises_thought=1, branch_from_thought=1, branch_id="alt",
    )["entry"]  # fmt: skip
    camel = desk.room(
        "trace_sequential_step", thought="T", thoughtNumber=2, totalThoughts=5, nextThoughtNeeded=False,
        isRevision=True, revisesThought=1, branchFromThought=1, branchId="alt",
    )["entry"]  # fmt: skip
    assert {**camel, "seq": 0, "ts": 0, "ts_ms": 0} == {**snake, "seq": 0, "ts": 0, "ts_ms": 0}
    desk.room.refuses(
        "INVALID_REQUEST", "trace_sequential_step", thought="T", thoughtNumber=1, thought_number=1, total_thoughts=1,
        next_thought_needed=False,
    )  # fmt: skip


@holds("shapes trace_sequential_step: ordering metadata, in the sequential-thinking server's spelling too")
def test_a_thought_requires_its_numbers(desk: TaskTools) -> None:
    desk.room("init")
    full: dict[str, Any] = {"thought": "T", "thought_number": 1, "total_thoughts": 1, "next_thought_needed": False}
    for name in full:
        desk.room.refuses("INVALID_REQUEST", "trace_sequential_step", **{**full, name: None})
    for bad in (
        {"thought": " "}, {"thought_number": 0}, {"thought_number": "1"}, {"total_thoughts": -1},
        {"thought_number": 1.5}, {"next_thought_needed": "no"}, {"revises_thought": 0}, {"is_revision": "yes"},
        {"branch_from_thought": 0},
    ):  # fmt: skip
        desk.room.refuses("INVALID_REQUEST", "trace_sequential_step", **{**full, **bad})


@holds("4 trace_hydrate: a bounded slice")
def test_a_trace_is_read_in_pages_oldest_first(desk: TaskTools) -> None:
    for number in range(7):
        desk.room("trace_step", step=f"step {number}")
    answer = desk.room("trace_hydrate", limit=3)
    assert set(answer) == {"branch", "doc", "entries", "pagination", "truncated"}
    assert (answer["branch"], answer["doc"], answer["truncated"]) == ("main", "trace", False)
    assert [entry["title"] for entry in answer["entries"]] == ["step 4", "step 5", "step 6"]
    assert answer["pagination"] == {
        "cursor": None, "next_cursor": answer["entries"][0]["seq"], "has_more": True, "limit": 3, "count": 3,
    }  # fmt: skip
    found = oldest_first(desk.room, "trace_hydrate", "entries", limit=3)
    assert found == desk.room.entries(doc="trace")
    assert desk.room("trace_hydrate", limit=10_000)["pagination"]["limit"] == 200
    assert desk.room("trace_hydrate")["pagination"]["limit"] == 50
    for wrong in ({"limit": 0}, {"cursor": -1}):
        desk.room.refuses("INVALID_REQUEST", "trace_hydrate", **wrong)


@holds("4 trace tools: target or explicit ref and doc")
def test_traces_are_written_to_and_read_from_the_given_branch_and_document(desk: TaskTools) -> None:
    desk.task()
    desk.room.branch("b")
    assert desk.room("trace_step", step="s", ref="b", doc="mine")["branch"] == "b"
    think(desk, 1, branch="b", doc="mine")
    for spelled in ({"ref": "b"}, {"branch": "b"}):
        assert len(desk.room("trace_hydrate", **spelled, doc="mine")["entries"]) == 2
        assert desk.room("trace_validate", **spelled, doc="mine")["checked"] == 2
    answer = desk.room("trace_step", step="about the task", target="TASK-001")
    assert (answer["branch"], answer["doc"]) == ("task/TASK-001", "TASK-001-trace")
    think(desk, 1, target="TASK-001")
    shown = desk.room("trace_hydrate", target="TASK-001")
    assert (shown["branch"], shown["doc"]) == ("task/TASK-001", "TASK-001-trace")
    assert [entry["kind"] for entry in shown["entries"]] == ["event", "note", "note"]
    assert desk.room("trace_validate", target="TASK-001")["checked"] == 2
    assert desk.room("trace_hydrate")["entries"] == []
    for tool in ("trace_hydrate", "trace_validate"):
        desk.room.misses(tool, doc="never written")
        desk.room.misses(tool, ref="typo")
    desk.room.misses("trace_step", step="s", ref="typo")
    desk.room.refuses("INVALID_REQUEST", "trace_step", step="s", ref="b", branch="b")


@holds("4 trace tools: target or explicit ref and doc")
def test_a_derived_branch_continues_the_thoughts_of_its_base(desk: TaskTools) -> None:
    think(desk, 1)
    think(desk, 2)
    desk.room.branch("b")
    think(desk, 3)
    think(desk, 3, ref="b")
    assert [entry["content"] for entry in desk.room("trace_hydrate", ref="b")["entries"]] == [
        "thought 1", "thought 2", "thought 3",
    ]  # fmt: skip
    assert wrong(desk) == wrong(desk, ref="b") == []


@holds("decisions §3 trace_validate: steps count up without gaps or repeats")
def test_a_trace_in_order_has_no_errors(desk: TaskTools) -> None:
    desk.room("init")
    answer = desk.room("trace_validate")
    assert answer == {"branch": "main", "doc": "trace", "ok": True, "checked": 0, "errors": [], "truncated": False}
    for number in range(1, 5):
        think(desk, number)
        desk.room("trace_step", step="in between")
    think(desk, 5, more=False)
    answer = desk.room("trace_validate")
    assert (answer["ok"], answer["checked"], answer["errors"]) == (True, 9, [])


@holds("decisions §3 trace_validate: steps count up without gaps or repeats")
def test_gaps_and_repeated_numbers_are_located(desk: TaskTools) -> None:
    think(desk, 1)
    gap = think(desk, 3)
    think(desk, 4)
    repeat = think(desk, 3)
    think(desk, 5)
    answer = desk.room("trace_validate")
    assert answer["ok"] is False
    for error in answer["errors"]:
        assert set(error) == {"code", "seq", "message"}
        assert error["message"].strip()
    assert wrong(desk) == [("GAP", gap), ("REPEAT", repeat)]


@holds("decisions §3 trace_validate: steps count up without gaps or repeats")
def test_thoughts_start_with_number_one(desk: TaskTools) -> None:
    first = think(desk, 2)
    assert wrong(desk) == [("GAP", first)]


@holds("decisions §3 trace_validate: revisions point to an earlier step; shapes trace: they take the next number")
def test_a_revision_takes_the_next_number_and_refers_to_an_earlier_thought(desk: TaskTools) -> None:
    think(desk, 1)
    think(desk, 2)
    think(desk, 3, is_revision=True, revises_thought=1)
    assert wrong(desk) == []
    itself = think(desk, 4, is_revision=True, revises_thought=4)
    later = think(desk, 5, is_revision=True, revises_thought=9)
    nothing = think(desk, 6, is_revision=True)
    assert wrong(desk) == [("BAD_REVISION", itself), ("BAD_REVISION", later), ("BAD_REVISION", nothing)]
    same = think(desk, 1, is_revision=True, revises_thought=1)
    assert ("REPEAT", same) in wrong(desk)


@holds("shapes trace_validate: other entries are ignored")
def test_other_entries_are_ignored(desk: TaskTools) -> None:
    think(desk, 1)
    desk.room.note("a note", doc="trace", meta={"thought_number": 7, "total_thoughts": 9})
    desk.room("think_card", card={"title": "T", "thought_number": 8})
    think(desk, 2)
    answer = desk.room("trace_validate")
    assert (answer["ok"], answer["checked"]) == (True, 2)


@holds("decisions §3 trace_validate: steps count up without gaps or repeats")
def test_a_finished_series_of_thoughts_can_be_followed_by_a_new_one(desk: TaskTools) -> None:
    think(desk, 1)
    think(desk, 2, more=False)
    think(desk, 1)
    think(desk, 2, more=False)
    assert wrong(desk) == []
    think(desk, 1)
    unfinished = think(desk, 1)
    assert wrong(desk) == [("REPEAT", unfinished)]


@holds("decisions §3 trace_validate: steps count up without gaps or repeats")
def test_a_branch_of_thought_is_numbered_separately(desk: TaskTools) -> None:
    for number in (1, 2, 3):
        think(desk, number)
    think(desk, 3, branch_from_thought=2, branch_id="alt")
    think(desk, 4, branch_from_thought=2, branch_id="alt")
    think(desk, 4)
    assert wrong(desk) == []
    gap = think(desk, 6, branch_id="alt")
    repeat = think(desk, 4, branch_id="alt")
    assert wrong(desk) == [("GAP", gap), ("REPEAT", repeat)]
    think(desk, 5)
    assert wrong(desk) == [("GAP", gap), ("REPEAT", repeat)]


@holds("decisions §3 trace_validate: revisions point to an earlier step; shapes trace: they take the next number")
def test_a_branch_of_thought_can_revise_the_thought_it_branched_from(desk: TaskTools) -> None:
    for number in (1, 2, 3):
        think(desk, number)
    think(desk, 3, branch_from_thought=2, branch_id="alt", is_revision=True, revises_thought=1)
    assert wrong(desk) == []


@holds("decisions §3 trace_validate: steps count up without gaps or repeats")
def test_a_branch_from_an_unknown_thought_is_a_gap(desk: TaskTools) -> None:
    think(desk, 1)
    gap = think(desk, 10, branch_from_thought=9, branch_id="alt")
    assert wrong(desk) == [("GAP", gap)]


@holds("4 trace_validate: required fields")
def test_a_step_with_incomplete_numbers_has_a_missing_field(desk: TaskTools) -> None:
    missing = desk.room("trace_step", step="s", meta={"thought_number": 1})["entry"]["seq"]
    assert wrong(desk) == [("MISSING_FIELD", missing)]
    assert desk.room("trace_validate")["checked"] == 1


@holds("decisions §3 trace_validate: steps count up without gaps or repeats")
@pytest.mark.parametrize(("number", "total"), [(3, 2), (1, 1)])
def test_more_thoughts_than_planned_are_in_order(desk: TaskTools, number: int, total: int) -> None:
    for at in range(1, number + 1):
        think(desk, at, total)
    assert wrong(desk) == []
