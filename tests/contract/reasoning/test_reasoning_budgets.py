"""Budgets of reasoning reads: the limit is kept, truncation is reported, and paging reaches every row."""

from __future__ import annotations

from typing import Any

import pytest

from contract.doors import StoreDoor
from contract.reasoning.reasoning_tools import ReasoningTools, compact, edge, every_page, lines, node
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

READS: dict[str, dict[str, Any]] = {
    "status": {}, "show": {"doc": "notes"}, "diff": {"from_": "empty", "to": "b"}, "branch_list": {}, "log": {},
    "docs_list": {}, "tag_list": {}, "reflog": {}, "graph_query": {"limit": 200}, "graph_validate": {},
    "graph_diff": {"from_": "empty", "to": "main"}, "graph_conflicts": {"into": "main"}, "graph_conflict_show": {},
}  # fmt: skip
"""Every read of the family, with arguments that give a large answer; an export needs a task."""
ROWS = {
    "show": "entries", "diff": "entries", "log": "commits", "reflog": "entries", "graph_query": "nodes",
    "graph_diff": "changes", "graph_conflicts": "conflicts",
}  # fmt: skip
"""The paged reads with the names of their lists."""
LISTS = {**ROWS, "branch_list": "branches", "docs_list": "docs", "tag_list": "tags", "graph_validate": "errors"}
MEASURES = {
    "max_chars": lambda answer: len(compact(answer)),
    "max_bytes": lambda answer: len(compact(answer).encode()),
    "max_lines": lines,
}
LEAST = {"max_chars": 500, "max_bytes": 500, "max_lines": 10}
BUDGETS = {
    "max_chars": [500, 501, 577, 700, 1000, 1500, 2500, 6000, 30_000, 10**9],
    "max_bytes": [500, 502, 640, 900, 1300, 3000, 8000, 40_000, 10**9],
    "max_lines": [10, 11, 12, 17, 30, 60, 150, 10**9],
}
LONG = '\U0001f331 a long line of thought, "quoted" & é\n' * 30


def fill(room: ReasoningTools) -> dict[str, dict[str, Any]]:
    """Fill a workspace so that every read has a large answer; return the reads with their arguments."""
    room("init")
    room.branch("empty")
    room.apply(*(node(f"n{number}") for number in range(8)))
    room.branch("b")
    for number in range(8):
        room.note(LONG if number % 2 else f"short {number}", title=f"title {number}", meta={"m": [LONG, number]})
        room.note(LONG, branch="b", doc="notes")
        room.note("x", doc=f"document {number}")
        room.branch(f"branch {number}", "main")
        room("tag_create", name=f"tag {number}")
        room.apply(
            node(f"n{number}", title=LONG, text=LONG, tags=["a", "b"], meta={"m": [LONG] * 3}),
            edge(f"n{number}", "r", f"n{(number + 1) % 8}", meta={"m": LONG}),
            edge(f"n{number}", "dangles", f"nowhere {number}"),
        )
        room.apply(node(f"n{number}", title="theirs", text=LONG), branch="b")
    ids = room("graph_merge", from_="b", into="main")["conflict_ids"]
    return {**READS, "graph_conflict_show": {"conflict_id": ids[0]}}


def keys(answer: dict[str, Any]) -> set[str]:
    """Return the required keys of an answer."""
    return set(answer) - {"omitted"}


def check_fits(answer: dict[str, Any], budget: dict[str, int]) -> None:
    for name, most in budget.items():
        assert MEASURES[name](answer) <= most, f"{name}={most} is exceeded: {MEASURES[name](answer)}"


def names(rows: list[dict[str, Any]]) -> list[Any]:
    """Return identifiers of rows that shortening does not change."""
    return [
        compact([row.get(name) for name in ("seq", "new_seq", "id", "last_seq", "conflict_id", "kind", "key")])
        for row in rows
    ]


@holds("4 output budgets: every read takes max_chars, max_bytes and max_lines")
def test_every_read_of_the_family_takes_the_three_budgets() -> None:
    tools = {tool.name.removeprefix("branchmind_"): tool for tool in catalog.operations()}
    for name in [*READS, "export"]:
        assert {"max_chars", "max_bytes", "max_lines"} <= set(tools[name].parameters), name
        assert not tools[name].mutates, name
    for tool in catalog.operations():
        if tool.name.startswith("branchmind_") and not tool.mutates:
            assert {"max_chars", "max_bytes", "max_lines"} <= set(tool.parameters), tool.name


@holds("decisions §3: budgets are never exceeded, and truncated names the omitted parts")
@pytest.mark.parametrize("budget", sorted(BUDGETS))
def test_no_budget_is_exceeded_and_omissions_are_reported(room: ReasoningTools, budget: str) -> None:
    for tool, arguments in fill(room).items():
        full = room(tool, **arguments, max_chars=0)
        for most in BUDGETS[budget]:
            answer = room(tool, **arguments, **{budget: most})
            check_fits(answer, {budget: most})
            assert keys(answer) == {*full, "truncated"}, (tool, most)
            if MEASURES[budget]({"truncated": False, **full}) <= most:
                assert answer == {"truncated": full.get("truncated", False), **answer, **full}, (tool, most)
            else:
                assert answer["truncated"] is True, (tool, most)


