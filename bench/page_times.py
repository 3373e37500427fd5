"""CPU time of the pages of a store with 100,000 rows."""

from __future__ import annotations

import os
import time
from statistics import median

import apsw
from starlette.requests import Request

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.web.app import PAGES as HANDLERS
from moss_memory.web.page_context import PageContext, PageRequest

from .measure import BenchmarkRow, cached
from .scale import build_store

CAPSULES = 100_000
DAYS = 60
ROUNDS = 15
PAGES = (
    "/", "/overview", "/capsules", "/capsules?sort=size", "/artifacts", "/tasks", "/records", "/records/timeline",
    "/workspaces", "/health", "/connect", "/palette?q=capsule", "/reasoning", "/reasoning/log", "/agent", "/map",
)  # fmt: skip
_EVENTS = (
    "insert into events (event_id, workspace, tool, address, ts_ms)"
    " select 'bench-' || row_id, workspace_norm, 'capsule_store', id, :first + row_id * :step from capsules"
)


def _build(home: str) -> None:
    """Copy the store and add one change of each capsule within the last weeks."""
    source = apsw.Connection(os.path.join(build_store(CAPSULES), DATABASE), flags=apsw.SQLITE_OPEN_READONLY)
    target = apsw.Connection(os.path.join(home, DATABASE))
    with target.backup("main", source, "main") as backup:
        backup.step()
    add_functions(target)
    first = int((time.time() - DAYS * 86_400) * 1000)
    with target:
        target.execute(_EVENTS, {"first": first, "step": DAYS * 86_400_000 // CAPSULES})
    target.close()
    source.close()


def _cpu_ms(context: PageContext, address: str) -> float:
    """Return the median CPU time of the first visit to a page after a change."""
    path, _, query = address.partition("?")
    handler = HANDLERS[path]
    scope = {
        "type": "http", "path": path, "query_string": query.encode(), "path_params": {}, "headers": [],
        "server": ("127.0.0.1", 1),
    }  # fmt: skip
    times = []
    for _ in range(ROUNDS + 2):
        context.clear_cache()
        start = time.process_time()
        handler(context, PageRequest(Request(scope)))
        times.append((time.process_time() - start) * 1000)
    return median(times[2:])


def run() -> list[BenchmarkRow]:
    with open_store(cached(f"pages-{CAPSULES}", _build)) as store:
        context = PageContext(store, base="", form_token=str, read_only=False)
        times = {page: _cpu_ms(context, page) for page in PAGES}
    slowest = max(times, key=lambda page: times[page])
    return [
        BenchmarkRow(
            "CPU of a page in a store of 100,000 rows after a change, at worst", times[slowest], 50, "ms", slowest
        )
    ]
