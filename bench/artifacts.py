"""What artifacts cost: beside bare SQLite, beside a small store, and beside LangGraph's SQLite store."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from statistics import median
from time import perf_counter_ns, time_ns
from typing import Any

import apsw

from moss_memory import open_store
from moss_memory.adapters.langgraph import MossStore
from moss_memory.config import load_config
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.store import Store
from moss_memory.tools.artifact.artifact_rows import LIST_COLUMNS
from moss_memory.tools.artifact.artifact_tools import artifact_list

from . import langgraph
from .in_process import bare_database
from .measure import Line, cached, compared_us, medians_us, read_once, scratch_folder
from .texts import Author

Finding = dict[str, Any]

RUN_ARTIFACTS = 20
"""How many artifacts a run has: one of each of its workers."""

PARALLEL_RUNS = 10
"""How many runs store at the same time, so that the artifacts of one are not neighbours on disk."""

_BENCH = ("bench",)
KIND = "explorer-finding"
_COLUMNS = (
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "kind", "data_json", "text", "data_chars",
    "text_chars", "run_id", "role", "phase", "version", "ttl_seconds", "expires_at", "created_at", "updated_at",
    "change_seq",
)  # fmt: skip
_INSERT = f"insert into artifacts ({', '.join(_COLUMNS)}) values ({', '.join('?' * len(_COLUMNS))})"
_KEEP = """
insert into versions (
  family, subject, version, at, tool, superseded_at, workspace_raw, name_raw, chars, kind, data_json, text, tags_json,
  run_id, phase, role
)
select 'artifact', row_id, version, version_at, version_tool, ?, workspace_raw, name_raw, data_chars + text_chars, kind,
  data_json, text, tags_json, run_id, phase, role
from artifacts where workspace_norm = ? and name_norm = ? and deleted_at is null and version = ?
"""
_UPDATE = """
update artifacts set
  kind = ?, data_json = ?, text = ?, data_chars = ?, text_chars = ?, run_id = ?, role = ?, phase = ?,
  version = version + 1, ttl_seconds = ?, expires_at = ?, updated_at = ?, change_seq = ?
where workspace_norm = ? and name_norm = ? and deleted_at is null and version = ?
returning id
"""
_LIST = f"""
select {", ".join(LIST_COLUMNS)} from artifacts where run_id = ? and deleted_at is null
order by updated_at desc, change_seq desc limit 40
"""
_EVENT = "insert into events (event_id, workspace, tool, address, ts_ms) values (?, ?, ?, ?, ?)"


def finding(author: Author, chars: int) -> Finding:
    """What an explorer found, of about so many characters of JSON."""
    files = []
    for number in range(chars // 200):
        summary = author.prose(130)
        files.append({"path": f"src/part_{number}.py", "relevance": "high", "summary": summary})
    return {"files": files, "patterns": ["repository"], "concerns": [], "confidence": 0.8}


def compact(data: Finding) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def arguments(number: int, data: Finding, text: str) -> dict[str, Any]:
    """A fan-out worker's call: every field that the document's example gives."""
    return {
        "workspace": "plan", "name": f"run-{number}-explorer", "kind": KIND, "data": data, "text": text,
        "run_id": f"run-{number // RUN_ARTIFACTS}", "role": "code-explorer", "phase": "exploring",
        "ttl_seconds": 3600,
    }  # fmt: skip


class Bare:
    """The statements alone, on Moss's own tables, indexes, triggers and durability; the JSON is encoded before."""

    def __init__(self, connection: apsw.Connection, texts: list[str], encoded: list[str]) -> None:
        self._connection = connection
        self._texts = texts
        self._encoded = encoded
        self._changes = itertools.count(1)

    def store(self, number: int) -> None:
        """Inserts an artifact (its trigger indexes it) and an event, and commits."""
        data, text, now_ms, change = self._next(number)
        now, key, name = now_ms // 1000, f"{now_ms:013d}{change:013d}", f"run-{number}-explorer"
        row = (
            key, "plan", "plan", name, name, KIND, data, text, len(data), len(text),
            f"run-{number // RUN_ARTIFACTS}", "code-explorer", "exploring", 1, 3600, now + 3600, now, now, change,
        )  # fmt: skip
        self._connection.execute("begin immediate")
        self._connection.execute(_INSERT, row)
        self._connection.execute(_EVENT, (key, "plan", "artifact_store", key, now_ms))
        self._connection.execute("commit")

    def update(self, number: int, version: int) -> None:
        """Keeps that version of an artifact, updates it, writes an event, and commits."""
        data, text, now_ms, change = self._next(number + version)
        now, key = now_ms // 1000, f"{now_ms:013d}{change:013d}"
        row = (
            KIND, data, text, len(data), len(text), f"run-{number // RUN_ARTIFACTS}", "code-explorer", "exploring",
            3600, now + 3600, now, change, "plan", f"run-{number}-explorer", version,
        )  # fmt: skip
        self._connection.execute("begin immediate")
        self._connection.execute(_KEEP, (now, "plan", f"run-{number}-explorer", version))
        (changed,) = self._connection.execute(_UPDATE, row).fetchall()
        self._connection.execute(_EVENT, (key, "plan", "artifact_store", changed[0], now_ms))
        self._connection.execute("commit")

    def _next(self, number: int) -> tuple[str, str, int, int]:
        place = number % len(self._texts)
        return self._encoded[place], self._texts[place], time_ns() // 1_000_000, next(self._changes)


