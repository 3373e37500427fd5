"""A fetch in a store of 100,000 capsules, compared with one of 1,000."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import apsw

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.store import Store

from .measure import BenchmarkRow, cached, compare_times, medians_us, read_once
from .texts import Author

WORKSPACE_CAPSULES = 1_000
CAPSULE_CHARS = 1_000
_INSERT = """
insert into capsules (
  id, workspace_raw, workspace_norm, name_raw, name_norm, title, capsule_text, capsule_chars, tokens_estimate,
  created_at, updated_at, change_seq
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def build_store(capsules: int) -> str:
    """Build a store with workspaces of 1,000 capsules, once, and return its home."""
    home = cached(f"store-{capsules}", lambda folder: _build(folder, capsules))
    read_once(os.path.join(home, DATABASE))
    return home


def _build(home: str, capsules: int) -> None:
    with open_store(home) as store:
        store.call("capsule_purge", {})  # a write creates the store
    connection = apsw.Connection(os.path.join(home, DATABASE))
    add_functions(connection)
    with connection:
        connection.executemany(_INSERT, _rows(capsules))
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


def _rows(capsules: int) -> Iterator[tuple[object, ...]]:
    author = Author(seed=3)
    # The workspaces alternate, as in daily work, so that the capsules of one are not adjacent on the disk.
    workspaces = max(1, capsules // WORKSPACE_CAPSULES)
    for number in range(capsules):
        workspace, name = f"project {number % workspaces}", f"capsule {number // workspaces}"
        text = author.capsule(CAPSULE_CHARS)
        time = 1_700_000_000 + number
        yield (
            f"{number:026d}", workspace, workspace, name, name, name, text, len(text), 250, time, time, number + 1,
        )  # fmt: skip


def random_fetch(store: Store, capsules: int) -> Callable[[], None]:
    """Return a function that fetches a random capsule by name."""
    generator = random.Random(5)  # noqa: S311
    workspaces = capsules // WORKSPACE_CAPSULES

    def fetch() -> None:
        workspace = f"project {generator.randrange(workspaces)}"
        name = f"capsule {generator.randrange(WORKSPACE_CAPSULES)}"
        store.call("capsule_fetch", {"workspace": workspace, "name": name})

    return fetch


def run() -> list[BenchmarkRow]:
    with open_store(build_store(100_000)) as large, open_store(build_store(1_000)) as small:
        one, other = medians_us(
            random_fetch(large, 100_000), random_fetch(small, 1_000), rounds=400, calls=10, warm_up=1000
        )
    title = "fetch by name in a store of 100,000 : in one of 1,000"
    return [BenchmarkRow(title, one / other, 1.5, note=compare_times(one, other))]
