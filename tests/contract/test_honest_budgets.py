"""Budgets of any size: the limit is kept, and the rest of the answer stays correct."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.doors import StoreDoor, open_test_store
from moss_memory.registry import catalog
from moss_memory.registry.budget import Budget
from support.promises import holds

if TYPE_CHECKING:
    from collections.abc import Iterator


W = {"workspace": "shop"}
LONG = "a long line of thought about sessions, tokens and failover " * 20
READS: dict[str, dict[str, Any]] = {
    "tasks_radar": {"target": "TASK-001"}, "tasks_handoff": {"target": "TASK-001"}, "tasks_list": {},
    "tasks_show": {"target": "TASK-001"}, "tasks_delta": {}, "tasks_ready": {}, "branchmind_context_pack": {},
    "branchmind_think_context": {}, "branchmind_think_pack": {}, "branchmind_think_next": {}, "branchmind_show": {},
    "branchmind_status": {}, "branchmind_branch_list": {}, "branchmind_graph_query": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def full_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreDoor]:
    """Return a store in which every read has a large answer."""
    with open_test_store(str(tmp_path_factory.mktemp("budgets") / "home")) as store:
        door = StoreDoor(store)
        steps = [{"title": f"step {n} {LONG}"[:200], "success_criteria": LONG, "tests": LONG} for n in range(9)]
        for number in range(4):
            door("tasks_create", **W, kind="task", title=f"{number} {LONG}"[:200], description=LONG, steps=steps)
            door("branchmind_notes_commit", **W, content=LONG, title=f"note {number}")
            card = {"type": "hypothesis", "title": f"{number} {LONG}"[:200], "text": LONG}
            door("branchmind_think_card", **W, card=card)
        door("tasks_block", **W, target="TASK-001", path="s:0", reason=LONG)
        yield door


def strings(value: Any) -> Iterator[str]:
    """Yield every string in an answer, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name != "next":
                yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


@holds("decisions §10: budgets are kept, shortened texts stay readable, and left-out list entries are counted")
def test_rows_lose_their_times_before_their_short_texts() -> None:
    rows = [{"seq": number, "ts": "2026-01-01T00:00:00.000Z", "ts_ms": 1, "content": "x" * 200} for number in range(20)]
    whole = {"entries": rows, "truncated": False}
    chars = len(json.dumps(whole, separators=(",", ":")))
    fitted = Budget(chars - 100, None, None).fit(rows, lambda kept: {"entries": kept, "truncated": False})
    assert fitted["entries"] == [{"seq": number, "content": "x" * 200} for number in range(20)]
    assert fitted["truncated"]


@holds("decisions §10: budgets are kept, shortened texts stay readable, and left-out list entries are counted")
def test_every_text_of_a_small_answer_is_complete_or_long_enough(full_store: StoreDoor) -> None:
    for tool, arguments in READS.items():
        whole = set(strings(full_store(tool, **W, **arguments, max_chars=0)))
        for most in (*range(500, 1000, 50), 1500, 4000):
            answer = full_store(tool, **W, **arguments, max_chars=most)
            assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) <= most, tool
            emptied = {""} if most < 700 else set()  # the documented keys of the least answers stay
            for text in set(strings(answer)) - whole - emptied:
                assert text.endswith("…"), (tool, most, text)
                assert len(text) >= 25, (tool, most, text)


@holds("decisions §10: budgets are kept, shortened texts stay readable, and left-out list entries are counted")
def test_a_radar_of_any_budget_has_the_next_step_and_its_reason(full_store: StoreDoor) -> None:
    for most in range(550, 2000, 25):
        radar = full_store("tasks_radar", **W, target="TASK-001", max_chars=most)["radar"]
        assert radar["now"], most
        assert radar["why"], most
        assert radar["next"], most


@holds("decisions §10: budgets are kept, shortened texts stay readable, and left-out list entries are counted")
def test_dropped_list_items_are_counted(full_store: StoreDoor) -> None:
    whole = full_store("tasks_list", **W, max_chars=0)["items"]
    small = full_store("tasks_list", **W, max_chars=500)
    assert small["omitted"]["items"] == len(whole) - len(small["items"]) > 0
    blocked = full_store("tasks_radar", **W, target="TASK-001", max_chars=500)
    lost = blocked.get("omitted", {}).get("blockers", 0)
    full = full_store("tasks_radar", **W, target="TASK-001", max_chars=0)["radar"]["blockers"]
    assert len(blocked["radar"]["blockers"]) + lost == len(full) == 1


@holds("decisions §10: budgets are kept, shortened texts stay readable, and left-out list entries are counted")
@given(
    rows=st.lists(st.fixed_dictionaries({"id": st.text(max_size=20), "text": st.text(max_size=300)}), max_size=12),
    chars=st.integers(500, 4000),
    size=st.integers(500, 4000),
    lines=st.integers(10, 60),
)
def test_a_budget_of_any_size_is_kept(rows: list[dict[str, str]], chars: int, size: int, lines: int) -> None:
    budget = Budget(chars, size, lines)
    answer = budget.fit(rows, lambda kept: {"items": kept, "truncated": False})
    assert budget.fits(answer)
    assert len(answer["items"]) + answer.get("omitted", {}).get("items", 0) == len(rows)
    for shown, whole in zip(answer["items"], rows, strict=False):
        text = shown.get("text")
        assert text is None or text == whole["text"] or (text.endswith("…") and len(text) > 24)


@holds("decisions §10: budgets are kept, shortened texts stay readable, and left-out list entries are counted")
def test_every_tool_with_a_budget_keeps_the_minimum_budget(full_store: StoreDoor) -> None:
    tools = {tool.name: tool for tool in catalog.operations() if tool.budget_of is not None}
    assert set(READS) <= set(tools)
    for tool, arguments in READS.items():
        answer = full_store(tool, **W, **arguments, max_bytes=500)
        assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()) <= 500, tool
