"""Eight processes write notes and graphs at once: numbers follow commits, no write is lost, none is merged twice."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from support.python_process import race
from support.store_truth import events
from support.thorough import complete_or, first_of

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

WORKERS = 8
ROUNDS = complete_or(12, 6)
MERGERS = 4
BRANCHES = ["main", *(f"own {worker}" for worker in range(WORKERS))]
# Writes to the branch of all and to its own, and takes a snapshot of the branch of all now and then.
WRITE = """
import json, sys
from support.store_truth import open_at
home, worker, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = open_at(home)
def ask(tool, **arguments):
    if worker == 0:
        store.close()  # the last one to leave empties the log
    return store.call(f"branchmind_{tool}", {"workspace": "w", **arguments})
def numbers(branch):
    notes = ask("show", branch=branch, doc="notes", limit=200, max_chars=0)["entries"]
    nodes = ask("graph_query", branch=branch, limit=200, max_chars=0)["nodes"]
    return sorted([row["seq"] for row in notes] + [row["last_seq"] for row in nodes])
ask("status")
print("ready", flush=True)
sys.stdin.readline()
notes, batches, snapshots = {}, [], {}
for number in range(rounds):
    for branch in ("main", f"own {worker}"):
        content = f"{branch}, by {worker}, {number}"
        notes[content] = ask("notes_commit", branch=branch, content=content)["entry"]["seq"]
        ids = [f"{content}, {part}" for part in "ab"]
        ops = [{"op": "node_upsert", "id": id, "type": "idea"} for id in ids]
        ops.append({"op": "edge_upsert", "from": ids[0], "rel": "before", "to": ids[1]})
        batches.append([ids, ask("graph_apply", branch=branch, ops=ops)["last_seq"]])
    if number % 5 == worker % 5:
        name = f"snapshot {worker}.{number}"
        ask("branch_create", name=name, **{"from": "main"})
        snapshots[name] = numbers(name)
print(json.dumps({"notes": notes, "batches": batches, "snapshots": snapshots}))
"""
# Merges page by page, beside others that do the same.
MERGE = """
import json, sys
from support.store_truth import open_at
from moss_memory.errors import MossError
home, tool, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open_at(home) as store:
    store.call("branchmind_status", {"workspace": "w"})
    print("ready", flush=True)
    sys.stdin.readline()
    pages, cursor = [], None
    while not pages or cursor is not None:
        way = {"workspace": "w", "from": "what-if", "into": "main", "limit": limit, "cursor": cursor}
        pages.append(store.call(tool, way))
        cursor = pages[-1]["pagination"].get("next_cursor")
print(json.dumps(pages))
"""
RESOLVE = """
import json, sys
from support.store_truth import open_at
home, ids = sys.argv[1], json.loads(sys.argv[2])
with open_at(home) as store:
    store.call("branchmind_status", {"workspace": "w"})
    print("ready", flush=True)
    sys.stdin.readline()
    applied = [
        store.call(
            "branchmind_graph_conflict_resolve", {"workspace": "w", "conflict_id": id, "resolution": "use_from"}
        )["applied"]
        for id in ids
    ]
print(json.dumps(applied))
"""


def ask(store: Store, tool: str, **arguments: Any) -> dict[str, Any]:
    named = {{"source": "from"}.get(name, name): value for name, value in arguments.items()}
    return store.call(f"branchmind_{tool}", {"workspace": "w", **named})


class Watcher:
    """Poll every branch; fail if a number appears below one that was there at the previous poll."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.seen: dict[str, set[int]] = {branch: set() for branch in BRANCHES}
        self.horizon = dict.fromkeys(BRANCHES, 0)
        self.highest = 0
        self.looks = 0

    def look(self) -> None:
        for branch in BRANCHES:
            highest_before = self.highest
            found = self.numbers(branch)
            new = found - self.seen[branch]
            assert self.seen[branch] <= found, f"{branch} lost {self.seen[branch] - found}"
            late = [number for number in new if number <= self.horizon[branch]]
            assert not late, f"{late} came to {branch} after {self.horizon[branch]} was there"
            self.seen[branch] = found
            self.horizon[branch] = highest_before
            self.highest = max(self.highest, *found, 0)
        self.looks += 1

    def numbers(self, branch: str) -> set[int]:
        notes = ask(self.store, "show", branch=branch, doc="notes", limit=200, max_chars=0)["entries"]
        nodes = ask(self.store, "graph_query", branch=branch, limit=200, include_edges=False, max_chars=0)
        assert not nodes["pagination"]["has_more"]
        return {row["seq"] for row in notes} | {row["last_seq"] for row in nodes["nodes"]}


