"""Bounded reads: a default budget for answers, and pages of whole items that end early."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import StoreDoor, open_test_store
from contract.reasoning.reasoning_tools import ReasoningTools, edge, node
from contract.reasoning.samples import WORKSPACE, furnish, sample_arguments
from moss_memory.registry import catalog
from moss_memory.registry.budget import USUAL_MAX_CHARS
from support.promises import holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Clock
    from moss_memory.registry.operation import Operation
    from moss_memory.store import Store

HUGE = "a long thought, said at length\n" * 400
BOUNDED = [operation for operation in catalog.operations() if operation.budget_of is not None]
LONG = {
    "branchmind_branch_list", "branchmind_show", "branchmind_export", "branchmind_diff", "branchmind_log",
    "branchmind_docs_list", "branchmind_tag_list", "branchmind_graph_query", "branchmind_graph_diff",
    "branchmind_graph_validate", "branchmind_think_context", "branchmind_think_query", "branchmind_think_pins",
    "branchmind_think_pack", "branchmind_think_watch", "branchmind_context_pack", "branchmind_trace_hydrate",
    "tasks_show", "tasks_handoff",
}  # fmt: skip
"""Reads that can exceed their default budget; the answers of all other reads are short."""
PAGE_CHARS = 20_000
PAGES = {
    "artifact_list": ("items", "id"),
    "retrieve_records": ("records", "id"),
    "retrieve_entities": ("entities", "entity_id"),
    "list_timeline_events": ("events", "event_id"),
}
"""Reads that never shorten an item, with the name of the list and the key of its items."""


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    """Return a store in which every bounded read exceeds its default budget, and the id of a conflict."""
    with open_test_store(str(tmp_path_factory.mktemp("full"))) as store:
        door = StoreDoor(store)
        conflict = furnish(door)
        room = ReasoningTools(door, WORKSPACE)
        steps = [{"title": f"step {n}", "success_criteria": [HUGE[:4000]] * 3} for n in range(12)]
        for number in range(40):
            room.note(HUGE, title=f"title {number}")
            room.note(HUGE, branch="b")
            room("trace_step", step=f"step {number}", message=HUGE)
            room("think_card", card={"id": f"C{number}", "type": "question", "title": f"c {number}", "text": HUGE})
            room.apply(
                node(f"big {number}", text=HUGE, title=HUGE[:5000]),
                edge(f"big {number}", "asks", "n", meta={"why": HUGE}),
                edge(f"big {number}", "dangles", f"nowhere {number} " + "x" * 200),
            )
            door(
                "tasks_create", workspace=WORKSPACE, kind="task", title=f"T {number}", description=HUGE, steps=steps[:2]
            )
            door("tasks_note", workspace=WORKSPACE, target="TASK-001", note=HUGE)
            room("branch_create", name=f"branch {number}")
        room("think_pin", ids=[f"C{number}" for number in range(40)])
        for number in range(200):
            room.branch(f"many {number} " + "x" * 200)
            room.note("x", doc=f"document {number} " + "x" * 200)
            room("tag_create", name=f"tag {number} " + "x" * 200)
        door("tasks_decompose", workspace=WORKSPACE, target="TASK-001", steps=steps)
        yield store, conflict


@holds("decisions §7: reads that take max_chars use 30,000 when no budget is given; max_chars 0 means none")
@pytest.mark.parametrize("operation", BOUNDED, ids=lambda one: one.name)
def test_every_bounded_read_has_a_default_budget(full: tuple[Store, str], operation: Operation) -> None:
    store, conflict = full
    arguments = sample_arguments(operation.name, operation.required, {"conflict": conflict})
    answer = store.call(operation.name, arguments)
    assert size(answer) <= USUAL_MAX_CHARS
    whole = store.call(operation.name, {**arguments, "max_chars": 0})
    assert (size(whole) > USUAL_MAX_CHARS) is (operation.name in LONG)
    assert answer["truncated"] is True if operation.name in LONG else answer == whole


@holds("decisions §7: reads that take max_chars use 30,000 when no budget is given; max_chars 0 means none")
def test_a_given_budget_replaces_the_default_one(full: tuple[Store, str]) -> None:
    store, _ = full
    asked = {"workspace": WORKSPACE, "doc": "notes"}
    for budget in ({"max_chars": 100_000}, {"max_bytes": 100_000}, {"max_lines": 10_000}):
        assert size(store.call("branchmind_show", {**asked, **budget})) > USUAL_MAX_CHARS
    assert size(store.call("branchmind_show", {**asked, "max_chars": 0, "max_bytes": 9_000})) <= 9_000


@holds("decisions §7: reads that take max_chars use 30,000 when no budget is given; max_chars 0 means none")
@pytest.mark.parametrize(("tool", "rows"), [("tasks_list", "items"), ("tasks_ready", "tasks")])
def test_paging_with_a_budget_lists_every_task_once(full: tuple[Store, str], tool: str, rows: str) -> None:
    store, _ = full
    asked = {"workspace": WORKSPACE, "max_chars": 1_500, "limit": 30}
    every = [one["id"] for one in store.call(tool, {**asked, "limit": 100, "max_chars": 0})[rows]]
    pages = [store.call(tool, asked)]
    while pages[-1]["pagination"]["has_more"]:
        pages.append(store.call(tool, {**asked, "offset": sum(len(page[rows]) for page in pages)}))
    assert [one["id"] for page in pages for one in page[rows]] == every
    assert len(pages) > 2


@pytest.fixture
def long_items(home: str, clock: Clock) -> Iterator[Store]:
    """Return a store with pages of 20,000 characters and thirty rows of at least 3,000 characters in each list."""
    with open_test_store(home, clock, page_max_chars=PAGE_CHARS) as store:
        for number in range(30):
            store.call("artifact_store", {"name": f"a{number}", "kind": "k", "data": {"text": HUGE[:3000]}})
            at = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
            body = {"id": f"FU-{number}", "description": HUGE[:3000], "status": "planning", **at}
            store.call("submit_payload", {"capability_id": "neotoma:store_feature_unit:v1", "body": body})
        yield store


@holds("decisions §7: artifact_list, retrieve_* and timelines never shorten: a page ends early with a cursor")
@pytest.mark.parametrize("tool", sorted(PAGES))
def test_a_page_of_whole_items_ends_early_and_reports_the_next_offset(long_items: Store, tool: str) -> None:
    rows, key = PAGES[tool]
    seen: list[str] = []
    offset, cut = 0, 0
    more = {"search": "thought", "search_mode": "keyword"} if tool == "retrieve_records" else {}
    most = PAGE_CHARS if tool != "list_timeline_events" else 1_000
    store = long_items if most == PAGE_CHARS else open_test_store(long_items.config.home, page_max_chars=most)
    while True:
        page = store.call(tool, {"limit": 20, "offset": offset, **more})
        seen += [item[key] for item in page[rows]]
        assert size(page[rows]) <= most
        at = page["pagination"]
        if not at["has_more"]:
            break
        assert at["count"] == len(page[rows])
        cut += 1
        offset = at["next_offset"]
    assert len(seen) == len(set(seen)) == (60 if tool == "list_timeline_events" else 30)
    assert cut >= 4


@holds("decisions §7: artifact_list, retrieve_* and timelines never shorten: a page ends early with a cursor")
def test_a_page_has_at_least_one_item_at_full_length(home: str) -> None:
    with open_test_store(home, page_max_chars=10) as store:
        for number in range(2):
            store.call("artifact_store", {"name": f"a{number}", "kind": "k", "data": {"text": HUGE}})
        page = store.call("artifact_list", {})
        assert [item["data"]["text"] for item in page["items"]] == [HUGE]
        assert page["pagination"] == {"limit": 50, "offset": 0, "has_more": True, "count": 1, "next_offset": 1}
        last = store.call("artifact_list", {"offset": 1})
        assert last["pagination"] == {"limit": 50, "offset": 1, "has_more": False, "count": 1}


@holds("decisions §7: artifact_list, retrieve_* and timelines never shorten: a page ends early with a cursor")
def test_pages_have_at_most_100000_characters_by_default(store: Store) -> None:
    for number in range(60):
        store.call("artifact_store", {"name": f"a{number}", "kind": "k", "data": {"text": HUGE + HUGE[:7000]}})
    page = store.call("artifact_list", {"limit": 100})
    assert 80_000 < size(page["items"]) <= 100_000
    assert page["pagination"]["next_offset"] == len(page["items"])
