"""What branches cost: a deep one beside a flat one, and a merge of notes beside the bare inserts."""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import median
from time import perf_counter_ns
from typing import Any

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.store import Store

from .in_process import bare_database
from .measure import Line, cached, compared_us, medians_us, read_once, scratch_folder
from .reasoning_tables import NOTE_CHARS, WORKSPACE, Tables, tables_of
from .texts import Author

ENTRIES = 100_000
SHOWN = 20
SHAPES = {"even": [ENTRIES // 9] * 8, "thin": [2, 2, 2, 2, 3, 3, 3, 3]}
"""How many entries each of the eight levels adds to those of `main`; the last twenty of the thin ones lie on all."""
MERGED = 10_000
MERGED_AT_ONCE = 200
"""The page of a merge that asks for none in particular."""


def show_line(rounds: int = 2000) -> Line:
    """The last entries of a branch eight levels deep, against those of a flat one; the worse shape counts."""
    homes = cached("deep-notes", _build_deep), cached("flat-notes", _build_flat)
    for home in homes:
        read_once(os.path.join(home, DATABASE))
    with open_store(homes[0]) as deep, open_store(homes[1]) as flat:
        sides = [_showing(deep, shape, "level 8") for shape in SHAPES]
        sides.append(_showing(flat, WORKSPACE, "main"))
        for side in sides:
            assert side()["pagination"] == {"cursor": None, "limit": SHOWN, "count": SHOWN} | _more(side())
        assert len({entry["branch"] for entry in sides[1]()["entries"]}) == 8
        *shown, beside = medians_us(*sides, rounds=rounds, warm_up=50)
    worst = max(shown)
    shape = list(SHAPES)[shown.index(worst)]
    return Line(
        "`branchmind_show` of 20 entries, eight levels deep over 100,000 : flat over 1,000",
        worst / beside, 2, note=f"worst is “{shape}”, {compared_us(worst, beside)}",
    )  # fmt: skip


def _showing(store: Store, workspace: str, branch: str) -> Callable[[], dict[str, Any]]:
    call = {"workspace": workspace, "branch": branch, "doc": "notes", "limit": SHOWN}
    return lambda: store.call("branchmind_show", call)


def _more(answer: dict[str, Any]) -> dict[str, Any]:
    return {"has_more": True, "next_cursor": answer["entries"][0]["seq"]}


def _build_deep(home: str) -> None:
    author = Author(seed=21)
    for shape, levels in SHAPES.items():
        for level, count in enumerate([ENTRIES - sum(levels), *levels]):
            name = f"level {level}" if level else "main"
            with open_store(home) as store:
                if level:
                    base = f"level {level - 1}" if level > 1 else "main"
                    store.call("branchmind_branch_create", {"workspace": shape, "name": name, "from": base})
                else:
                    store.call("branchmind_init", {"workspace": shape})
            with tables_of(home) as tables:
                notes = ((author.prose(NOTE_CHARS), None) for _ in range(count))
                tables.add_notes(tables.branch(name, workspace=shape), notes, count, workspace=shape)


def _build_flat(home: str) -> None:
    author = Author(seed=22)
    with open_store(home) as store:
        store.call("branchmind_init", {"workspace": WORKSPACE})
    with tables_of(home) as tables:
        tables.add_notes(tables.branch("main"), ((author.prose(NOTE_CHARS), None) for _ in range(1_000)), 1_000)


def merge_line(merges: int = 5) -> Line:
    """All notes of a branch into another, page by page, against the bare inserts of the same rows."""
    author = Author(seed=24)
    texts = [author.prose(NOTE_CHARS) for _ in range(MERGED)]
    with scratch_folder() as folder, open_store(os.path.join(folder, "moss")) as store:
        store.call("branchmind_init", {"workspace": WORKSPACE})
        store.call("branchmind_branch_create", {"workspace": WORKSPACE, "name": "source"})
        bare = Tables(bare_database(os.path.join(folder, "bare.db")))
        with tables_of(os.path.join(folder, "moss")) as tables:
            source = tables.branch("source")
            tables.add_notes(source, ((text, None) for text in texts), MERGED)
        with bare.connection:
            bare.add_notes(source, ((text, None) for text in texts), MERGED)
        copies: list[tuple[str, str | None]] = [
            (text, f"merge:{source}:{seq}") for seq, text in enumerate(texts, start=1)
        ]
        taken = [_merge_us(store, bare, copies, number) for number in range(merges + 1)][1:]
        bare.connection.close()
    ours, theirs = (median(side) for side in zip(*taken, strict=True))
    return Line(
        f"`branchmind_merge` of 10,000 notes, {MERGED_AT_ONCE} a page : bare inserts, index, event and commit a page",
        ours / theirs, 3, note=compared_us(ours, theirs),
    )  # fmt: skip


def _merge_us(store: Store, bare: Tables, copies: list[tuple[str, str | None]], number: int) -> tuple[float, float]:
    """The microseconds that a whole merge into a new branch took each side; they take turns after each page."""
    into = f"into {number}"
    store.call("branchmind_branch_create", {"workspace": WORKSPACE, "name": into, "from": "main"})
    call: dict[str, Any] = {"workspace": WORKSPACE, "from": "source", "into": into}
    ours = theirs = merged = 0
    for first in range(0, MERGED, MERGED_AT_ONCE):
        start = perf_counter_ns()
        answer = store.call("branchmind_merge", call)
        between = perf_counter_ns()
        with bare.connection:
            bare.add_notes(100 + number, copies[first : first + MERGED_AT_ONCE], MERGED_AT_ONCE)
            bare.add_event("branchmind_merge")
        theirs += perf_counter_ns() - between
        ours += between - start
        merged += answer["merged"]
        call["cursor"] = answer["pagination"].get("next_cursor")
    assert merged == MERGED, "a side that copied nothing would look fast"
    assert call["cursor"] is None, "the last page says that it is the last"
    return ours / 1000, theirs / 1000


def lines() -> list[Line]:
    """Every line about branches."""
    return [show_line(), merge_line()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
