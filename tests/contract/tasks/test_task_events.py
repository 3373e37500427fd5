"""Task events: `tasks_delta`, ingestion into the trace, and atomicity."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import Clock, StoreDoor, open_test_store
from contract.tasks.task_tools import BOTH, TaskTools, branch_of
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.store import Store
from support.direct_store import DirectStore, dump, rows
from support.promises import holds

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
"""One mutation of each kind, in order, with the type of its event."""


@pytest.fixture
def mutated(desk: TaskTools) -> tuple[TaskTools, list[dict[str, Any]]]:
    """Run every mutation and return the workspace with the answers."""
    return desk, [desk(tool, **arguments) for _, tool, arguments in LIFE]


@holds("decisions §4 and §7: the family has twenty tools, and every mutation among them makes an event")
def test_every_mutating_tool_is_in_the_list_of_mutations() -> None:
    family = {tool.name for tool in catalog.operations() if tool.name.startswith("tasks_") and tool.mutates}
    assert family == {f"tasks_{tool}" for _, tool, _ in LIFE} | {"tasks_focus", "tasks_handoff"}
    assert len([tool for tool in catalog.operations() if tool.name.startswith("tasks_")]) == 20


@holds("decisions §4 delta: events since an event_id, with the promised fields")
def test_every_mutation_makes_one_event_that_delta_returns_unchanged(mutated: Any) -> None:
    desk, answers = mutated
    events = desk.events()
    assert [event["type"] for event in events] == [kind for kind, _, _ in LIFE]
    assert events == [answer["event"] for answer in answers]
    for event, answer in zip(events, answers, strict=True):
        assert set(event) - {"path"} == {"event_id", "ts", "ts_ms", "type", "target", "payload", "by"}
        assert event["target"] == answer["id"]
        assert event.get("path") == answer.get("step", {}).get("path")
        assert isinstance(event["payload"], dict)
        assert len(event["event_id"]) == 26


@holds("4 automatic ingestion: every mutation is in the trace of its entity with the same event_id")
def test_every_event_is_once_in_the_trace_of_its_target(mutated: Any) -> None:
    desk, answers = mutated
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


@holds("decisions §0: no event holds the text of a note")
def test_events_and_trace_entries_never_contain_the_text_of_a_note_or_of_evidence(mutated: Any) -> None:
    desk, _ = mutated
    for (payload,) in rows(desk.door.home, "select payload from events where payload is not null"):
        assert "secret" not in payload
    for target in ("TASK-001", "PLAN-001"):
        assert not any("secret" in str(entry) for entry in desk.trace(target))


@holds("decisions §4 delta: events since an event_id, with the promised fields")
def test_a_mutation_writes_one_row_to_the_log_of_events(mutated: Any) -> None:
    desk, _ = mutated
    tools = [tool for (tool,) in rows(desk.door.home, "select tool from events order by seq")]
    assert tools == [f"tasks_{tool}" for _, tool, _ in LIFE]


@holds("decisions §0: tasks_delta and last_event show task events, ordered by seq and not by id")
def test_status_shows_the_last_task_event(desk: TaskTools) -> None:
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


@holds("shapes tasks delta: exclusive, oldest first, without since from the beginning")
def test_delta_starts_after_the_given_event(desk: TaskTools) -> None:
    desk.task()
    for number in range(4):
        desk("note", target="TASK-001", note=f"{number}")
    events = desk.events()
    assert len(events) == 5
    for at, event in enumerate(events):
        answer = desk("delta", since=event["event_id"])
        assert set(answer) == {"events", "has_more", "truncated"}
        assert answer == {"events": events[at + 1 :], "has_more": False, "truncated": False}


@holds("shapes tasks delta: exclusive, oldest first, without since from the beginning")
def test_delta_returns_events_in_pages(desk: TaskTools) -> None:
    desk.task()
    for number in range(6):
        desk("note", target="TASK-001", note=f"{number}")
    first = desk("delta", limit=3)
    assert (len(first["events"]), first["has_more"]) == (3, True)
    assert desk.events(limit=3) == desk.events(limit=1) == desk.events(limit=7) == desk("delta")["events"]
    assert desk("delta", limit=7)["has_more"] is False
    assert len(desk("delta", limit=10_000)["events"]) == 7


@holds("shapes tasks delta: exclusive, oldest first, without since from the beginning")
def test_delta_returns_fifty_events_by_default(timed: TaskTools) -> None:
    timed.task()
    for number in range(51):
        timed("note", target="TASK-001", note=f"{number}")
    answer = timed("delta")
    assert (len(answer["events"]), answer["has_more"]) == (50, True)
    assert len(timed("delta", limit=200)["events"]) == 52


@holds("shapes tasks delta: exclusive, oldest first, without since from the beginning")
def test_delta_returns_only_the_events_of_its_workspace(desk: TaskTools) -> None:
    other = desk.another("Other")
    desk.task()
    other.task()
    assert [event["target"] for event in other.events()] == ["TASK-001"]
    assert len(desk.events()) == 1
    desk.misses("delta", since=other.events()[0]["event_id"])
    desk.misses("delta", since="01J9ZK4T9Q3W7X0V5M2N8B6C4D")
    assert desk.another("Empty")("delta") == {"events": [], "has_more": False, "truncated": False}


@holds("decisions §0: tasks_delta and last_event show task events, ordered by seq and not by id")
def test_an_event_of_another_family_is_not_a_task_event(desk: TaskTools) -> None:
    desk.task()
    desk.room.note("a note")
    event_ids = [event_id for (event_id,) in rows(desk.door.home, "select event_id from events order by seq")]
    assert len(event_ids) == 2
    assert [event["event_id"] for event in desk.events()] == event_ids[:1]
    desk.misses("delta", since=event_ids[1])


@holds("decisions §0: tasks_delta and last_event show task events, ordered by seq and not by id")
def test_events_are_in_order_of_occurrence_if_the_clock_steps_back(home: str) -> None:
    clock = Clock()
    with open_test_store(home, clock) as store:
        desk = TaskTools(StoreDoor(store))
        desk.task()
        for number in range(5):
            clock.advance(-60)
            desk("note", target="TASK-001", note=f"{number}")
        notes = [event["payload"]["seq"] for event in desk.events()[1:]]
        assert notes == sorted(notes)
        assert [entry["seq"] for entry in desk.trace("TASK-001")] == sorted(e["seq"] for e in desk.trace("TASK-001"))


@holds("decisions §0: tasks_delta and last_event show task events, ordered by seq and not by id")
def test_events_are_ordered_by_their_sequence_and_not_by_their_id(home: str) -> None:
    ids = iter(f"{number:026d}" for number in range(1000, 0, -1))
    with Store(load_config(home, cwd="/"), clock_ms=Clock(), id_source=lambda now_ms: next(ids)) as store:
        desk = TaskTools(StoreDoor(store))
        desk.task()
        for number in range(3):
            desk("note", target="TASK-001", note=f"{number}")
        events = desk.events()
        assert [event["type"] for event in events] == ["task_created", "note_added", "note_added", "note_added"]
        assert desk("delta", since=events[1]["event_id"])["events"] == events[2:]
        last = desk.room("status")["last_event"]
        assert last["event_id"] == events[-1]["event_id"]


@holds("4 automatic ingestion: ingesting the same event_id twice creates no duplicate")
def test_an_event_cannot_be_ingested_twice(timed: TaskTools) -> None:
    timed.task()
    timed("note", target="TASK-001", note="n")
    columns = "branch_id, workspace_norm, doc, written_as, title, content, source_event_id, ts_ms"
    with DirectStore(timed.door.home) as direct, pytest.raises(Exception, match="source_event_id") as caught:
        direct.run(
            f"insert into doc_entries (seq, {columns}) select seq + 1000, {columns} from doc_entries"
            " where written_as = 'event'"
        )
    assert type(caught.value).__name__ in ("ConstraintError", "UniqueViolation")
    counted = Counter(entry["source_event_id"] for entry in timed.trace("TASK-001"))
    assert set(counted.values()) == {1}


@holds("4 automatic ingestion: ingesting the same event_id twice creates no duplicate")
def test_ingesting_an_event_again_adds_nothing(timed: TaskTools) -> None:
    from moss_memory.storage.call import CallContext
    from moss_memory.tools.task.graph_projection import task_document
    from moss_memory.tools.task.model.task_rows import find_task
    from moss_memory.tools.task.task_mutation import append_event

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
    tx = store._engine.write_transaction(timeout_s=1.0, call=call)
    try:
        workspace = "Shop"
        trace = task_document(workspace, find_task(tx, workspace, "TASK-001"), "TASK-001-trace")
        said = {name: event[name] for name in ("type", "target", "payload")}
        assert append_event(tx, trace, event["event_id"], said) is False
        assert append_event(tx, trace, "01J9ZK4T9Q3W7X0V5M2N8B6C4D", said) is True
        assert append_event(tx, trace, "01J9ZK4T9Q3W7X0V5M2N8B6C4D", said) is False
        tx.commit()
    finally:
        tx.release()
    after = timed.trace("TASK-001")
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


@holds("decisions §4: state, event, trace entry and graph are written in one transaction")
@pytest.mark.parametrize("table", ["events", "doc_entries", "graph_versions", "tasks", "steps"])
def test_a_mutation_that_fails_in_one_part_changes_nothing(timed: TaskTools, table: str) -> None:
    timed.task("A", "a")
    with DirectStore(timed.door.home) as direct:
        direct.trap("no_insert", f"insert on {table}")
        direct.trap("no_update", f"update on {table}")
    before = dump(timed.door.home)
    for tool, arguments in (
        ("create", {"kind": "task", "title": "B", "steps": [{"title": "b"}]}),
        ("decompose", {"target": "TASK-001", "steps": [{"title": "b"}]}),
        ("done", {"target": "TASK-001", "path": "s:0", "checkpoints": BOTH}),
    ):
        with pytest.raises(MossError):
            timed(tool, **arguments)
        assert dump(timed.door.home) == before, tool
    with DirectStore(timed.door.home) as direct:
        direct.free("no_insert", "no_update")
    timed.close("TASK-001", "s:0")
    assert timed.task("B") == "TASK-002"
    assert [event["type"] for event in timed.events()] == ["task_created", "step_done", "task_created"]


@holds("4 branching: tasks ingest into the canonical branch; branching and checkout do not touch tasks")
def test_tasks_write_to_their_own_branch_whichever_branch_is_checked_out(desk: TaskTools) -> None:
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


@holds("4 branching: tasks ingest into the canonical branch; branching and checkout do not touch tasks")
def test_creating_and_checking_out_branches_change_no_task(desk: TaskTools) -> None:
    desk.task("A", "a")
    before = desk.radar("TASK-001")
    desk.room.branch("what-if", "task/TASK-001")
    for ref in ("what-if", "task/TASK-001", "main"):
        desk.room("checkout", ref=ref)
        assert desk.radar("TASK-001") == before
