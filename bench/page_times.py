"""Whether a page of a store with 100,000 rows takes as long as one with 1,000: CPU time of the server alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median

import apsw
from starlette.requests import Request

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.web.app import MODULES
from moss_memory.web.page_context import PageContext, PageRequest

from .measure import Line, cached
from .scale import WORKSPACE_CAPSULES, store_of

LARGE, SMALL = 100_000, 1_000
DAYS = 60
ROUNDS = 15
PAGES = (
    "/", "/overview", "/capsules", "/capsules?sort=size", "/artifacts", "/tasks", "/records", "/records/timeline",
    "/workspaces", "/health", "/connect", "/palette?q=capsule", "/reasoning", "/reasoning/log", "/agent", "/map",
)  # fmt: skip
WORKSPACES = LARGE // WORKSPACE_CAPSULES
"""Both stores have this number of workspaces, so that a list of them is as long in both."""
_SPREAD = (
    "update capsules set workspace_raw = place, workspace_norm = place"
    " from (select row_id as one, 'project ' || ((row_id - 1) % :workspaces) as place from capsules)"
    " where row_id = one and workspace_norm <> place"
)
_EVENTS = (
    "insert into events (event_id, workspace, tool, address, ts_ms)"
    " select 'bench-' || row_id, workspace_norm, 'capsule_store', id, :first + row_id * :step from capsules"
)


def _home(rows: int) -> str:
    """The home of a store with so many capsules, and one change of each in the last weeks."""

    def build(folder: str) -> None:
        source = apsw.Connection(os.path.join(store_of(rows), DATABASE), flags=apsw.SQLITE_OPEN_READONLY)
        target = apsw.Connection(os.path.join(folder, DATABASE))
        with target.backup("main", source, "main") as copied:
            copied.step()
        prepare(target)
        first = int((time.time() - DAYS * 86_400) * 1000)
        with target:
            target.execute(_SPREAD, {"workspaces": WORKSPACES})
            target.execute(_EVENTS, {"first": first, "step": DAYS * 86_400_000 // rows})
        target.close()
        source.close()

    return cached(f"pages-{rows}", build)


def _asking(context: PageContext, address: str, *, is_first: bool) -> Callable[[], object]:
    path, _, query = address.partition("?")
    handler = next(module.PAGES[path] for module in MODULES if path in module.PAGES)
    scope = {
        "type": "http", "path": path, "query_string": query.encode(), "path_params": {}, "headers": [],
        "server": ("127.0.0.1", 1),
    }  # fmt: skip

    def ask() -> object:
        if is_first:
            context.clear_cache()
        return handler(context, PageRequest(Request(scope)))

    return ask


def _cpu_ms(asks: list[Callable[[], object]]) -> list[float]:
    taken: list[list[float]] = [[] for _ in asks]
    for turn in range(ROUNDS + 2):
        for ask, times in zip(asks, taken, strict=True):
            began = time.process_time()
            ask()
            if turn >= 2:
                times.append((time.process_time() - began) * 1000)
    return [median(times) for times in taken]


def lines() -> list[Line]:
    """The slowest first visit after a change, and the pages that grow most with the store."""
    first: dict[str, float] = {}
    after: dict[str, float] = {}
    again: dict[str, float] = {}
    with open_store(_home(LARGE)) as large, open_store(_home(SMALL)) as small:
        contexts = [PageContext(store, base="", form_token=str, read_only=False) for store in (large, small)]
        for page in PAGES:
            first[page], less = _cpu_ms([_asking(context, page, is_first=True) for context in contexts])
            after[page] = first[page] / less
            more, less = _cpu_ms([_asking(context, page, is_first=False) for context in contexts])
            again[page] = more / less
    slowest, grown, changed = (max(found, key=lambda page: found[page]) for found in (first, again, after))
    return [
        Line("CPU of a page in a store of 100,000 rows after a change, at worst", first[slowest], 50, "ms", slowest),
        Line("CPU of a page in a store of 100,000 : in one of 1,000, at worst", again[grown], 2, note=grown),
        # The larger store has more to read: up to 1,000 changes of a week, up to 10,000 capsules to sort.
        Line("the same for the first visit after a change", after[changed], None, note=changed),
    ]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
