"""Laws of merging, conflicts, paging, batches and budgets for any contents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.doors import open_test_store, outcome
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from support.direct_store import dump
from support.thorough import complete_or, is_thorough

if TYPE_CHECKING:
    from moss_memory.store import Store

ROWS = 12
LIMITS = pytest.mark.parametrize("limit", [1, 3, 200])


def ask(store: Store, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, by default in the workspace `w`; `source` stands for the argument `from`."""
    named = {{"source": "from"}.get(name, name): value for name, value in arguments.items()}
    return store.call(f"branchmind_{tool}", {"workspace": "w", **named})


def every_page(
    store: Store, tool: str, between: Callable[[], object] = int, /, **arguments: Any
) -> list[dict[str, Any]]:
    """Return all pages of a tool; call `between` after each."""
    found = [ask(store, tool, **arguments)]
    while found[-1]["pagination"]["has_more"]:
        assert found[-1]["pagination"]["count"] > 0, "a page that is not the last is empty"
        assert len(found) < 1000, "paging does not end"
        between()
        found.append(ask(store, tool, **arguments, cursor=found[-1]["pagination"]["next_cursor"]))
    assert "next_cursor" not in found[-1]["pagination"]
    return found


def node(id: str, title: str = "t", **more: Any) -> dict[str, Any]:
    return {"op": "node_upsert", "id": id, "type": "idea", "title": title, **more}


def total(pages: list[dict[str, Any]], name: str) -> int:
    return sum(page[name] for page in pages)


def rename_one(store: Store, which: str) -> tuple[str, str]:
    """Rename `what-if`, `main` or neither, and return the names of both."""
    names = {"what-if": "what-if", "main": "main"}
    if which in names:
        names[which] = "renamed"
        ask(store, "branch_rename", old=which, new="renamed")
    return names["what-if"], names["main"]


# Merging


@LIMITS
@pytest.mark.parametrize("renamed", ["neither", "what-if", "main"])
def test_merging_notes_twice_adds_nothing(store: Store, limit: int, renamed: str) -> None:
    for number in range(4):
        ask(store, "notes_commit", content=f"shared {number}")
    ask(store, "branch_create", name="what-if")
    for number in range(7):
        ask(store, "notes_commit", content=f"new {number}", branch="what-if", title=f"t{number}", meta={"n": number})
        ask(store, "notes_commit", content=f"meanwhile {number}", branch="main")
    way = {"source": "what-if", "into": "main", "limit": limit}
    before = dump(store.config.home)
    assert total(every_page(store, "merge", **way, dry_run=True), "merged") == 7
    assert dump(store.config.home) == before, "a dry run wrote something"
    first = every_page(store, "merge", **way)
    assert (total(first, "merged"), total(first, "skipped")) == (7, 0)
    assert [page["pagination"]["count"] for page in first] == [min(limit, 7 - at) for at in range(0, 7, limit)]
    source, into = rename_one(store, renamed)
    view = ask(store, "show", branch=into, doc="notes")["entries"]
    assert [entry["content"] for entry in view[-7:]] == [f"new {number}" for number in range(7)]
    for dry_run in (True, False):
        again = every_page(store, "merge", source=source, into=into, limit=limit, dry_run=dry_run)
        assert (total(again, "merged"), total(again, "skipped")) == (0, 7)
    assert ask(store, "show", branch=into, doc="notes")["entries"] == view


