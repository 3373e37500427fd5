"""Laws of task events, their traces and thinking cards: each is recorded once."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.doors import Clock, outcome
from moss_memory.errors import MossError
from moss_memory.storage.call import CallContext, IdSource
from moss_memory.tools.reasoning.branches.document_refs import DocumentRef, find_branch
from moss_memory.tools.task.task_mutation import append_event
from property.card_model import TYPES, Card, forms_of
from property.task_model import check_consistency, every_event, graph_of, home_of, trace_of
from support.direct_store import dump

if TYPE_CHECKING:
    from moss_memory.store import Store

EVENT_TYPES = {
    "plan_created", "task_created", "plan_edited", "task_edited", "steps_added", "step_defined", "note_added",
    "step_verified", "step_done", "step_reopened", "task_reopened", "plan_reopened", "step_blocked", "step_unblocked",
    "status_changed", "evidence_added", "step_deleted", "task_deleted", "plan_deleted",
}  # fmt: skip
CONFIRMED = {"criteria": True, "tests": True}
CARDS = st.builds(
    Card,
    type=st.sampled_from(TYPES),
    title=st.sampled_from([None, "Why is it slow", "caf\u00e9: a title"]),
    text=st.sampled_from(["It was seen twice", "On two lines:\nthe second has no key", "http://example.org"]),
    status=st.sampled_from(["open", "closed"]),
    tags=st.sampled_from([(), ("cache",), ("cache", "slow")]),
    meta=st.sampled_from([(), (("owner", "ann"),), (("owner", "ann"), ("see-also", "the log"))]),
)
numbers = itertools.count()


def ask(store: Store, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, by default in the workspace `w`; `source` stands for the argument `from`."""
    named = {{"source": "from"}.get(name, name): value for name, value in arguments.items()}
    return store.call(tool, {"workspace": "w", **named})


def make_every_event(store: Store, clock: Clock) -> None:
    """Make every kind of event on plans, tasks and steps, some of them deleted later."""
    ask(store, "tasks_create", kind="plan", title="The plan", steps=[{"title": "agree"}])
    for number in range(3):
        steps = [{"title": "write"}, {"title": "test"}]
        ask(store, "tasks_create", kind="task", title=f"Task {number}", parent="PLAN-001", steps=steps)
    ask(store, "tasks_create", kind="plan", title="The other plan")
    ask(store, "tasks_create", kind="task", title="Soon gone", parent="PLAN-002")
    ask(store, "tasks_edit", target="PLAN-001", title="The better plan", depends_on="PLAN-002")
    ask(store, "tasks_edit", target="TASK-001", depends_on=["TASK-002", "TASK-004"])
    clock.ms -= 5000
    here = {"target": "TASK-001", "path": "s:0"}
    ask(store, "tasks_decompose", target="TASK-001", parent="s:0", steps=[{"title": "below"}])
    ask(store, "tasks_define", **here, title="write it", tests="pytest")
    for target in (here, {"target": "PLAN-001"}):
        ask(store, "tasks_note", **target, note="a word")
        ask(store, "tasks_evidence", **target, links=["http://example.org"])
    ask(store, "tasks_block", **here, reason="waiting")
    ask(store, "tasks_block", **here, blocked=False)
    ask(store, "tasks_verify", target="TASK-001", path="s:0.s:0", checkpoints=CONFIRMED)
    for path in ("s:0.s:0", "s:0", "s:1"):
        ask(store, "tasks_done", target="TASK-001", path=path, checkpoints=CONFIRMED)
    ask(store, "tasks_complete", target="TASK-001")
    ask(store, "tasks_reopen", target="TASK-001")
    ask(store, "tasks_reopen", target="TASK-001", path="s:0.s:0")
    ask(store, "tasks_delete", **here)
    ask(store, "tasks_delete", target="TASK-002")
    ask(store, "tasks_delete", target="PLAN-002")
    ask(store, "tasks_create", kind="plan", title="Closed at once")
    ask(store, "tasks_complete", target="PLAN-003")
    ask(store, "tasks_reopen", target="PLAN-003")
    assert {event["type"] for event in every_event(store, "w")} == EVENT_TYPES


@contextmanager
def writing(store: Store) -> Iterator[Any]:
    """Start a write transaction of the store's engine and commit it."""
    engine: Any = store._engine
    call = CallContext(
        operation="test", config=store.config, clock_ms=Clock(), new_id=IdSource(), cancelled=None, progress=None
    )
    tx = engine.write_transaction(timeout_s=1.0, call=call)
    try:
        yield tx
        tx.commit()
    except BaseException:
        tx.rollback()
        raise
    finally:
        tx.release()


# Events


def test_every_kind_of_event_is_once_in_the_trace_of_its_target(store: Store, clock: Clock) -> None:
    make_every_event(store, clock)
    check_consistency(store, "w")