def write_lines(rounds: int = 1500, updated: int = 200) -> list[Line]:
    """A store and a versioned update through `Store.call`, against the bare statements."""
    author = Author(seed=11)
    findings = [finding(author, 2_000) for _ in range(200)]
    texts = [author.prose(1_000) for _ in range(200)]
    with scratch_folder() as folder, open_store(os.path.join(folder, "moss")) as store:
        connection = bare_database(os.path.join(folder, "bare.db"))
        bare = Bare(connection, texts, [compact(data) for data in findings])
        ours, theirs, our_turns, their_turns = (itertools.count() for _ in range(4))

        def moss_store() -> None:
            number = next(ours)
            store.call("artifact_store", arguments(number, findings[number % 200], texts[number % 200]))

        def moss_update() -> None:
            turn, number = divmod(next(our_turns), updated)
            place = (number + turn + 1) % 200
            call = arguments(number, findings[place], texts[place])
            store.call("artifact_store", {**call, "expected_version": turn + 1})

        def bare_update() -> None:
            turn, number = divmod(next(their_turns), updated)
            bare.update(number, turn + 1)

        stored = medians_us(moss_store, lambda: bare.store(next(theirs)), rounds=rounds)
        changed = medians_us(moss_update, bare_update, rounds=rounds)
        connection.close()
    return [
        Line(
            "`artifact_store` of 2 kB of data, in process : bare insert, index, event and commit",
            stored[0] / stored[1], 2, note=compared_us(*stored),
        ),
        Line(
            "`artifact_store` with `expected_version`, in process : bare version row, update, index, event and commit",
            changed[0] / changed[1], 2, note=compared_us(*changed),
        ),
    ]  # fmt: skip


def list_line(rounds: int = 300) -> Line:
    """A page of 40 artifacts with their data, which an answer holds, against the select and decoding the JSON."""
    author = Author(seed=12)
    with scratch_folder() as folder, open_store(folder) as store:
        for number in range(500):
            call = arguments(number, finding(author, 2_000), author.prose(500))
            store.call("artifact_store", {**call, "run_id": f"run-{number % 5}"})
        connection = apsw.Connection(os.path.join(folder, DATABASE))

        def bare_list() -> list[tuple[Any, Finding]]:
            place = LIST_COLUMNS.index("data_json")
            return [(row, json.loads(row[place])) for row in connection.execute(_LIST, ("run-3",))]

        def moss_list() -> list[Finding]:
            items: list[Finding] = store.call("artifact_list", {"run_id": "run-3", "limit": 40})["items"]
            return items

        assert [item["data"] for item in moss_list()] == [data for _, data in bare_list()]
        listed = medians_us(moss_list, bare_list, rounds=rounds)
        connection.close()
    return Line(
        "`artifact_list` of 40 artifacts with 2 kB of data each : bare select and JSON decoding",
        listed[0] / listed[1], 3, note=compared_us(*listed),
    )  # fmt: skip


def store_of(artifacts: int) -> str:
    """The home of a store of so many artifacts in runs of twenty."""
    home = cached(f"artifacts-{artifacts}", lambda folder: _build(folder, artifacts))
    read_once(os.path.join(home, DATABASE))
    return home


def _build(home: str, artifacts: int) -> None:
    with open_store(home) as store:
        store.call("artifact_purge", {})  # a write makes the store
    connection = apsw.Connection(os.path.join(home, DATABASE))
    prepare(connection)
    with connection:
        connection.executemany(_INSERT, _rows(artifacts))
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


def _rows(artifacts: int) -> Iterator[tuple[object, ...]]:
    author = Author(seed=13)
    for number in range(artifacts):
        batch, place = divmod(number, RUN_ARTIFACTS * PARALLEL_RUNS)
        run, name = f"run-{batch * PARALLEL_RUNS + place % PARALLEL_RUNS}", f"artifact {number}"
        data, text, time = compact(finding(author, 1_000)), author.prose(200), 1_700_000_000 + number
        yield (
            f"{number:026d}", "plan", "plan", name, name, KIND, data, text, len(data), len(text), run,
            "code-explorer", "exploring", 1, None, None, time, time, number + 1,
        )  # fmt: skip


