"""Servers at their limits: a full disk, and a pooler with fewer sessions than callers."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from contract.doors import FULL, Clock, StoreDoor, open_test_store, outcome
from contract.everything import call_everything, prepare
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.store import Store
from soak.trial import Trial
from support.debian import installed
from support.pooler import Pooler
from support.postgres import PostgresServer
from support.small_disk import SmallDisk
from support.store_truth import refusal

CALLERS, WRITES = 16, 200


def full_disk(folder: Path) -> Trial:
    """Assert that a full disk refuses writes as `STORAGE_FULL`, serves reads, and accepts writes with room again."""
    problem = SmallDisk.problem()
    if problem:
        return Trial(1, 1, f"no small disk can be made here: {problem}")
    disk = SmallDisk()
    try:
        with Store(default_config(str(folder)).replace(url=disk.url)) as store:
            stored = _fill(store, disk)
        with psycopg.connect(disk.url) as connection:
            names = connection.execute("select name_raw from artifacts order by row_id").fetchall()
    finally:
        disk.close()
    return Trial(stored + 2, int(names != [(str(number),) for number in range(stored + 1)]), "2 refused")


def _fill(store: Store, disk: SmallDisk) -> int:
    """Write until the disk is full, and once more with room again; return the number of writes acknowledged before."""
    store.call("capsule_store", {"name": "kept", "capsule_text": FULL})
    disk.fill()
    stored = 0
    while not isinstance(told := outcome(store, "artifact_store", _large(stored)), MossError):
        stored += 1
    assert told.code == "STORAGE_FULL", told
    assert refusal(store.call, "artifact_store", _large(stored)).code == "STORAGE_FULL"
    assert store.call("capsule_fetch", {"name": "kept"})["capsule_text"] == FULL
    disk.empty()
    store.call("artifact_store", _large(stored))
    return stored


def _large(number: int) -> dict[str, object]:
    """Return the arguments of an artifact that needs its own page."""
    return {"name": str(number), "kind": "k", "data": {"random": os.urandom(8_000).hex()}}


def behind_a_pooler(folder: Path) -> Trial:
    """Assert that every tool answers and that many callers share few sessions."""
    program = installed("pgbouncer", _pgbouncer)
    if program is None:
        return Trial(1, 1, "pgbouncer is not installed; install the package of that name")
    server = PostgresServer()
    pooler = Pooler(str(server.folder))
    try:
        url = pooler.start(program, "postgres")
        with Store(default_config(str(folder)).replace(url=url)) as store, ThreadPoolExecutor(CALLERS) as pool:
            list(
                pool.map(lambda n: store.call("capsule_store", {"name": f"p{n}", "capsule_text": FULL}), range(WRITES))
            )
            missing = WRITES - store.call("capsule_list", {})["pagination"]["total"]
        home = str(folder / "home")
        prepare(home)
        with open_test_store(home, Clock(), url=url) as tools:
            call_everything(StoreDoor(tools))
    finally:
        pooler.close()
        server.close()
    return Trial(WRITES, missing, "every tool answered")


def _pgbouncer() -> str | None:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