def test_appending_any_event_again_adds_nothing(store: Store, clock: Clock) -> None:
    make_every_event(store, clock)
    events = every_event(store, "w")
    before = dump(store.config.home)
    workspace = "w"
    for _ in range(2):
        with writing(store) as tx:
            for event in [*events, *events[::-1]]:
                target = event["target"]
                trace = DocumentRef(workspace, find_branch(tx, workspace, home_of(target)), f"{target}-trace")
                said = {name: value for name, value in event.items() if name not in ("event_id", "ts", "ts_ms")}
                assert not append_event(tx, trace, event["event_id"], said), f"{event} was told twice"
    assert dump(store.config.home) == before


def test_a_new_event_is_appended_once(store: Store, clock: Clock) -> None:
    make_every_event(store, clock)
    before = trace_of(store, "w", "TASK-001")
    said = {"type": "note_added", "target": "TASK-001", "payload": {}}
    workspace = "w"
    new = []
    for _ in range(3):
        with writing(store) as tx:
            trace = DocumentRef(workspace, find_branch(tx, workspace, "task/TASK-001"), "TASK-001-trace")
            new += [
                append_event(tx, trace, event_id, said)
                for event_id in ("from elsewhere", "from afar", "from elsewhere")
            ]
    assert new == [True, True, *[False] * 7]
    told = [event["event_id"] for _, event in trace_of(store, "w", "TASK-001")[len(before) :]]
    assert told == ["from elsewhere", "from afar"]


def test_tasks_write_to_their_own_branch_and_derived_branches_keep_their_snapshot(store: Store, clock: Clock) -> None:
    make_every_event(store, clock)
    ask(store, "branchmind_branch_create", name="what-if", source="task/TASK-001")
    ask(store, "branchmind_checkout", ref="what-if")

    def seen() -> list[Any]:
        trace = ask(store, "branchmind_show", branch="what-if", doc="TASK-001-trace", limit=200)
        graph = ask(store, "branchmind_graph_query", branch="what-if", doc="TASK-001-graph", limit=200)
        return [trace["entries"], graph["nodes"], graph["edges"]]

    before = seen()
    ask(store, "tasks_edit", target="TASK-001", title="Another title", depends_on=["TASK-003"])
    ask(store, "tasks_note", target="TASK-001", note="a word")
    ask(store, "tasks_complete", target="TASK-001", status="TODO")
    assert seen() == before
    check_consistency(store, "w")
    ask(store, "tasks_delete", target="TASK-001")
    assert seen() == before
    assert graph_of(store, "w", "TASK-001") == {}


# Deltas


def size_of(result: dict[str, Any]) -> dict[str, int]:
    """Return the size of a result in each of the three units."""
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    return {"max_chars": len(text), "max_bytes": len(text.encode()), "max_lines": lines_in(result)}


def lines_in(value: Any) -> int:
    if isinstance(value, list):
        return len(value) + sum(map(lines_in, value))
    if isinstance(value, dict):
        return sum(map(lines_in, value.values()))
    return value.count("\n") if isinstance(value, str) else 0


def write_one(store: Store, clock: Clock, number: int) -> None:
    """Write one more event; some are long, some have many parts, and the clock may step back."""
    clock.ms += -700 if number % 3 else 900
    if number % 4 == 0:
        ask(store, "tasks_create", kind="plan", title="\U0001f33f" * 1000)
    elif number % 4 == 1:
        steps = [{"title": f"step {one}"} for one in range(150)]
        ask(store, "tasks_decompose", target="PLAN-001", steps=steps)
    elif number % 4 == 2:
        ask(store, "tasks_note", target="PLAN-001", note=f"note {number}")
    else:
        ask(store, "tasks_delete", target="PLAN-001", path=f"s:{number}")


@pytest.mark.parametrize("limit", [1, 3, 200])
@pytest.mark.parametrize(
    "budget",
    [{}, {"max_chars": 500}, {"max_bytes": 500}, {"max_lines": 10}, {"max_chars": 2000, "max_lines": 30}],
    ids=str,
)
def test_deltas_return_every_event_once_during_concurrent_writes(
    store: Store, clock: Clock, limit: int, budget: dict[str, int]
) -> None:
    for number in range(16):
        write_one(store, clock, number)
    seen: list[str] = []
    pages = 0
    more = True
    while more:
        since = {"since": seen[-1]} if seen else {}
        page = ask(store, "tasks_delta", limit=limit, **since, **budget)
        whole = ask(store, "tasks_delta", limit=limit, **since)
        size = size_of(page)
        assert all(size[name] <= most for name, most in budget.items()), size
        assert page["truncated"] == (page["events"] != whole["events"]), "something was left out in silence"
        assert page["has_more"] == (whole["has_more"] or len(page["events"]) < len(whole["events"]))
        assert page["events"] or not whole["events"], "paging does not go on"
        seen += [event["event_id"] for event in page["events"]]
        more = page["has_more"] or pages < 8
        pages += 1
        if pages <= 8:
            write_one(store, clock, 15 + pages)
    every = [event["event_id"] for event in every_event(store, "w")]
    assert seen == every[: len(seen)]
    last = {"since": seen[-1]}
    assert [event["event_id"] for event in ask(store, "tasks_delta", **last)["events"]] == every[len(seen) :]
    assert len(every) == 24


