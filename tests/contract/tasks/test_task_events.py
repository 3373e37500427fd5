"""What the documents promise of task events: `tasks_delta`, automatic ingestion into the trace, one transaction."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import Clock, StoreDoor, open_test_store
from contract.tasks.desk import BOTH, Desk, branch_of
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.store import Store
from support.beside import Beside, dump, rows

if TYPE_CHECKING:
    pass

LIFE: list[tuple[str, str, dict[str, Any]]] = [
    ("plan_created", "create", {"kind": "plan", "title": "P"}),
    ("task_created", "create", {"kind": "task", "title": "A", "parent": "PLAN-001", "steps": [{"title": "a"}]}),
    ("task_created", "create", {"kind": "task", "title": "B"}),
    ("task_edited", "edit", {"target": "TASK-001", "description": "secret words", "depends_on": ["TASK-002"]}),
    ("plan_edited", "edit", {"target": "PLAN-001", "contract": {"promise": "secret words"}}),
    ("steps_added", "decompose", {"target": "TASK-001", "steps": [{"title": "b"}, {"title": "c"}]}),
    ("steps_added", "decompose", {"target": "TASK-001", "parent": "s:1", "steps": [{"title": "b.a"}]}),
    ("step_defined", "define", {"target": "TASK-001", "path": "s:2", "tests": ["secret words"]}),
    ("note_added", "note", {"target": "TASK-001", "note": "secret words"}),
    ("note_added", "note", {"target": "TASK-001", "path": "s:0", "note": "secret words"}),
    ("step_verified", "verify", {"target": "TASK-001", "path": "s:0", "checkpoints": {"docs": True}}),
    ("step_blocked", "block", {"target": "TASK-001", "path": "s:0", "reason": "secret words"}),
    ("step_unblocked", "block", {"target": "TASK-001", "path": "s:0", "blocked": False}),
    ("step_done", "done", {"target": "TASK-001", "path": "s:0", "checkpoints": BOTH}),
    ("step_reopened", "reopen", {"target": "TASK-001", "path": "s:0"}),
    ("step_claimed", "claim", {"target": "TASK-001", "path": "s:0", "agent": "me"}),
    ("step_released", "claim", {"target": "TASK-001", "path": "s:0", "agent": "me", "release": True}),
    ("task_claimed", "claim", {"target": "TASK-001", "agent": "me"}),
    ("task_released", "claim", {"agent": "me", "release": True}),
    ("evidence_added", "evidence", {"target": "TASK-001", "texts": ["secret words"]}),
    ("status_changed", "complete", {"target": "TASK-001", "status": "ACTIVE"}),
    ("status_changed", "complete", {"target": "TASK-002"}),
    ("task_reopened", "reopen", {"target": "TASK-002"}),
    ("step_deleted", "delete", {"target": "TASK-001", "path": "s:1"}),
    ("task_deleted", "delete", {"target": "TASK-002"}),
    ("status_changed", "complete", {"target": "PLAN-001", "status": "ACTIVE"}),
]  # fmt: skip
"""One mutation of every kind after the other, with the event it makes."""


@pytest.fixture
def lived(desk: Desk) -> tuple[Desk, list[dict[str, Any]]]:
    """A desk on which every mutation was made, and what each answered."""
    return desk, [desk(tool, **arguments) for _, tool, arguments in LIFE]


def test_every_mutating_tool_is_part_of_the_life_below() -> None:
    family = {tool.name for tool in catalog.operations() if tool.name.startswith("tasks_") and tool.mutates}
    assert family == {f"tasks_{tool}" for _, tool, _ in LIFE} | {"tasks_focus", "tasks_handoff"}
    assert len([tool for tool in catalog.operations() if tool.name.startswith("tasks_")]) == 20


def test_every_mutation_makes_one_event_that_delta_shows_as_it_was_answered(lived: Any) -> None:
    desk, answers = lived
    events = desk.events()
    assert [event["type"] for event in events] == [kind for kind, _, _ in LIFE]
    assert events == [answer["event"] for answer in answers]
    for event, answer in zip(events, answers, strict=True):
        assert set(event) - {"path"} == {"event_id", "ts", "ts_ms", "type", "target", "payload", "by"}
        assert event["target"] == answer["id"]
        assert event.get("path") == answer.get("step", {}).get("path")
        assert isinstance(event["payload"], dict)
        assert len(event["event_id"]) == 26


def test_every_event_is_once_in_the_trace_of_its_target(lived: Any) -> None:
    desk, answers = lived
    events = desk.events()
    for target in {answer["id"] for answer in answers}:
        own = [event for event in events if event["target"] == target]
        entries = desk.trace(target)
        assert [entry["source_event_id"] for entry in entries] == [event["event_id"] for event in own]
        assert {entry["kind"] for entry in entries} == {"event"}
        assert {(entry["branch"], entry["doc"]) for entry in entries} == {(branch_of(target), f"{target}-trace")}
        for entry, event in zip(entries, own, strict=True):
            assert entry["title"] == event["type"]
            assert entry["meta"] == {
                name: event[name] for name in ("type", "target", "path", "payload") if name in event
            }
            assert entry["ts_ms"] == event["ts_ms"]


def test_no_event_and_no_trace_entry_holds_the_text_of_a_note_or_of_evidence(lived: Any) -> None:
    desk, _ = lived
    for (payload,) in rows(desk.door.home, "select payload from events where payload is not null"):
        assert "secret" not in payload
    for target in ("TASK-001", "PLAN-001"):
        assert not any("secret" in str(entry) for entry in desk.trace(target))


def test_a_mutation_writes_one_row_to_the_log_of_events(lived: Any) -> None:
    desk, _ = lived
    tools = [tool for (tool,) in rows(desk.door.home, "select tool from events order by seq")]
    assert tools == [f"tasks_{tool}" for _, tool, _ in LIFE]


def test_status_shows_the_last_task_event(desk: Desk) -> None:
    desk.room("init")
    assert desk.room("status")["last_event"] is None
    event = desk("create", kind="task", title="A")["event"]
    expected = {name: event[name] for name in ("event_id", "ts", "ts_ms")}
    desk.room.note("no task event")
    desk("focus", target="TASK-001")
    desk.room("think_card", target="TASK-001", card="no task event either")
    assert desk.room("status")["last_event"] == expected
    event = desk("note", target="TASK-001", note="n")["event"]
    assert desk.room("status")["last_event"]["event_id"] == event["event_id"]
    assert desk.another("Elsewhere").room("status")["last_event"] is None


def test_delta_begins_after_the_event_it_is_given(desk: Desk) -> None:
    desk.task()
    for number in range(4):
        desk("note", target="TASK-001", note=f"{number}")
    events = desk.events()
    assert len(events) == 5
    for at, event in enumerate(events):
        answer = desk("delta", since=event["event_id"])
        assert set(answer) == {"events", "has_more", "truncated"}
        assert answer == {"events": events[at + 1 :], "has_more": False, "truncated": False}


def test_delta_goes_on_in_pages(desk: Desk) -> None:
    desk.task()
    for number in range(6):
        desk("note", target="TASK-001", note=f"{number}")
    first = desk("delta", limit=3)
    assert (len(first["events"]), first["has_more"]) == (3, True)
    assert desk.events(limit=3) == desk.events(limit=1) == desk.events(limit=7) == desk("delta")["events"]
    assert desk("delta", limit=7)["has_more"] is False
    assert len(desk("delta", limit=10_000)["events"]) == 7


def test_delta_shows_fifty_events_unless_told_otherwise(timed: Desk) -> None:
    timed.task()
    for number in range(51):
        timed("note", target="TASK-001", note=f"{number}")
    answer = timed("delta")
    assert (len(answer["events"]), answer["has_more"]) == (50, True)
    assert len(timed("delta", limit=200)["events"]) == 52


def test_delta_shows_the_events_of_its_workspace_only(desk: Desk) -> None:
    other = desk.another("Other")
    desk.task()
    other.task()
    assert [event["target"] for event in other.events()] == ["TASK-001"]
    assert len(desk.events()) == 1
    desk.misses("delta", since=other.events()[0]["event_id"])
    desk.misses("delta", since="01J9ZK4T9Q3W7X0V5M2N8B6C4D")
    assert desk.another("Empty")("delta") == {"events": [], "has_more": False, "truncated": False}


def test_an_event_of_another_family_is_no_task_event(desk: Desk) -> None:
    desk.task()
    desk.room.note("a note")
    event_ids = [event_id for (event_id,) in rows(desk.door.home, "select event_id from events order by seq")]
    assert len(event_ids) == 2
    assert [event["event_id"] for event in desk.events()] == event_ids[:1]
    desk.misses("delta", since=event_ids[1])


def test_events_stand_in_the_order_in_which_they_happened_also_when_the_clock_steps_back(home: str) -> None:
    clock = Clock()
    with open_test_store(home, clock) as store:
        desk = Desk(StoreDoor(store))
        desk.task()
        for number in range(5):
            clock.advance(-60)
            desk("note", target="TASK-001", note=f"{number}")
        notes = [event["payload"]["seq"] for event in desk.events()[1:]]
        assert notes == sorted(notes)
        assert [entry["seq"] for entry in desk.trace("TASK-001")] == sorted(e["seq"] for e in desk.trace("TASK-001"))


def test_events_are_ordered_by_their_sequence_and_not_by_their_id(home: str) -> None:
    ids = iter(f"{number:026d}" for number in range(1000, 0, -1))
    with Store(load_config(home, cwd="/"), clock_ms=Clock(), id_source=lambda now_ms: next(ids)) as store:
        desk = Desk(StoreDoor(store))
        desk.task()
        for number in range(3):
            desk("note", target="TASK-001", note=f"{number}")
        events = desk.events()
        assert [event["type"] for event in events] == ["task_created", "note_added", "note_added", "note_added"]
        assert desk("delta", since=events[1]["event_id"])["events"] == events[2:]
        last = desk.room("status")["last_event"]
        assert last["event_id"] == events[-1]["event_id"]


def test_an_event_cannot_be_ingested_twice(timed: Desk) -> None:
    timed.task()
    timed("note", target="TASK-001", note="n")
    columns = "branch_id, workspace_norm, doc, written_as, title, content, source_event_id, ts_ms"
    with Beside(timed.door.home) as beside, pytest.raises(Exception, match="source_event_id") as caught:
        beside.run(
            f"insert into doc_entries (seq, {columns}) select seq + 1000, {columns} from doc_entries"
            " where written_as = 'event'"
        )
    assert type(caught.value).__name__ in ("ConstraintError", "UniqueViolation")
    counted = Counter(entry["source_event_id"] for entry in timed.trace("TASK-001"))
    assert set(counted.values()) == {1}


def test_ingesting_an_event_again_adds_nothing(timed: Desk) -> None:
    from moss_memory.storage.call_context import CallContext
    from moss_memory.tools.task.graph_projection import task_document
    from moss_memory.tools.task.model.task_rows import find_task
    from moss_memory.tools.task.task_writes import ingest

    timed.task()
    [event] = timed.events()
    before = timed.trace("TASK-001")
    assert isinstance(timed.door, StoreDoor)
    store = timed.door.store
    call = CallContext(
        operation="test",
        config=store.config,
        clock_ms=Clock(),
        new_id=lambda now_ms: "x",
        cancelled=None,
        progress=None,
    )
    tx = store._engine.begin_write(timeout_s=1.0, call=call)
    try:
        workspace = "Shop"
        trace = task_document(workspace, find_task(tx, workspace, "TASK-001"), "TASK-001-trace")
        said = {name: event[name] for name in ("type", "target", "payload")}
        assert ingest(tx, trace, event["event_id"], said) is False
        assert ingest(tx, trace, "01J9ZK4T9Q3W7X0V5M2N8B6C4D", said) is True
        assert ingest(tx, trace, "01J9ZK4T9Q3W7X0V5M2N8B6C4D", said) is False
        tx.commit()
    finally:
        tx.release()
    after = timed.trace("TASK-001")
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


@pytest.mark.parametrize("table", ["events", "doc_entries", "graph_versions", "tasks", "steps"])
def test_a_mutation_that_fails_in_one_part_leaves_no_part(timed: Desk, table: str) -> None:
    timed.task("A", "a")
    with Beside(timed.door.home) as beside:
        beside.trap("no_insert", f"insert on {table}")
        beside.trap("no_update", f"update on {table}")
    before = dump(timed.door.home)
    for tool, arguments in (
        ("create", {"kind": "task", "title": "B", "steps": [{"title": "b"}]}),
        ("decompose", {"target": "TASK-001", "steps": [{"title": "b"}]}),
        ("done", {"target": "TASK-001", "path": "s:0", "checkpoints": BOTH}),
    ):
        with pytest.raises(MossError):
            timed(tool, **arguments)
        assert dump(timed.door.home) == before, tool
    with Beside(timed.door.home) as beside:
        beside.free("no_insert", "no_update")
    timed.close("TASK-001", "s:0")
    assert timed.task("B") == "TASK-002"
    assert [event["type"] for event in timed.events()] == ["task_created", "step_done", "task_created"]


def test_tasks_write_to_their_own_branch_whatever_is_checked_out(desk: Desk) -> None:
    desk.task("A", "a")
    desk.room.branch("what-if", "task/TASK-001")
    desk.room("checkout", ref="what-if")
    before = desk.room.entries("what-if", "TASK-001-trace")
    desk("note", target="TASK-001", note="n")
    desk.close("TASK-001", "s:0")
    assert desk.room.entries("what-if", "TASK-001-trace") == before
    assert [entry["title"] for entry in desk.trace("TASK-001")] == ["task_created", "note_added", "step_done"]
    assert desk.room.texts("what-if") == []
    assert desk.room.texts("task/TASK-001") == ["n"]
    assert desk.nodes("TASK-001")["step:STEP-001"]["status"] == "done"
    assert desk.room.nodes("what-if", doc="TASK-001-graph")["step:STEP-001"]["status"] == "open"


def test_branching_and_checking_out_change_no_task(desk: Desk) -> None:
    desk.task("A", "a")
    before = desk.radar("TASK-001")
    desk.room.branch("what-if", "task/TASK-001")
    for ref in ("what-if", "task/TASK-001", "main"):
        desk.room("checkout", ref=ref)
        assert desk.radar("TASK-001") == before
