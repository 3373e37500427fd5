"""A store of a million capsules beside one of a thousand: pages, counts, and words that begin alike."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any

import apsw

from moss_memory import open_store
from moss_memory.search.ranking import TITLE_WEIGHT
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.storage.sqlite.transaction import SqliteTransaction
from moss_memory.store import Store

from .measure import Line, cached, medians_us, worst_line
from .texts import Author

ROWS, FEW = 1_000_000, 1_000
AT_ONCE = 20_000
WORKSPACE = "shop"
"""Half of all capsules are in it; the others are in workspaces of 500."""

PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "a workspace": ("capsule_list", {"workspace": WORKSPACE}),
    "a run": ("capsule_list", {"workspace": WORKSPACE, "run_id": "run 7"}),
    "a phase": ("capsule_list", {"workspace": WORKSPACE, "phase": "phase 3"}),
    "a role": ("capsule_list", {"workspace": WORKSPACE, "role": "role 4"}),
    "the latest": ("capsule_latest", {"workspace": WORKSPACE}),
    "the latest of a run": ("capsule_latest", {"workspace": WORKSPACE, "run_id": "run 7"}),
    "the latest of a phase": ("capsule_latest", {"workspace": WORKSPACE, "phase": "phase 3"}),
    "the latest of a role": ("capsule_latest", {"workspace": WORKSPACE, "role": "role 4"}),
    "everything": ("capsule_inventory", {}),
    "a workspace in the inventory": ("capsule_inventory", {"workspace": "project 0"}),
    "a tag that each tenth has": ("capsule_inventory", {"tag": "common"}),
    "a tag that twenty have": ("capsule_inventory", {"tag": "tag 7"}),
    "names that many have": ("capsule_inventory", {"name_prefix": "Capsule 1"}),
    "names that few have": ("capsule_inventory", {"name_prefix": "capsule 1234"}),
    "a run in the inventory": ("capsule_inventory", {"run_id": "run 7"}),
    "a phase in the inventory": ("capsule_inventory", {"phase": "phase 3"}),
    "a role in the inventory": ("capsule_inventory", {"role": "role 4"}),
    "a workspace, deleted ones too": ("capsule_list", {"workspace": WORKSPACE, "include_deleted": True}),
    "everything, deleted ones too": ("capsule_inventory", {"include_deleted": True}),
    "a tag, deleted ones too": ("capsule_inventory", {"tag": "tag 7", "include_deleted": True}),
}
SMALL = {"names that few have": {"name_prefix": "capsule 7"}}
"""What is asked of the small store instead, so that both pages are full."""

BARE_COUNTS = {
    "a workspace": f"capsules where workspace_norm = '{WORKSPACE}' and deleted_at is null",
    "a phase": f"capsules where workspace_norm = '{WORKSPACE}' and phase = 'phase 3' and deleted_at is null",
    "everything": "capsules where deleted_at is null",
    "a tag that each tenth has": "capsule_tags where tag = 'common'",
    "names that many have": (
        "capsules where name_norm >= 'capsule 1' and name_norm < 'capsule 2' and deleted_at is null"
    ),
    "a role in the inventory": "capsules where role = 'role 4' and deleted_at is null",
}
BEGINNINGS = ("ka", "sto", "exor", "venk")
COUNT = "select count(*) from search_index where search_index match ?"
BEST = (
    "select rowid from search_index where search_index match ?"
    f" order by bm25(search_index, {TITLE_WEIGHT}, 1.0, 0.0) limit 20"
)


def store_of(rows: int) -> str:
    """The home of a store of so many capsules, brought in by import."""
    return cached(f"million-{rows}", lambda folder: _build(folder, rows))


def _build(home: str, rows: int) -> None:
    author = Author(seed=11)
    path = os.path.join(home, "exports", "part.jsonl")
    os.makedirs(os.path.dirname(path))
    with open_store(home) as store:
        for start in range(0, rows, AT_ONCE):
            with open(path, "w", encoding="utf-8") as file:
                for number in range(start, min(rows, start + AT_ONCE)):
                    file.write(json.dumps(_capsule(number, author)) + "\n")
            store.call("capsule_import", {"path": path})
    os.remove(path)
    connection = apsw.Connection(os.path.join(home, DATABASE))
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


def _capsule(number: int, author: Author) -> dict[str, Any]:
    """A short capsule; workspaces, runs, phases and roles take turns, so that none lies together."""
    text = author.prose(300)
    tags = ["common"] if number % 10 == 0 else []
    return {
        "id": f"{number:026d}", "workspace_raw": WORKSPACE if number % 2 else f"project {number // 1000}",
        "name_raw": f"Capsule {number}", "title": text[:30], "capsule_text": text, "capsule_chars": len(text),
        "tags": [*tags, f"tag {number // 20}"], "run_id": f"run {number // 40}", "phase": f"phase {number // 2 % 5}",
        "role": f"role {number // 3 % 10}", "created_at": 1_700_000_000 + number, "updated_at": 1_700_000_000 + number,
    }  # fmt: skip


class _Counting:
    """Tells how long a call counted; the rest of it is the page."""

    def __init__(self) -> None:
        self.took_us = 0.0
        self._transaction: Any = SqliteTransaction
        self._value = SqliteTransaction.value

    def __enter__(self) -> _Counting:
        counting, value = self, self._value

        def timed(tx: SqliteTransaction, sql: str, parameters: Any = None) -> Any:
            if not sql.startswith("select count("):
                return value(tx, sql, parameters)
            began = perf_counter_ns()
            found = value(tx, sql, parameters)
            counting.took_us += (perf_counter_ns() - began) / 1000
            return found

        self._transaction.value = timed
        return self

    def __exit__(self, *_: object) -> None:
        self._transaction.value = self._value


def _pages(large: Store, small: Store, rounds: int) -> dict[str, tuple[float, float]]:
    """For each list the fewest microseconds of a page in either store without its count."""
    pages = {}
    with _Counting() as counting:
        for name, (tool, arguments) in PAGES.items():
            few = SMALL.get(name, arguments)
            taken: tuple[list[float], ...] = ([], [])
            for _ in range(rounds):
                for store, asked, times in zip((large, small), (arguments, few), taken, strict=True):
                    counting.took_us = 0.0
                    began = perf_counter_ns()
                    store.call(tool, asked)
                    whole = (perf_counter_ns() - began) / 1000
                    times.append(whole - counting.took_us)
            pages[name] = (min(taken[0]), min(taken[1]))
    return pages


def _counts(store: Store, connection: apsw.Connection, rounds: int) -> Iterator[tuple[str, tuple[float, float]]]:
    for name, bare in BARE_COUNTS.items():
        tool, arguments = PAGES[name]
        with _Counting() as counting:
            ours: list[float] = []
            theirs: list[float] = []
            for _ in range(rounds):
                # Either connection has read other pages in between.
                store.call("capsule_inventory", {})
                counting.took_us = 0.0
                store.call(tool, arguments)
                ours.append(counting.took_us)
                connection.execute("select count(*) from capsules where deleted_at is null").fetchall()
                began = perf_counter_ns()
                connection.execute(f"select count(*) from {bare}").fetchall()
                theirs.append((perf_counter_ns() - began) / 1000)
        yield name, (min(ours), min(theirs))


def _beginnings(store: Store, connection: apsw.Connection, rounds: int) -> Iterator[tuple[str, tuple[float, float]]]:
    for beginning in BEGINNINGS:
        match = f'"{beginning}" *'

        def search(beginning: str = beginning) -> None:
            store.call("capsule_search", {"query": f"{beginning}*"})

        def bare(match: str = match) -> None:
            connection.execute(COUNT, (match,)).fetchall()
            connection.execute(BEST, (match,)).fetchall()

        matches = connection.execute(COUNT, (match,)).fetchall()[0][0]
        ours, naive = medians_us(search, bare, rounds=rounds, warm_up=1)
        yield f"{beginning}*, {matches:,} matches", (ours, naive)


def lines(rows: int = ROWS, rounds: int = 15) -> list[Line]:
    """Pages and counts of lists with each filter, and searches for what begins alike."""
    home = store_of(rows)
    connection = apsw.Connection(os.path.join(home, DATABASE))
    prepare(connection)
    with open_store(home) as large, open_store(store_of(FEW)) as small:
        pages = _pages(large, small, rounds)
        counts = dict(_counts(large, connection, max(3, rounds // 3)))
        words = dict(_beginnings(large, connection, 3))
    connection.close()
    return [
        worst_line(
            f"a page of capsules by any one filter, without its count, among {rows:,} : among {FEW:,}", pages, 2
        ),
        worst_line(f"the count of such a list among {rows:,} : the bare count", counts, 1.3),
        worst_line(f"`ka*` and the like over {rows:,} capsules : the bare FTS5 query by bm25, and its count", words, 3),
    ]


if __name__ == "__main__":
    import sys

    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS):
        print(*line.cells(), sep=" | ")