@holds("decisions §3: budgets are never exceeded, and truncated names the omitted parts")
def test_all_budgets_apply_together(timed: ReasoningTools) -> None:
    for tool, arguments in fill(timed).items():
        for chars, size, count in ((500, 500, 10), (2000, 700, 11), (600, 5000, 20), (3000, 3000, 12)):
            budget = {"max_chars": chars, "max_bytes": size, "max_lines": count}
            check_fits(timed(tool, **arguments, **budget), budget)


@holds("decisions §3: budgets below the least are invalid, and every skeleton fits the least")
def test_a_budget_below_the_minimum_is_refused(timed: ReasoningTools) -> None:
    for tool, arguments in fill(timed).items():
        for budget, least in LEAST.items():
            for most in (least - 1, -1, *((0,) if budget != "max_chars" else ())):
                timed.refuses("INVALID_REQUEST", tool, **arguments, **{budget: most})
            timed(tool, **arguments, **{budget: None})


@holds("decisions §3: budgets below the least are invalid, and every skeleton fits the least")
def test_the_minimum_budget_is_kept_with_the_longest_names(timed: ReasoningTools) -> None:
    wide = "\U0001f331"
    far = timed.another("W" * 255 + wide)
    long = {name: name + wide * (256 - len(name)) for name in ("main", "b", "doc", "tag", "node", "other")}
    far("init")
    far("branch_rename", old="main", new=long["main"])
    for _ in range(2):
        far.note(LONG, doc=long["doc"], title=LONG)
        far.note(LONG, title=LONG)
    far("tag_create", name=long["tag"])
    for doc in ("graph", long["doc"]):
        far.apply(node(long["node"], "t" * 128), edge(long["node"], "r" * 128, long["other"]), doc=doc)
    far.branch(long["b"])
    both = {"from_": long["b"], "into": long["main"], "doc": long["doc"]}
    for branch in (long["b"], long["main"]):
        far.apply(node(long["node"], title=branch), branch=branch, doc=long["doc"])
    [conflict_id] = far("graph_merge", **both)["conflict_ids"]
    pair = {"from_": long["b"], "to": long["main"], "doc": long["doc"]}
    graph = {"doc": long["doc"]}
    reads: dict[str, dict[str, Any]] = {
        **READS, "show": graph, "diff": pair, "log": graph, "graph_query": graph, "graph_validate": graph,
        "graph_diff": pair, "graph_conflicts": {"into": long["main"], "doc": long["doc"]},
        "graph_conflict_show": {"conflict_id": conflict_id},
    }  # fmt: skip
    for tool, arguments in reads.items():
        full = far(tool, **arguments, max_chars=0)
        for budget, least in LEAST.items():
            answer = far(tool, **arguments, **{budget: least})
            check_fits(answer, {budget: least})
            assert keys(answer) == {*full, "truncated"}, tool


@holds("decisions §3: long contents are shortened first, then the oldest entries go")
def test_long_contents_are_shortened_before_entries_are_dropped(room: ReasoningTools) -> None:
    room.note("short and old")
    for number in range(3):
        room.note(f"{number} " + "x" * 3000)
    room.note("short and new")
    for tool, rows in (("show", "entries"), ("log", "commits")):
        full = room(tool, doc="notes", max_chars=0)[rows]
        shown = room(tool, doc="notes", max_chars=2500)
        assert names(shown[rows]) == names(full)
        assert shown["truncated"] is True
        assert shown["pagination"]["count"] == 5
        for row, whole in zip(shown[rows], full, strict=True):
            assert row["content"][:15] == whole["content"][:15]
            assert (len(row["content"]) < len(whole["content"])) == (len(whole["content"]) > 3000)


@holds("decisions §3: long contents are shortened first, then the oldest entries go")
@pytest.mark.parametrize("tool", ROWS)
def test_the_oldest_rows_are_dropped_first(timed: ReasoningTools, tool: str) -> None:
    arguments = fill(timed)[tool]
    full = names(timed(tool, **arguments, max_chars=0)[ROWS[tool]])
    seen = set()
    for budget, sizes in BUDGETS.items():
        for most in sizes:
            found = names(timed(tool, **arguments, **{budget: most})[ROWS[tool]])
            kept = full[len(full) - len(found) :] if tool in ("show", "diff") else full[: len(found)]
            assert found == kept, (budget, most)
            seen.add(len(found))
    assert len(seen) > 2