def run_line(rounds: int = 600) -> Line:
    """The artifacts of a run among 100,000, against the same among 1,000; runs are asked for all over the stores."""
    with open_store(store_of(100_000)) as large, open_store(store_of(1_000)) as small:

        def listing(store: Store, artifacts: int) -> Callable[[], object]:
            chance = random.Random(17)  # noqa: S311
            runs = artifacts // RUN_ARTIFACTS
            return lambda: store.call("artifact_list", {"run_id": f"run-{chance.randrange(runs)}"})

        assert len(small.call("artifact_list", {"run_id": "run-7"})["items"]) == RUN_ARTIFACTS
        listed = medians_us(listing(large, 100_000), listing(small, 1_000), rounds=rounds, warm_up=200)
    index = index_of_run_list(store_of(100_000))
    return Line(
        "`artifact_list` of a run of 20 among 100,000 artifacts : among 1,000",
        listed[0] / listed[1], 1.5, note=f"{compared_us(*listed)}, by index {index}",
    )  # fmt: skip


class Overhearing:
    """Stands in for a transaction to hear which statement a tool would run."""

    now = 1_800_000_000

    def __init__(self, home: str) -> None:
        self.config = load_config(home)
        self.statements: list[tuple[str, dict[str, Any]]] = []

    def rows(self, sql: str, parameters: dict[str, Any]) -> Iterator[Any]:
        self.statements.append((sql, parameters))
        return iter(())


def index_of_run_list(home: str) -> str:
    """The index by which a list by run is searched and ordered; anything but a plain index search is an error."""
    heard = Overhearing(home)
    artifact_list.body(heard, run_id="run-7")
    ((sql, parameters),) = heard.statements
    connection = apsw.Connection(os.path.join(home, DATABASE))
    steps = [row[3] for row in connection.execute(f"explain query plan {sql}", parameters)]
    connection.close()
    assert len(steps) == 1, f"the list by run takes more than an index search: {steps}"
    assert steps[0].startswith("SEARCH artifacts USING INDEX "), steps
    return str(steps[0].split()[4])


def peer_lines(calls: int = 750) -> list[Line]:
    """Put and get of 2 kB, against LangGraph's store as it opens its file and with a write-ahead log."""
    if not langgraph.install():
        return [Line(f"put and get : {langgraph.PACKAGE}'s", None, 1, note="not installed")]
    author = Author(seed=14)
    values = [finding(author, 2_000) for _ in range(calls)]
    keys = [f"finding-{number}" for number in range(calls)]
    asked = [keys[number * 7 % calls] for number in range(calls * 10)]
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        store = stack.enter_context(closing(MossStore(home=os.path.join(folder, "moss"))))
        peers = [
            stack.enter_context(langgraph.LangGraph(os.path.join(folder, f"{journal}.db"), journal=journal))
            for journal in ("delete", "wal")
        ]
        sides: list[Moss | langgraph.LangGraph] = [Moss(store), *peers]
        put = in_turn([partial(side.put, keys, values) for side in sides], len(keys), block=25)
        got = in_turn([partial(side.get, asked) for side in sides], len(asked), block=100)
        for side in sides:
            assert side.value(keys[-1]) == values[-1], "a side that stored nothing would look fast"
    name, logged = f"{langgraph.PACKAGE}'s", f"{langgraph.PACKAGE}'s with a write-ahead log"
    return [
        _versus("put", name, put[0], put[1], 1),
        _versus("get", name, got[0], got[1], 1),
        _versus("put", logged, put[0], put[2], None),
        _versus("get", logged, got[0], got[2], None),
    ]


class Moss:
    """A store asked as LangGraph's is: `put` and `get` answer how many microseconds each call took."""

    def __init__(self, store: MossStore) -> None:
        self._store = store

    def put(self, keys: list[str], values: list[Finding], some: slice) -> list[float]:
        pairs = zip(keys[some], values[some], strict=True)
        return [_timed_us(lambda: self._store.put(_BENCH, key, value)) for key, value in pairs]  # noqa: B023

    def get(self, keys: list[str], some: slice) -> list[float]:
        return [_timed_us(lambda: self._store.get(_BENCH, key)) for key in keys[some]]  # noqa: B023

    def value(self, key: str) -> Any:
        """What is stored under a key."""
        item = self._store.get(_BENCH, key)
        return item and item.value


def _timed_us(call: Callable[[], object]) -> float:
    start = perf_counter_ns()
    call()
    return (perf_counter_ns() - start) / 1000


def in_turn(sides: list[Callable[[slice], list[float]]], calls: int, *, block: int) -> list[float]:
    """The median of each side's times; each turn takes a block of calls, and each side times its own."""
    taken: list[list[float]] = [[] for _ in sides]
    for first in range(0, calls, block):
        for side, times in zip(sides, taken, strict=True):
            times += side(slice(first, first + block))
    return [median(times) for times in taken]


def _versus(work: str, whose: str, ours: float, theirs: float, limit: float | None) -> Line:
    return Line(f"{work} of 2 kB, in process : {whose}", ours / theirs, limit, note=compared_us(ours, theirs))


def lines() -> list[Line]:
    """Every line about artifacts."""
    return [*write_lines(), list_line(), run_line(), *peer_lines()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
