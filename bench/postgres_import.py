"""Import of capsules into PostgreSQL beside its bare statements, by the CPU time of client and server together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import psycopg

from moss_memory.config import default_config
from moss_memory.storage.engine import open_engine
from moss_memory.storage.postgres.connections import connect
from moss_memory.storage.postgres.transaction import PostgresWrite
from moss_memory.store import Store

from .database_server import running
from .measure import Line, duration, scratch_folder
from .postgres import Statement, copied, recorded
from .postgres_search import fill_call
from .texts import Author

if TYPE_CHECKING:
    from moss_memory.config import Config

CAPSULES = 10_000
_TICKS = os.sysconf("SC_CLK_TCK")


def lines(count: int = CAPSULES) -> list[Line]:
    """The import of a folder into an empty store, and the statements that it sends, on copies of a database."""
    with scratch_folder() as home, running() as url:
        folder = os.path.join(home, "exported")
        with Store(default_config(os.path.join(home, "source"))) as source:
            _fill(source, count)
            source.export_folder(folder)
        with Store(default_config(home).replace(url=url)) as store:
            store.call("capsule_list", {})  # makes the schema
        heard = _import(home, copied(url, "heard"), folder, recorded)[1]
        ours, _ = _import(home, copied(url, "moss"), folder, lambda call: call())
        indexed = _indexed_s(default_config(home).replace(url=copied(url, "indexed")), heard)
        with connect(copied(url, "bare")) as bare:
            sent, _ = _cpu_s(bare, lambda: _replay(bare, heard))
    what = f"PostgreSQL: CPU of an import of {count:,} capsules : of its bare statements"
    return [
        Line(f"{what} and indexing", ours / indexed, 1.5, note=_note(ours, indexed)),
        Line(f"{what}, postings included", ours / sent, None, note=_note(ours, sent)),
    ]


def _note(ours: float, theirs: float) -> str:
    return f"{duration(ours * 1e6)} : {duration(theirs * 1e6)}"


def _fill(source: Store, count: int) -> None:
    author = Author(seed=7)
    for number in range(count):
        call = {"workspace": "shop", "name": f"n{number}", "capsule_text": author.capsule(1_000), "allow_thin": True}
        source.call("capsule_store", call)


def _import(home: str, url: str, folder: str, run: Callable[[Callable[[], object]], Any]) -> tuple[float, Any]:
    with Store(default_config(home).replace(url=url)) as store, connect(url) as beside:
        store.call("capsule_list", {})  # connects
        return _cpu_s(beside, lambda: run(lambda: store.import_folder(folder)))


def _indexed_s(config: Config, heard: list[Statement]) -> float:
    """The seconds of CPU of a transaction of the statements before the index, and of indexing what they wrote."""
    engine = open_engine(config)
    statements = takewhile(lambda one: "take_changed(" not in one[0], heard)

    def write() -> None:
        tx = engine.begin_write(timeout_s=60.0, call=fill_call(config))
        assert isinstance(tx, PostgresWrite)
        for sql, values in statements:
            tx.send(sql, values)
        tx._indexes = True
        tx.commit()
        tx.release()

    with connect(str(config.url)) as beside:
        taken, _ = _cpu_s(beside, write)
    engine.close()
    return taken


def _replay(bare: psycopg.Connection[Any], statements: list[Statement]) -> None:
    bare.execute("begin")
    for sql, values in statements:
        cursor = bare.execute(sql, values)
        if cursor.description:
            cursor.fetchall()


def _cpu_s(connection: psycopg.Connection[Any], call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of CPU that a call takes in this process and in all processes of the server."""
    before = time.process_time() + _server_cpu_s(connection)
    found = call()
    return time.process_time() + _server_cpu_s(connection) - before, found


def _server_cpu_s(connection: psycopg.Connection[Any]) -> float:
    """The seconds of CPU of the server: its first process with all that have ended, and those that run."""
    parent = _stat(connection.info.backend_pid)[1]
    running_ones = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    stats = [stat for pid in running_ones if (stat := _stat(pid))[1] == parent]
    ticks = sum(sum(stat[11:13]) for stat in stats) + sum(_stat(parent)[11:15])
    return ticks / _TICKS


def _stat(pid: int) -> list[int]:
    """The numbers of /proc/PID/stat after the name and the state, from the parent on; zeros if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return [0] * 20
    return [0, *(int(field) for field in fields[1:20])]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