def test_eight_writing_processes_lose_nothing_and_numbers_follow_commits(store: Store, home: Path) -> None:
    ask(store, "init")
    for branch in BRANCHES[1:]:
        ask(store, "branch_create", name=branch)
    watcher = Watcher(store)
    answers = race([(WRITE, home, worker, ROUNDS) for worker in range(WORKERS)], watcher.look)
    watcher.look()
    assert watcher.looks > 3, "nobody watched"
    check_everything_is_there(store, answers)
    check_no_call_interleaves_with_another(store, answers)
    for answer in answers:
        for name, numbers in answer["snapshots"].items():
            assert sorted(watcher.numbers(name)) == numbers, f"{name} changed after it was made"
    logged = Counter(tool for tool, _ in events(home))
    snapshots = sum(len(answer["snapshots"]) for answer in answers)
    writes = WORKERS * ROUNDS * 2
    assert logged == {
        "branchmind_init": 1, "branchmind_branch_create": WORKERS + snapshots, "branchmind_notes_commit": writes,
        "branchmind_graph_apply": writes,
    }  # fmt: skip


def check_everything_is_there(store: Store, answers: list[dict[str, Any]]) -> None:
    """Assert that every acknowledged note and node is stored once, with its acknowledged number."""
    for branch in BRANCHES:
        wanted = {
            content: seq
            for answer in answers
            for content, seq in answer["notes"].items()
            if content.startswith(f"{branch},")
        }
        entries = ask(store, "show", branch=branch, doc="notes", limit=200, max_chars=0)["entries"]
        assert {entry["content"]: entry["seq"] for entry in entries} == wanted
        assert len(entries) == len(wanted)
    for answer in answers:
        numbers = list(answer["notes"].values())
        assert numbers == sorted(set(numbers)), "a later call has a lower number"


def check_no_call_interleaves_with_another(store: Store, answers: list[dict[str, Any]]) -> None:
    """Assert that the numbers of one batch are consecutive."""
    owner: dict[int, str] = {}
    for answer in answers:
        for content, seq in answer["notes"].items():
            assert seq not in owner
            owner[seq] = f"note {content}"
    for answer in answers:
        for ids, last_seq in answer["batches"]:
            branch = ids[0].partition(",")[0]
            found = ask(store, "graph_query", branch=branch, ids=ids)
            assert [row["id"] for row in found["nodes"]] == ids[::-1], "a batch is not whole"
            numbers = [row["last_seq"] for row in [*found["nodes"], *found["edges"]]]
            assert max(numbers) == last_seq
            for number in numbers:
                assert number not in owner
                owner[number] = ids[0]
    in_order = [owner[number] for number in sorted(owner)]
    runs = [call for number, call in enumerate(in_order) if number == 0 or in_order[number - 1] != call]
    assert len(runs) == len(set(in_order)), "two calls took turns"


@pytest.mark.parametrize("limit", first_of([7, 1000]))
def test_four_processes_that_merge_the_same_notes_add_each_once(store: Store, home: Path, limit: int) -> None:
    ask(store, "notes_commit", content="shared")
    ask(store, "branch_create", name="what-if")
    contents = [f"note {number}" for number in range(60)]
    for content in contents:
        ask(store, "notes_commit", branch="what-if", content=content)
    answers = race([(MERGE, home, "branchmind_merge", limit)] * MERGERS)
    for pages in answers:
        assert sum(page["merged"] + page["skipped"] for page in pages) == len(contents)
    assert sum(page["merged"] for pages in answers for page in pages) == len(contents)
    found = ask(store, "show", branch="main", doc="notes", limit=200, max_chars=0)["entries"]
    assert [entry["content"] for entry in found] == ["shared", *contents]
    assert len({entry.get("source_event_id") for entry in found}) == len(found)


def test_four_processes_that_merge_the_same_graph_agree_on_its_conflicts(store: Store, home: Path) -> None:
    def nodes(title: str, numbers: range) -> list[dict[str, Any]]:
        return [{"op": "node_upsert", "id": f"n{number}", "type": "idea", "title": title} for number in numbers]

    ask(store, "graph_apply", ops=nodes("base", range(30)))
    ask(store, "branch_create", name="what-if")
    ask(store, "graph_apply", branch="main", ops=nodes("ours", range(10)))
    ask(store, "graph_apply", branch="what-if", ops=nodes("theirs", range(40)))
    answers = race([(MERGE, home, "branchmind_graph_merge", 7)] * MERGERS)
    for pages in answers:
        assert sum(page["pagination"]["count"] for page in pages) == 40
    totals = [sum(page[name] for pages in answers for page in pages) for name in ("merged", "conflicts_created")]
    assert totals == [30, 10]
    met = [[found for page in pages for found in page.get("conflict_ids", [])] for pages in answers]
    assert met == [met[0]] * MERGERS
    assert len(set(met[0])) == 10
    listed = ask(store, "graph_conflicts", into="main", status="open")["conflicts"]
    assert sorted(conflict["conflict_id"] for conflict in listed) == sorted(met[0])
    applied = race([(RESOLVE, home, json.dumps(met[0]))] * MERGERS)
    assert [sum(column) for column in zip(*applied, strict=True)] == [1] * 10, (
        "a resolution was applied twice, or never"
    )
    titles = Counter(row["title"] for row in ask(store, "graph_query", branch="main", limit=200)["nodes"])
    assert titles == {"theirs": 40}