# Cards


def without_events(home: str) -> dict[str, list[Any]]:
    return {table: rows for table, rows in dump(home).items() if table != "events"}


@settings(max_examples=25)
@given(card=CARDS, data=st.data())
def test_a_card_in_another_form_or_on_a_branch_that_shows_it_changes_nothing(
    store: Store, card: Card, data: st.DataObject
) -> None:
    workspace = f"w{next(numbers)}"
    here: dict[str, Any] = {"workspace": workspace, "supports": ["X", "Y"], "blocks": "Z"}
    forms = forms_of(card, "the card")
    for linked in "XYZ":
        ask(
            store,
            "branchmind_think_card",
            workspace=workspace,
            card={"id": linked, "title": linked, "type": "question"},
        )
    first = data.draw(st.sampled_from(list(forms)))
    assert ask(store, "branchmind_think_card", card=forms[first], **here)["inserted"]
    settle = data.draw(st.sampled_from(["nothing", "status", "pin", "link", "merge"]))
    if settle == "status":
        ask(store, "branchmind_think_set_status", workspace=workspace, ids="the card", status="rejected")
    elif settle == "pin":
        ask(store, "branchmind_think_pin", workspace=workspace, ids="the card")
    elif settle == "link":
        ask(store, "branchmind_think_link", workspace=workspace, source="X", rel="supports", to="the card")
    elif settle == "merge":
        ask(store, "branchmind_think_card", workspace=workspace, card=forms_of(card, "twin")["object"])
        assert ask(store, "branchmind_think_nominal_merge", workspace=workspace)["groups"][0]["merged"] == ["twin"]
        forms |= {f"{name} of the twin": form for name, form in forms_of(card, "twin").items()}
    ask(store, "branchmind_branch_create", workspace=workspace, name="what-if", source="main")
    ask(store, "branchmind_branch_create", workspace=workspace, name="deeper", source="what-if")
    before = without_events(store.config.home)
    for name, form in forms.items():
        for branch in ("main", "what-if", "deeper"):
            twin = name.endswith("twin")
            links = {"workspace": workspace} if twin else here
            again = ask(store, "branchmind_think_card", card=form, branch=branch, **links)
            assert (again["inserted"], again["card_id"]) == (False, "twin" if twin else "the card"), name
            assert again["graph_applied"] == {"nodes_upserted": 0, "edges_upserted": 0}
            assert "last_seq" not in again
    assert without_events(store.config.home) == before


@pytest.mark.parametrize(
    "other",
    [{"title": "another"}, {"text": "another"}, {"text": "A"}, {"type": "test"}, {"status": "closed"},
     {"tags": ["new"]}, {"meta": {"new": 1}}, {"new": 1}],
    ids=str,
)  # fmt: skip
def test_the_same_id_with_different_content_is_a_conflict(store: Store, other: dict[str, Any]) -> None:
    card = {"id": "card", "title": "A", "type": "question"}
    assert ask(store, "branchmind_think_card", card=card)["inserted"]
    before = dump(store.config.home)
    refused = outcome(store, "branchmind_think_card", {"workspace": "w", "card": {**card, **other}})
    assert isinstance(refused, MossError), refused
    assert refused.code == "CONFLICT"
    assert dump(store.config.home) == before


@pytest.mark.parametrize("status", [None, "closed"])
def test_repeating_a_merged_card_changes_nothing(store: Store, status: str | None) -> None:
    card = {"id": "card", "title": "A", "type": "question"}
    ask(store, "branchmind_init")
    ask(store, "branchmind_branch_create", name="what-if")
    ask(store, "branchmind_think_card", card=card, branch="what-if")
    for tool, doc in (("merge", "trace"), ("graph_merge", "graph")):
        assert ask(store, f"branchmind_{tool}", source="what-if", into="main", doc=doc)["merged"] == 1
    if status is not None:
        ask(store, "branchmind_think_set_status", ids="card", status=status, ref="main")
    before = without_events(store.config.home)
    assert not ask(store, "branchmind_think_card", card=card, branch="main")["inserted"]
    assert without_events(store.config.home) == before
