"""Budgets of reads of thinking: limits are kept, truncation is reported, every row can be reached."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from contract.reasoning.reasoning_tools import edge, every_page, node
from contract.tasks.budgets import BUDGETS, LEAST, LONG, check_budget, check_fits
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

READS: dict[str, dict[str, Any]] = {
    "think_template": {"type": "evidence"}, "think_playbook": {"name": "debug"}, "think_context": {}, "think_query": {},
    "think_pack": {}, "context_pack": {"include": ["capsules", "artifacts"]}, "think_frontier": {}, "think_next": {},
    "think_pins": {}, "think_watch": {}, "trace_hydrate": {}, "trace_validate": {},
}  # fmt: skip
PAGED = {"think_query": "cards", "think_pins": "pins", "trace_hydrate": "entries"}
TYPES = ["question", "hypothesis", "test", "evidence", "decision", "note", "update", "frame"]


def fill(desk: TaskTools, **where: Any) -> None:
    """Fill a workspace so that every read returns many rows."""
    for number in range(16):
        card = {
            "id": f"card {number}", "type": TYPES[number % 8], "title": f"{number} {LONG[:300]}", "text": LONG,
            "tags": [f"{'t' * 90} {tag}" for tag in range(20)], "meta": {"m": [LONG] * 3, "number": number},
        }  # fmt: skip
        desk.room("think_card", card=card, **where)
        if number % 2:
            desk.room("trace_step", step=f"{number} {LONG[:500]}", message=LONG, meta={LONG: [LONG] * 9}, **where)
            desk.room.note(LONG, title=LONG, **where)
        think = {"thought": LONG, "thought_number": 7 + number * 2, "total_thoughts": 99, "next_thought_needed": True}
        desk.room("trace_sequential_step", **think, **where)
    ids = [f"card {number}" for number in range(16)]
    desk.room.apply(*(edge(one, "blocks", other) for one in ids for other in ids if one != other), **where)
    desk.room("think_pin", ids=ids[::2], **where)
    desk.door("capsule_store", capsule_text=FULL + LONG, name="c", workspace="Shop", run_id="r", title=LONG[:200])
    for number in range(5):
        desk.door("artifact_store", kind="k", name=f"a{number}", workspace="Shop", run_id="r", data={"d": [LONG] * 5})


@holds("decisions §3 budgets: every read of thinking takes all three and never exceeds them")
def test_every_read_of_thinking_takes_the_three_budgets() -> None:
    family = [
        tool
        for tool in catalog.operations()
        if tool.name.startswith(("branchmind_think", "branchmind_trace", "branchmind_con"))
    ]
    reads = {tool.name.removeprefix("branchmind_") for tool in family if not tool.mutates}
    assert reads == set(READS)
    for tool in family:
        assert set(LEAST) <= set(tool.parameters) if not tool.mutates else not set(LEAST) & set(tool.parameters), (
            tool.name
        )


@holds("decisions §3 budgets: every read of thinking takes all three and never exceeds them")
def test_every_budget_of_a_read_of_thinking_is_kept_and_truncation_is_reported(desk: TaskTools) -> None:
    fill(desk)
    for tool, arguments in READS.items():
        full = desk.room(tool, **arguments, max_chars=0)
        assert full["truncated"] is False, tool
        for name, most in BUDGETS:
            check_budget(partial(desk.room, tool, **arguments), full, name, most)


@holds("decisions §3 budgets: every read of thinking takes all three and never exceeds them")
def test_every_budget_of_a_read_of_a_target_is_kept_and_truncation_is_reported(timed: TaskTools) -> None:
    timed.task("A", *(f"step {number} {LONG[:200]}" for number in range(9)))
    fill(timed, target="TASK-001")
    for tool, arguments in READS.items():
        if tool not in ("think_template", "think_playbook"):
            full = timed.room(tool, **arguments, target="TASK-001", max_chars=0)
            for name, most in BUDGETS:
                check_budget(partial(timed.room, tool, **arguments, target="TASK-001"), full, name, most)


@holds("decisions §3 budgets: every read of thinking takes all three and never exceeds them")
def test_all_budgets_of_a_read_of_thinking_hold_at_once(timed: TaskTools) -> None:
    fill(timed)
    for tool, arguments in READS.items():
        for chars, size, count in ((500, 500, 10), (2000, 700, 11), (600, 5000, 20), (3000, 3000, 12)):
            budget = {"max_chars": chars, "max_bytes": size, "max_lines": count}
            check_fits(timed.room(tool, **arguments, **budget), budget)


@holds("decisions §3 budgets: below 500 or 10 they are INVALID_REQUEST, and the skeleton of every result fits in that")
def test_a_budget_below_the_least_is_refused_by_every_read_of_thinking(timed: TaskTools) -> None:
    timed.room("init")
    for tool, arguments in READS.items():
        for name, least in LEAST.items():
            for most in (least - 1, -5, *((0,) if name != "max_chars" else ())):
                timed.room.refuses("INVALID_REQUEST", tool, **arguments, **{name: most})
            timed.room(tool, **arguments, **{name: None})


@holds("decisions §3 budgets: below 500 or 10 they are INVALID_REQUEST, and the skeleton of every result fits in that")
@pytest.mark.parametrize("wide", ["W", "\U0001f331", '"', "\n"])
def test_the_least_budget_of_a_read_of_thinking_holds_with_the_longest_names(timed: TaskTools, wide: str) -> None:
    mark = "W" if wide == "\n" else wide
    far = timed.another("W" * 255 + mark)
    names = {name: name + mark * (256 - len(name)) for name in ("branch", "trace", "graph", "notes", "one", "two")}
    far.room("init")
    far.room.branch(names["branch"])
    cards = {"ref": names["branch"], "graph_doc": names["graph"]}
    for one in (names["one"], names["two"]):
        card = {"id": one, "type": "question", "title": "x" + wide * 9998 + "x", "text": "x" + wide * 9999 + "x"}
        far.room("think_card", card=card, trace_doc=names["trace"], **cards)
    for one, other in (("one", "two"), ("two", "one")):
        far.room("think_link", from_=names[one], rel="blocks", to=names[other], **cards)
    far.room("think_pin", ids=names["one"], **cards)
    for number in (3, 5):
        far.room(
            "trace_sequential_step", thought="x" + wide * 999, thought_number=number, total_thoughts=9,
            next_thought_needed=True, branch_id=mark * 128, ref=names["branch"], doc=names["trace"],
        )  # fmt: skip
    far.room.note("x" + wide * 999, title=wide * 999, branch=names["branch"], doc=names["notes"])
    places = {**cards, "trace_doc": names["trace"], "notes_doc": names["notes"], "doc": names["trace"]}
    problems = []
    for tool, arguments in READS.items():
        found = catalog.find(f"branchmind_{tool}")
        assert found is not None
        known = {*found.parameters, *found.aliases}
        given = {**arguments, **{name: value for name, value in places.items() if name in known}}
        full = far.room(tool, **given, max_chars=0)
        for name, most in LEAST.items():
            try:
                check_budget(partial(far.room, tool, **given), full, name, most)
            except AssertionError as error:
                problems.append(f"{tool}: {str(error).splitlines()[0]}")
    assert problems == []


@holds("decisions §3 budgets: long contents are shortened first, then the oldest go, next is the last to go")
def test_the_next_call_of_ordinary_thinking_is_whole_in_a_small_budget(desk: TaskTools) -> None:
    fill(desk)
    desk.room("think_set_status", ids=[f"card {number}" for number in range(1, 16)], status="closed")
    for tool in ("think_pack", "context_pack"):
        whole = desk.room(tool)["next"]
        for name, most in (
            {**LEAST, "max_chars": 700, "max_bytes": 800}.items() if tool == "context_pack" else LEAST.items()
        ):
            small = desk.room(tool, **{name: most})["next"]
            assert small is not None, (tool, name)
            assert (small["tool"], small["arguments"]) == (whole["tool"], whole["arguments"])


@holds("decisions §3 budgets: long contents are shortened first, then the oldest go, next is the last to go")
def test_a_small_context_keeps_the_newest_cards(desk: TaskTools) -> None:
    desk.room.apply(*(node(f"c{number}", "note", title=f"title {number}") for number in range(30)))
    for tool in ("think_context", "think_query"):
        for most in (500, 1000, 2000):
            answer = desk.room(tool, max_chars=most)
            shown = [card["id"] for card in answer["cards"]]
            assert shown == [f"c{number}" for number in range(29, 29 - len(shown), -1)]
            assert 0 < len(shown) < 30
            assert answer["truncated"] is True
    assert desk.room("think_context", max_chars=500)["stats"]["cards"] == 30


@holds("decisions §3 budgets: long contents are shortened first, then the oldest go, next is the last to go")
def test_long_texts_are_shortened_before_cards_are_dropped(desk: TaskTools) -> None:
    desk.room.apply(*(node(f"c{number}", "note", title=f"title {number}", text="x" * 5000) for number in range(5)))
    answer = desk.room("think_query", max_chars=4000)
    assert [(card["id"], card["title"]) for card in answer["cards"]] == [
        (f"c{number}", f"title {number}") for number in range(4, -1, -1)
    ]
    assert all(0 < len(card["text"]) < 5000 for card in answer["cards"])


@holds("shapes budgets: paging through a budget still gives every row exactly once")
@pytest.mark.parametrize("tool", PAGED)
def test_paging_thinking_through_a_budget_gives_every_row_exactly_once(timed: TaskTools, tool: str) -> None:
    fill(timed)
    key = {"trace_hydrate": "seq"}.get(tool, "id")
    full = [row[key] for row in timed.room(tool, limit=200, max_chars=0)[PAGED[tool]]]
    for name, most in BUDGETS:
        pages = every_page(timed.room, tool, limit=5, **{name: most})
        for page in pages:
            check_fits(page, {name: most})
            assert page["pagination"]["count"] == len(page[PAGED[tool]])
        if tool == "trace_hydrate":
            pages.reverse()
        assert [row[key] for page in pages for row in page[PAGED[tool]]] == full, (name, most)


@holds("shapes budgets: paging through a budget still gives every row exactly once")
@pytest.mark.parametrize("tool", ["context_pack", "think_watch"])
def test_the_rest_of_a_pack_can_be_read_after_truncation(timed: TaskTools, tool: str) -> None:
    for number in range(20):
        timed.room.note(f"note {number} " + "x" * 100)
        timed.room("trace_step", step=f"step {number} " + "x" * 100)
    whole = {doc: timed.room.seqs(doc=doc) for doc in ("notes", "trace")}
    for most in (500, 1000, 3000, 6000, 20_000):
        answer = timed.room(tool, max_chars=most)
        for part in {"notes", "trace"} & set(answer):
            page = answer[part]["pagination"]
            seqs = [entry["seq"] for entry in answer[part]["entries"]]
            assert page["count"] == len(seqs)
            if page["has_more"]:
                older = timed.room("show", doc=part, cursor=page["next_cursor"], limit=200)["entries"]
                seqs = [entry["seq"] for entry in older] + seqs
            assert seqs == whole[part], (most, part)


@holds("shapes budgets: max_lines counts the line breaks inside strings")
def test_line_breaks_in_the_keys_of_meta_count_as_lines_too(timed: TaskTools) -> None:
    timed.room("trace_step", step="s", meta={"a\n" * 20: 1})
    timed.room("think_card", card={"id": "c", "title": "T", "meta": {"a\n" * 20: 1}})
    for tool in ("trace_hydrate", "think_query", "context_pack"):
        answer = timed.room(tool, max_lines=10)
        check_fits(answer, {"max_lines": 10})
        assert answer["truncated"] is True


@holds("decisions §3 budgets: long contents are shortened first, then the oldest go, next is the last to go")
def test_a_truncated_validation_of_a_trace_still_reports_errors(desk: TaskTools) -> None:
    for number in range(3, 40, 2):
        given = {"thought": "t", "thought_number": number, "total_thoughts": 99, "next_thought_needed": True}
        desk.room("trace_sequential_step", **given)
    full = desk.room("trace_validate", max_chars=0)
    small = desk.room("trace_validate", max_chars=500)
    assert (small["ok"], small["checked"], small["truncated"]) == (False, full["checked"], True)
    assert small["errors"] == full["errors"][: len(small["errors"])]
    assert 0 < len(small["errors"]) < len(full["errors"])


@holds("decisions §3 budgets: every read of thinking takes all three and never exceeds them")
def test_a_budget_on_thinking_changes_nothing_in_the_store(timed: TaskTools) -> None:
    fill(timed)
    before = dump(timed.door.home)
    for tool, arguments in READS.items():
        timed.room(tool, **arguments, max_chars=500)
    assert dump(timed.door.home) == before