@holds("shapes: paging through a budget still gives every row exactly once")
@pytest.mark.parametrize("tool", ROWS)
@pytest.mark.parametrize("budget", sorted(BUDGETS))
def test_paging_through_a_budget_gives_every_row_exactly_once(timed: ReasoningTools, tool: str, budget: str) -> None:
    arguments = fill(timed)[tool]
    full = names(timed(tool, **{**arguments, "limit": 200, "max_chars": 0})[ROWS[tool]])
    for most in BUDGETS[budget][:6]:
        pages = every_page(timed, tool, **{**arguments, "limit": 5}, **{budget: most})
        for page in pages:
            check_fits(page, {budget: most})
            assert page["pagination"]["count"] == len(page[ROWS[tool]])
        if tool in ("show", "diff"):
            pages.reverse()
        assert [name for page in pages for name in names(page[ROWS[tool]])] == full, most


@holds("shapes: paging through a budget still gives every row exactly once")
def test_paging_goes_on_when_a_row_is_larger_than_the_budget(timed: ReasoningTools) -> None:
    wide = "\U0001f331"
    timed("init")
    timed.branch("b")
    for number in range(3):
        name = f"{number}" + wide * 255
        timed.note(LONG * 9, title=LONG * 3, format=wide * 128, meta={LONG: LONG, "list": [LONG] * 50})
        tags = [f"{wide}{tag}" for tag in range(50)]
        timed.apply(node(name, "t" * 128, tags=tags, meta={LONG: [LONG] * 9}, text=LONG))
    pair = {"from_": "b", "to": "main"}
    reads: dict[str, dict[str, Any]] = {
        "show": {"doc": "notes"}, "log": {}, "reflog": {}, "diff": pair, "graph_diff": pair, "graph_query": {},
    }  # fmt: skip
    for tool, arguments in reads.items():
        for budget, least in LEAST.items():
            pages = every_page(timed, tool, **arguments, **{budget: least})
            for page in pages:
                check_fits(page, {budget: least})
            assert sum(page["pagination"]["count"] for page in pages) == 3, (tool, budget)


@holds("decisions §3: long contents are shortened first, then the oldest entries go")
def test_edges_to_dropped_nodes_are_dropped(timed: ReasoningTools) -> None:
    fill(timed)
    for budget, sizes in BUDGETS.items():
        for most in sizes:
            answer = timed("graph_query", limit=200, **{budget: most})
            shown = {found["id"] for found in answer["nodes"]}
            assert {end for found in answer["edges"] for end in (found["from"], found["to"])} <= shown


@holds("decisions §3: budgets are never exceeded, and truncated names the omitted parts")
def test_a_budget_cuts_unpaged_lists_and_reports_it(room: ReasoningTools) -> None:
    for number in range(30):
        room.branch(f"branch {number:02} " + "x" * 50)
        room.note(doc=f"doc {number:02} " + "x" * 50)
        room.apply(edge(f"from {number:02}", "r", "x" * 50))
        room("tag_create", name=f"tag {number:02} " + "x" * 50, from_=room.note())
    for tool in ("branch_list", "docs_list", "tag_list", "graph_validate"):
        full = room(tool, max_chars=0)
        assert not full.get("truncated")
        cut = room(tool, max_chars=1500)
        assert cut["truncated"] is True
        assert 0 < len(cut[LISTS[tool]]) < len(full[LISTS[tool]])
        assert all(row in full[LISTS[tool]] for row in cut[LISTS[tool]])
    assert room("graph_validate", max_chars=600)["ok"] is False
    assert room("graph_validate", max_chars=600)["stats"] == {"nodes": 0, "edges": 30}


@holds("decisions §3: budgets below the least are invalid, and every skeleton fits the least")
def test_a_shortened_conflict_keeps_its_key_and_branches(room: ReasoningTools) -> None:
    said = {"title": "The cache is too small", "status": "open", "tags": ["perf"]}
    room.apply(node("n", "hypothesis", text="x" * 300, **said))
    room.branch("what-if")
    for branch in ("main", "what-if"):
        room.apply(node("n", "hypothesis", text=branch * 99, **said), branch=branch)
    [conflict_id] = room("graph_merge", from_="what-if", into="main")["conflict_ids"]
    full = room.conflict(conflict_id)
    for budget, most in (("max_chars", 500), ("max_bytes", 500), ("max_chars", 800), ("max_lines", 10)):
        answer = room("graph_conflict_show", conflict_id=conflict_id, **{budget: most})
        check_fits(answer, {budget: most})
        shown = answer["conflict"]
        assert keys(shown) == set(full)
        for name in ("conflict_id", "kind", "key", "from_branch", "into_branch", "doc", "status", "created_at_ms"):
            assert shown[name] == full[name], (budget, most)


@holds("decisions §3: budgets are never exceeded, and truncated names the omitted parts")
def test_a_budget_changes_nothing_in_the_store(door: StoreDoor) -> None:
    room = ReasoningTools(door)
    reads = fill(room)
    before = dump(door.home)
    for tool, arguments in reads.items():
        room(tool, **arguments, max_chars=500)
    assert dump(door.home) == before