def test_a_merged_note_keeps_its_first_origin_and_never_comes_back_to_it(store: Store) -> None:
    ask(store, "init")
    for name in ("a", "b", "c"):
        ask(store, "branch_create", name=name, source="main")
    origin = ask(store, "notes_commit", content="once", branch="a")["entry"]["seq"]
    merged = [
        ask(store, "merge", source=source, into=into)["merged"]
        for source, into in [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a"), ("c", "b"), ("b", "main"), ("a", "main")]
    ]
    assert merged == [1, 1, 0, 0, 0, 1, 0]
    ids = [ask(store, "show", branch=name, doc="notes")["entries"][0].get("source_event_id") for name in "abc"]
    assert ids[0] is None
    assert ids[1] == ids[2]
    assert ids[1].startswith("merge:")
    assert ids[1].endswith(f":{origin}")


@LIMITS
@pytest.mark.parametrize("renamed", ["neither", "what-if", "main"])
def test_merging_graphs_twice_adds_nothing_and_finds_the_same_conflicts(store: Store, limit: int, renamed: str) -> None:
    make_conflicts(store, fresh=5, contested=4)
    way = {"source": "what-if", "into": "main", "limit": limit}
    before = dump(store.config.home)
    tried = every_page(store, "graph_merge", **way, dry_run=True)
    assert dump(store.config.home) == before, "a dry run wrote something"
    ids = conflict_ids(tried)
    assert len(set(ids)) == len(ids) == 4
    first = every_page(store, "graph_merge", **way)
    assert conflict_ids(first) == ids
    for pages in (tried, first):
        assert [total(pages, name) for name in ("merged", "skipped", "conflicts_created")] == [5, 0, 4]
    source, into = rename_one(store, renamed)
    view = ask(store, "graph_query", branch=into, include_deleted=True)
    for dry_run in (True, False):
        again = every_page(store, "graph_merge", source=source, into=into, limit=limit, dry_run=dry_run)
        assert [total(again, name) for name in ("merged", "skipped", "conflicts_created")] == [0, 5, 0]
        assert conflict_ids(again) == ids
        assert sum(page["pagination"]["count"] for page in again) == 9
    assert ask(store, "graph_query", branch=into, include_deleted=True) == view
    listed = ask(store, "graph_conflicts", into=into)["conflicts"]
    assert sorted(conflict["conflict_id"] for conflict in listed) == sorted(ids)
    shown = ask(store, "graph_conflict_show", conflict_id=ids[0])["conflict"]
    assert (shown["from_branch"], shown["into_branch"]) == (source, into)


@pytest.mark.parametrize("resolution", ["use_from", "use_into"])
def test_a_resolved_conflict_is_not_created_again(store: Store, resolution: str) -> None:
    make_conflicts(store, fresh=0, contested=3)
    ids = conflict_ids([ask(store, "graph_merge", source="what-if", into="main")])
    for found in ids:
        answer = ask(store, "graph_conflict_resolve", conflict_id=found, resolution=resolution)
        assert answer.pop("outcome")
        assert answer.pop("workspace")
        assert answer == {"conflict_id": found, "status": "resolved", "applied": resolution == "use_from"}
        again = ask(store, "graph_conflict_resolve", conflict_id=found, resolution=resolution)
        assert again.pop("outcome")
        assert again.pop("workspace")
        assert again == {**answer, "applied": False}
        other = {"use_from": "use_into", "use_into": "use_from"}[resolution]
        refused = outcome(
            store,
            "branchmind_graph_conflict_resolve",
            {"workspace": "w", "conflict_id": found, "resolution": other},
        )
        assert isinstance(refused, MossError)
        assert refused.code == "CONFLICT"
    after = ask(store, "graph_merge", source="what-if", into="main")
    assert [after[name] for name in ("merged", "skipped", "conflicts_created")] == [0, 3, 0]
    assert conflict_ids([after]) == []
    titles = {row["title"] for row in ask(store, "graph_query", branch="main")["nodes"]}
    assert titles == {"theirs" if resolution == "use_from" else "ours"}
    ask(store, "graph_apply", branch="what-if", ops=[node("contested 0", "later")])
    changed = ask(store, "graph_merge", source="what-if", into="main")
    expected = [1, 2, 0] if resolution == "use_from" else [0, 2, 1]
    assert [changed[name] for name in ("merged", "skipped", "conflicts_created")] == expected


def test_a_recurring_disagreement_is_an_open_conflict_again(store: Store) -> None:
    make_conflicts(store, fresh=0, contested=1)
    way = {"source": "what-if", "into": "main"}
    (first,) = conflict_ids([ask(store, "graph_merge", **way)])
    ask(store, "graph_apply", branch="main", ops=[node("contested 0", "ours for a while")])
    (second,) = conflict_ids([ask(store, "graph_merge", **way)])
    assert second != first
    ask(store, "graph_apply", branch="main", ops=[node("contested 0", "ours")])
    assert conflict_ids([ask(store, "graph_merge", **way)]) == [first]
    listed = ask(store, "graph_conflicts", into="main", status="open")["conflicts"]
    assert [conflict["conflict_id"] for conflict in listed] == [first]


def make_conflicts(store: Store, *, fresh: int, contested: int) -> None:
    """Create a branch `what-if` with new nodes, and with nodes that `main` changed too."""
    ids = [f"contested {number}" for number in range(contested)]
    ask(store, "graph_apply", ops=[node(key, "base") for key in [*ids, "untouched"]])
    ask(store, "branch_create", name="what-if")
    ask(store, "graph_apply", branch="main", ops=[node(key, "ours") for key in ids])
    ops = [node(key, "theirs") for key in ids] + [node(f"fresh {number}") for number in range(fresh)]
    ask(store, "graph_apply", branch="what-if", ops=ops)
    ask(store, "graph_apply", branch="main", ops=[{"op": "node_delete", "id": "untouched"}])


def conflict_ids(pages: list[dict[str, Any]]) -> list[str]:
    return [found for page in pages for found in page.get("conflict_ids", [])]


# Paging


READS: dict[str, tuple[str, dict[str, Any]]] = {
    "show": ("entries", {"branch": "what-if", "doc": "notes"}),
    "diff": ("entries", {"source": "main", "to": "what-if"}),
    "log": ("commits", {"ref": "what-if"}),
    "reflog": ("entries", {"ref": "what-if"}),
    "graph_query": ("nodes", {"branch": "what-if"}),
    "graph_diff": ("changes", {"source": "main", "to": "what-if"}),
    "graph_conflicts": ("conflicts", {"into": "main"}),
}
"""The tools that page by a cursor: the field with the rows, and the arguments."""


def joined(pages: list[dict[str, Any]], tool: str, rows: str) -> list[dict[str, Any]]:
    """Return the rows of all pages, newest first."""
    backwards = tool in ("show", "diff")
    return [row for page in pages for row in (page[rows][::-1] if backwards else page[rows])]


class BusyWorkspace:
    """A workspace with a branch to read while it and others are written."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.number = 0
        self.contested = 0
        ops = [node(f"n{number}", "base") for number in range(20)]
        ask(store, "graph_apply", ops=ops)
        ask(store, "notes_commit", content="shared")
        ask(store, "branch_create", name="what-if")
        for _ in range(ROWS):
            self.write(quiet=True)

    def write(self, *, quiet: bool = False) -> None:
        """Write a note, a new node and a new conflict on the branch, and notes and nodes on others."""
        self.number += 1
        for branch in ("what-if", "main"):
            ask(self.store, "notes_commit", branch=branch, content=f"{branch} {self.number}")
            own = [node(f"{branch} {self.number}"), node(f"n{self.contested}", f"of {branch}")]
            ask(self.store, "graph_apply", branch=branch, ops=own)
        if not quiet:
            ask(self.store, "branch_create", name=f"side {self.number}", source="what-if")
            ask(self.store, "merge", source="main", into="what-if", limit=1)
            ask(self.store, "reset", ref="main", to=ask(self.store, "log", ref="main")["commits"][-1]["seq"])
        self.contested += 1
        ask(self.store, "graph_merge", source="what-if", into="main")


@pytest.mark.parametrize("limit", [1, 3, 5])
@pytest.mark.parametrize("tool", READS)
def test_every_row_is_on_exactly_one_page_while_others_write_between_the_pages(
    store: Store, tool: str, limit: int
) -> None:
    workspace_in_use = BusyWorkspace(store)
    rows, arguments = READS[tool]
    whole = ask(store, tool, **arguments, limit=200)
    assert whole["pagination"]["has_more"] is False
    assert len(whole[rows]) >= ROWS
    if tool == "graph_query":
        # A changed node of the base would move to the front while pages are read; exclude these.
        workspace_in_use.contested = 19
    pages = every_page(store, tool, workspace_in_use.write, **arguments, limit=limit)
    assert len(pages) > 1
    for page in pages:
        assert page["pagination"]["count"] == len(page[rows]) <= limit == page["pagination"]["limit"]
        assert page["truncated"] is False
    seen = joined(pages, tool, rows)
    if tool == "graph_query":
        assert [row for row in seen if row["id"] != "n19"] == [row for row in whole[rows] if row["id"] != "n19"]
    else:
        assert seen == joined([whole], tool, rows)


@pytest.mark.parametrize("limit", [1, 3])
def test_a_merge_that_is_paged_copies_each_note_once_while_others_write_between_the_pages(
    store: Store, limit: int
) -> None:
    ask(store, "init")
    ask(store, "branch_create", name="what-if")
    written: list[str] = []

    def write() -> None:
        if len(written) < 12:
            for branch in ("what-if", "main"):
                ask(store, "notes_commit", branch=branch, content=f"{branch} {len(written)}")
            ask(store, "graph_apply", branch="what-if", ops=[node(f"n{len(written)}")])
            written.append(f"what-if {len(written)}")

    for _ in range(5):
        write()
    way = {"source": "what-if", "into": "main", "limit": limit}
    assert total(every_page(store, "merge", write, **way), "merged") == len(written)
    contents = [entry["content"] for entry in ask(store, "show", branch="main", doc="notes", limit=200)["entries"]]
    assert [content for content in contents if content.startswith("what-if")] == written
    assert total(every_page(store, "graph_merge", write, **way), "merged") == len(written)
    merged = ask(store, "graph_query", branch="main", limit=200)["nodes"]
    assert [row["id"] for row in merged[::-1]] == [f"n{number}" for number in range(len(written))]


def test_a_written_document_is_visible_to_every_reader(store: Store) -> None:
    ask(store, "notes_commit", content="a note", doc="side")
    ask(store, "graph_apply", ops=[node("a")], doc="links")
    assert [row["doc"] for row in ask(store, "docs_list")["docs"]] == ["graph", "links", "notes", "side", "trace"]
    for tool, rows in (("show", "entries"), ("log", "commits")):
        assert ask(store, tool, doc="links")[rows] == []
    assert ask(store, "graph_query", doc="side")["nodes"] == []
    assert ask(store, "graph_validate", doc="side")["ok"] is True
    both = {"source": "main", "to": "main"}
    assert ask(store, "diff", **both, doc="links")["entries"] == []
    assert ask(store, "graph_diff", **both, doc="side")["changes"] == []


def test_a_search_hit_leads_to_its_note(store: Store) -> None:
    first = ask(store, "notes_commit", content="the first")["entry"]["seq"]
    hidden = ask(store, "notes_commit", content="a zebra")["entry"]["seq"]
    ask(store, "branch_create", name="what-if")
    ask(store, "reset", to=first)
    (hit,) = store.call("moss_search", {"search_mode": "keyword", "query": "zebra", "workspace": "w"})["items"]
    assert [entry["seq"] for entry in store.call("branchmind_show", hit["fetch"]["arguments"])["entries"]] == [hidden]


# Batches


REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "deletes a node that is not there": ("NOT_FOUND", {"op": "node_delete", "id": "nobody"}),
    "deletes a node twice": ("NOT_FOUND", {"op": "node_delete", "id": "gone"}),
    "deletes an edge that is not there": (
        "NOT_FOUND",
        {"op": "edge_delete", "from": "a", "rel": "nothing", "to": "b"},
    ),
    "has no type": ("INVALID_REQUEST", {"op": "node_upsert", "id": "a"}),
    "writes a reserved id": ("INVALID_REQUEST", {"op": "node_upsert", "id": "task:TASK-001", "type": "t"}),
    "ends an edge in a reserved id": (
        "INVALID_REQUEST",
        {"op": "edge_upsert", "from": "a", "rel": "r", "to": "step:1"},
    ),
    "has a bar in its id": ("INVALID_REQUEST", {"op": "node_upsert", "id": "a|b", "type": "t"}),
    "has an unknown field": ("INVALID_REQUEST", {"op": "node_upsert", "id": "a", "type": "t", "titel": "x"}),
    "has an unknown verb": ("INVALID_REQUEST", {"op": "node_drop", "id": "a"}),
}


@pytest.mark.parametrize("position", [0, 3, 6])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_batch_with_one_invalid_operation_writes_nothing(store: Store, refusal: str, position: int) -> None:
    code, bad = REFUSALS[refusal]
    ask(store, "graph_apply", ops=[node("a"), node("b"), node("gone"), {"op": "node_delete", "id": "gone"}])
    good = [
        node("a", "changed"), node("new"), {"op": "edge_upsert", "from": "a", "rel": "r", "to": "b"},
        {"op": "edge_upsert", "from": "new", "rel": "r", "to": "b"}, {"op": "node_delete", "id": "b"}, node("last"),
    ]  # fmt: skip
    before = dump(store.config.home)
    for place in ({}, {"doc": "links"}, {"workspace": "a new one"}):
        arguments = {"workspace": "w", "ops": [*good[:position], bad, *good[position:]], **place}
        if place and position > 4:
            arguments["ops"] = [node("b"), *arguments["ops"]]
        refused = outcome(store, "branchmind_graph_apply", arguments)
        assert isinstance(refused, MossError), refused
        assert refused.code == code, refused.payload()
        assert dump(store.config.home) == before, "a refused batch left something"


# Budgets


BUDGETS: list[dict[str, int]] = [
    *({"max_chars": size} for size in (500, 2000, 20_000)),
    *({"max_bytes": size} for size in (500, 2000, 20_000)),
    *({"max_lines": size} for size in (10, 40)),
    {"max_chars": 3000, "max_bytes": 5000, "max_lines": 12},
    {"max_chars": 10_000_000, "max_bytes": 10_000_000, "max_lines": 1_000_000},
]


class LongNames:
    """Names of maximum length: of four-byte characters, or of ones that JSON escapes."""

    def __init__(self, *characters: str) -> None:
        names = [character * 256 for character in characters]
        self.workspace, self.branch, self.doc, self.graph, self.id = names
        self.label = self.id[:128]

    def reads(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return the tools that page by a cursor, with names of maximum length."""
        graph = {"doc": self.graph}
        return {
            "show": ("entries", {"branch": self.branch, "doc": self.doc}),
            "diff": ("entries", {"source": "main", "to": self.branch, "doc": self.doc}),
            "log": ("commits", {"ref": self.branch, "doc": self.doc}),
            "reflog": ("entries", {"ref": self.branch}),
            "graph_query": ("nodes", {"branch": self.branch, **graph}),
            "graph_diff": ("changes", {"source": "main", "to": self.branch, **graph}),
            "graph_conflicts": ("conflicts", {"into": "main", **graph}),
        }

    def reads_without_pages(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return the tools without paging."""
        return {
            "status": ("", {}),
            "branch_list": ("branches", {}),
            "docs_list": ("docs", {"ref": self.branch}),
            "tag_list": ("tags", {}),
            "graph_validate": ("errors", {"branch": self.branch, "doc": self.graph}),
            "export": ("", {"target": "TASK-001"}),
        }


LONG = {
    "wide": LongNames("\U0001f33f", "\U0001d51f", "\U0001d521", "\U0001d524", "\U0001d526"),
    "quoted": LongNames('"', '"', "\\", "\\", '"'),
}
READ_TOOLS, UNPAGED_TOOLS = list(LONG["wide"].reads()), list(LONG["wide"].reads_without_pages())


class LargeStore:
    """A read-only store with names, contents, metadata and tags of maximum length."""

    def __init__(self, store: Store, names: LongNames) -> None:
        self.store = store
        self.names = names

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, without a budget unless one is given."""
        operation = catalog.find(f"branchmind_{tool}")
        assert operation is not None
        if "max_chars" in operation.parameters and not {"max_chars", "max_bytes", "max_lines"} & arguments.keys():
            arguments["max_chars"] = 0
        return ask(self.store, tool, **{"workspace": self.names.workspace, **arguments})

    def every_page(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        return every_page(self.store, tool, **{"workspace": self.names.workspace, **arguments})


@pytest.fixture(scope="module", params=LONG)
def large_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LargeStore]:
    with open_test_store(str(tmp_path_factory.mktemp("large_store") / "home")) as store:
        large_store = LargeStore(store, LONG[request.param])
        write_history(large_store)
        write_graphs(large_store)
        here = {"workspace": large_store.names.workspace}
        store.call("tasks_create", {**here, "kind": "task", "title": large_store.names.workspace[:200]})
        for number in range(ROWS):
            large_store.ask("notes_commit", target="TASK-001", **large_note(number))
            store.call("tasks_note", {**here, "target": "TASK-001", "note": f"progress {number}\n" * 20})
        yield large_store


def write_history(large_store: LargeStore) -> None:
    names = large_store.names
    large_store.ask("graph_apply", doc=names.graph, ops=[node(numbered(number, names.id)) for number in range(ROWS)])
    large_store.ask("branch_create", name=names.branch)
    large_store.ask("checkout", ref=names.branch)
    for number in range(ROWS):
        large_store.ask("branch_create", name=numbered(number, names.branch))
        large_store.ask("commit", artifact="a", message="m", docs=[numbered(number, names.doc), "notes"])
        large_store.ask("tag_create", name=numbered(number, names.branch))
        large_store.ask("notes_commit", doc=names.doc, **large_note(number))


def write_graphs(large_store: LargeStore) -> None:
    """Write the same nodes on two branches, edges between them and to nowhere, and a conflict for each."""
    names = large_store.names
    ids = [numbered(number, names.id) for number in range(ROWS)]
    for branch in ("main", names.branch):
        nodes = [large_node(number, names, branch[:1] * 999) for number in range(ROWS)]
        large_store.ask("graph_apply", doc=names.graph, branch=branch, ops=nodes)
    edges = [
        {"op": "edge_upsert", "from": ids[number], "rel": names.label, "to": end, "meta": {"why": "m" * 300}}
        for number in range(ROWS)
        for end in (ids[number - 1], numbered(number + 50, names.id))
    ]
    large_store.ask("graph_apply", doc=names.graph, branch=names.branch, ops=edges)
    met = large_store.ask("graph_merge", doc=names.graph, source=names.branch, into="main")["conflict_ids"]
    large_store.ask("graph_conflict_resolve", conflict_id=met[-1], resolution="use_into")


def numbered(number: int, name: str) -> str:
    return f"{number:02}{name[2:]}"


def large_note(number: int) -> dict[str, Any]:
    """Write a short note, one long line, many lines, quotes and controls, or much metadata."""
    kinds: list[dict[str, Any]] = [
        {"content": f"short {number}"},
        {"content": "\U0001f33f" * 30_000, "title": "t" * 10_000},
        {"content": "line\n" * 3000, "meta": {"lines": ["x\ny"] * 40}},
        {"content": '"\\\t\u0001\u2028' * 2000, "title": '"' * 300, "format": "markdown"},
        {"content": "c", "meta": {"k" * 300: list(range(3000)), "deep": {"a": [{"b": ["\u00e9" * 500]}]}}},
    ]
    return kinds[number % 5]


def large_node(number: int, names: LongNames, title: str) -> dict[str, Any]:
    tags = [f"{tag} {'tag' * 25}" for tag in range(50)]
    text = "\u00e9\n" * 4000 if number % 3 else "few words"
    more = {"text": text, "status": names.label, "tags": tags, "meta": {"m": ["\u65e5" * 1000]}}
    return {**node(numbered(number, names.id), title, **more), "type": names.label}


def lines_of(value: Any) -> int:
    """Return the number of items of lists and of line breaks in strings."""
    if isinstance(value, str):
        return value.count("\n")
    if isinstance(value, list):
        return len(value) + sum(map(lines_of, value))
    return sum(map(lines_of, value.values())) if isinstance(value, dict) else 0


def check_size(answer: dict[str, Any], budget: dict[str, int]) -> None:
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    sizes = {"max_chars": len(text), "max_bytes": len(text.encode()), "max_lines": lines_of(answer)}
    assert {name: size for name, size in sizes.items() if size > budget.get(name, size)} == {}


def check_page(answer: dict[str, Any], whole: dict[str, Any], budget: dict[str, int]) -> None:
    """Assert that an answer fits its budget, has every key, and is marked as truncated exactly if it is."""
    check_size(answer, budget)
    answer = {name: value for name, value in answer.items() if name != "omitted"}  # the counts of omitted rows
    assert answer.keys() == whole.keys()
    left_out = {**answer, "truncated": None} != {**whole, "truncated": None}
    assert answer["truncated"] is (left_out or whole["truncated"])


def name_of(budget: dict[str, int]) -> str:
    return " ".join(f"{name}={size}" for name, size in budget.items())


def identity(row: dict[str, Any]) -> Any:
    """Return the identity of a row, which does not depend on truncation."""
    row = row.get("to", row)
    return next(row[name] for name in ("seq", "new_seq", "last_seq", "conflict_id") if name in row)


@pytest.mark.parametrize("tool", READ_TOOLS)
def test_paging_through_a_budget_gives_every_row_exactly_once(
    large_store: LargeStore, tool: str, subtests: pytest.Subtests
) -> None:
    rows, arguments = large_store.names.reads()[tool]
    whole = joined([large_store.ask(tool, **arguments, limit=200)], tool, rows)
    assert len(whole) >= ROWS
    pages_from: dict[Any, dict[str, Any]] = {}
    for budget, limit in product(BUDGETS, (200, 5)) if is_thorough() else zip(BUDGETS, cycle((200, 5))):
        with subtests.test(budget=name_of(budget), limit=limit):
            pages = large_store.every_page(tool, **arguments, **budget, limit=limit)
            for page in pages:
                cursor = page["pagination"]["cursor"]
                if (limit, cursor) not in pages_from:
                    pages_from[limit, cursor] = large_store.ask(tool, **arguments, limit=limit, cursor=cursor)
                check_page(page, pages_from[limit, cursor], budget)
                assert page["pagination"]["count"] == len(page[rows])
            assert [identity(row) for row in joined(pages, tool, rows)] == [identity(row) for row in whole]


@pytest.mark.parametrize("tool", UNPAGED_TOOLS)
def test_an_answer_without_pages_stays_within_its_budget(
    large_store: LargeStore, tool: str, subtests: pytest.Subtests
) -> None:
    rows, arguments = large_store.names.reads_without_pages()[tool]
    whole = large_store.ask(tool, **arguments)
    assert not whole["truncated"]
    assert not rows or len(whole[rows]) >= ROWS
    for budget in BUDGETS:
        with subtests.test(budget=name_of(budget)):
            answer = large_store.ask(tool, **arguments, **budget)
            check_page(answer, whole, budget)
            assert not rows or len(answer[rows]) <= len(whole[rows])


def test_a_conflict_is_shown_within_its_budget(large_store: LargeStore, subtests: pytest.Subtests) -> None:
    listed = large_store.ask("graph_conflicts", into="main", doc=large_store.names.graph)["conflicts"]
    assert [found["status"] for found in listed[:2]] == ["resolved", "open"]
    for found in listed[:2]:
        whole = large_store.ask("graph_conflict_show", conflict_id=found["conflict_id"])
        for budget in BUDGETS:
            with subtests.test(budget=name_of(budget), status=found["status"]):
                answer = large_store.ask("graph_conflict_show", conflict_id=found["conflict_id"], **budget)
                check_page(answer, whole, budget)
                assert answer["conflict"]["conflict_id"] == found["conflict_id"]
                assert answer["conflict"]["status"] == found["status"]


@pytest.mark.parametrize("budget", [{"max_chars": 499}, {"max_bytes": 499}, {"max_lines": 9}], ids=name_of)
def test_a_budget_below_the_minimum_is_refused_by_every_tool(store: Store, budget: dict[str, int]) -> None:
    names = LONG["wide"]
    everywhere = {**names.reads(), **names.reads_without_pages(), "graph_conflict_show": ("", {"conflict_id": "c"})}
    for tool, (_, arguments) in everywhere.items():
        with pytest.raises(MossError) as caught:
            ask(store, tool, **arguments, **budget)
        assert caught.value.code == "INVALID_REQUEST"


TEXTS = st.builds(
    lambda part, times: part * times,
    st.sampled_from(["a", "\U0001f33f", "x\n", '"\\', "\u00e9 \u2028"]),
    st.sampled_from([1, 7, 100, 999, 5000]),
)
ANY_BUDGET = st.fixed_dictionaries(
    {},
    optional={
        "max_chars": st.integers(500, 9000),
        "max_bytes": st.integers(500, 9000),
        "max_lines": st.integers(10, 90),
    },
).filter(bool)


@settings(max_examples=complete_or(60, 20))
@given(texts=st.lists(TEXTS, min_size=1, max_size=6), budget=ANY_BUDGET, limit=st.integers(1, 7), data=st.data())
def test_any_budget_is_kept_for_any_contents(
    store: Store, texts: list[str], budget: dict[str, int], limit: int, data: st.DataObject
) -> None:
    workspace = f"w{len(dump(store.config.home).get('events', []))}"
    for number, text in enumerate(texts):
        kinds: list[dict[str, Any]] = [{}, {"title": text[:10_000]}, {"meta": {"m": [text] * 2}}]
        more = data.draw(st.sampled_from(kinds))
        ask(store, "notes_commit", workspace=workspace, content=text, **more)
        ask(store, "graph_apply", workspace=workspace, ops=[node(f"n{number}", text[:9999], text=text)])
    for tool, rows, arguments in [("show", "entries", {"doc": "notes"}), ("graph_query", "nodes", {})]:
        arguments = {"workspace": workspace, **arguments}
        pages = every_page(store, tool, **arguments, **budget, limit=limit)
        for page in pages:
            cursor = page["pagination"]["cursor"]
            check_page(page, ask(store, tool, **arguments, limit=limit, cursor=cursor, max_chars=0), budget)
        assert len({identity(row) for row in joined(pages, tool, rows)}) == len(texts)
        assert sum(page["pagination"]["count"] for page in pages) == len(texts)
