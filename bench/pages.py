"""What the server does for a page: whether a store of 100,000 rows costs more than one of 1,000."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median

from starlette.requests import Request

from moss_memory import Store
from moss_memory.config import load_config
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.web.app import MODULES
from moss_memory.web.page_context import PageContext, PageRequest
from moss_memory.web.templating import FOLDER

from .measure import Line, cached, duration, read_once, worst_line

ROWS = (100_000, 1_000)
ROUNDS = 15
MOST_MS = 50.0
SCRIPTS_KB = 100.0
PERIOD_MS = 60 * 86_400_000
WORKSPACE_ROWS = 1_000
SECTIONS = ("Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions")


def home_of(rows: int) -> str:
    """The home of a store with as many rows: a fifth of them capsules, and so on."""
    home = cached(f"pages-{rows}", lambda folder: _fill(folder, rows // 5))
    read_once(os.path.join(home, DATABASE))
    return home


def _fill(home: str, each: int) -> None:
    """Capsules, artifacts, notes, cards, tasks and records, as if written over the last two months."""
    now_ms = time.time_ns() // 1_000_000
    at_ms = [now_ms]
    with Store(load_config(home, cwd=home), clock_ms=lambda: at_ms[0]) as store:
        for number in range(each):
            at_ms[0] = now_ms - PERIOD_MS + PERIOD_MS * number // each
            _write(store, number, f"project {number % max(1, each // WORKSPACE_ROWS)}")


def _write(store: Store, number: int, workspace: str) -> None:
    text = "\n".join(f"## {title}\n\nOrders and refunds, number {number}.\n" for title in SECTIONS)
    place = {"workspace": workspace}
    tags = {"tags": [f"tag {number % 9}"], "source": "codex"}
    store.call("capsule_store", {**place, "name": f"capsule {number}", "capsule_text": text, **tags})
    lasts = {"ttl_seconds": 90 * 86_400} if number % 3 else {}
    artifact = {"kind": f"kind {number % 5}", "name": f"artifact {number}", "run_id": f"run {number // 50}"}
    store.call("artifact_store", {**place, **artifact, **lasts, "data": {"number": number}})
    store.call("branchmind_notes_commit", {**place, "content": f"note {number}"})
    card = {"type": ("question", "hypothesis", "evidence")[number % 3], "title": f"card {number}", "text": "t"}
    store.call("branchmind_think_card", {**place, "card": card})
    if number % 4 == 0:
        store.call("tasks_create", {**place, "kind": "task", "title": f"task {number}", "steps": [{"title": "one"}]})
    unit = {"id": f"FU-{number}", "description": "d", "status": "planning"}
    body = {**unit, "created_at": "2026-01-01", "updated_at": "2026-01-02"}
    store.call("submit_payload", {**place, "capability_id": "neotoma:store_feature_unit:v1", "body": body})


def pages_of(store: Store) -> dict[str, tuple[str, dict[str, str], dict[str, str]]]:
    """Every page by its name: its path, what fills the path, and its query."""
    place = {"workspace": "project 0"}
    capsule = {"id": store.call("capsule_inventory", {**place, "limit": 1})["items"][0]["id"]}
    artifact = {"id": store.call("artifact_list", {**place, "limit": 1})["items"][0]["id"]}
    entity = {"id": store.call("retrieve_entities", {**place, "limit": 1})["entities"][0]["entity_id"]}
    return {
        "overview": ("/", {}, {}),
        "overview of a workspace": ("/", {}, place),
        "capsules": ("/capsules", {}, {}),
        "a capsule": ("/capsules/{id}", capsule, {}),
        "its history": ("/capsules/{id}/history", capsule, {}),
        "artifacts": ("/artifacts", {}, {}),
        "artifacts of a run": ("/artifacts", {}, {"run_id": "run 1"}),
        "an artifact": ("/artifacts/{id}", artifact, {}),
        "tasks": ("/tasks", {}, place),
        "a task": ("/tasks/{id}", {"id": "TASK-001"}, place),
        "reasoning": ("/reasoning", {}, place),
        "notes": ("/reasoning/log", {}, place),
        "records": ("/records", {}, {}),
        "timeline": ("/records/timeline", {}, {}),
        "an entity": ("/records/entities/{id}", entity, place),
    }


def cpu_us(site: PageContext, path: str, filled: dict[str, str], query: dict[str, str]) -> Callable[[], float]:
    """A function that makes a page and says how much of the processor's time that took."""
    handler = next(module.PAGES[path] for module in MODULES if path in module.PAGES)
    asked = "&".join(f"{name}={value}" for name, value in query.items()).replace(" ", "%20").encode()
    scope = {
        "type": "http",
        "path": path,
        "query_string": asked,
        "path_params": filled,
        "headers": [],
        "server": ("a", 1),
    }

    def take() -> float:
        start = time.process_time_ns()
        answer = handler(site, PageRequest(Request(scope)))
        taken = (time.process_time_ns() - start) / 1000
        assert answer.status_code == 200, path
        return taken

    return take


def _one(take: Callable[[], float], site: PageContext, fresh: bool) -> float:
    if fresh:
        site.clear_cache()  # as after a change
    return take()


def lines() -> list[Line]:
    """Every page of the large store against the small one; the slowest; the size of others' scripts."""
    large, small = (Store(load_config(home_of(rows))) for rows in ROWS)
    sites = [PageContext(store, base="", form_token=str, read_only=False) for store in (large, small)]
    taken: dict[str, tuple[float, float]] = {}
    anew: dict[str, tuple[float, float]] = {}
    for name, (path, filled, query) in pages_of(small).items():
        other = pages_of(large)[name]
        sides = (cpu_us(sites[0], *other), cpu_us(sites[1], path, filled, query))
        for found, fresh in ((taken, False), (anew, True)):
            times = [[_one(side, site, fresh) for side, site in zip(sides, sites, strict=True)] for _ in range(ROUNDS)]
            found[name] = (median(one for one, _ in times), median(two for _, two in times))
    slowest = max(anew, key=lambda name: anew[name][0])
    scripts = sum((FOLDER / "static" / name).stat().st_size for name in ("htmx.min.js", "dagre.min.js")) / 1000
    slow = f"{slowest}, {duration(anew[slowest][0])}"
    for store in (large, small):
        store.close()
    return [
        worst_line("a page of a store of 100,000 rows : of one of 1,000, in processor time", taken, 2.0),
        worst_line("the same for the first one after a change", anew, None),
        Line("such a page that takes the server longest at 100,000 rows", anew[slowest][0] / 1000, MOST_MS, "ms", slow),
        Line("scripts of others that a page loads", scripts, SCRIPTS_KB, "kB"),
    ]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
