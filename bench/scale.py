"""Whether a store of 100,000 capsules answers as fast as one of 1,000."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import apsw

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.store import Store

from .measure import Line, cached, compared_us, medians_us, read_once
from .texts import Author

WORKSPACE_CAPSULES = 1_000
CAPSULE_CHARS = 1_000
_INSERT = """
insert into capsules (
  id, workspace_raw, workspace_norm, name_raw, name_norm, title, capsule_text, capsule_chars, tokens_estimate,
  created_at, updated_at, change_seq
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def store_of(capsules: int) -> str:
    """The home of a store of so many capsules in workspaces of 1,000."""
    home = cached(f"store-{capsules}", lambda folder: _build(folder, capsules))
    read_once(os.path.join(home, DATABASE))
    return home


def _build(home: str, capsules: int) -> None:
    with open_store(home) as store:
        store.call("capsule_purge", {})  # a write makes the store
    connection = apsw.Connection(os.path.join(home, DATABASE))
    prepare(connection)
    with connection:
        connection.executemany(_INSERT, _rows(capsules))
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


def _rows(capsules: int) -> Iterator[tuple[object, ...]]:
    author = Author(seed=3)
    # Workspaces take turns, as projects do: the capsules of one are not neighbours on disk.
    workspaces = max(1, capsules // WORKSPACE_CAPSULES)
    for number in range(capsules):
        workspace, name = f"project {number % workspaces}", f"capsule {number // workspaces}"
        text = author.capsule(CAPSULE_CHARS)
        time = 1_700_000_000 + number
        yield (
            f"{number:026d}", workspace, workspace, name, name, name, text, len(text), 250, time, time, number + 1,
        )  # fmt: skip


def fetching(store: Store, capsules: int) -> Callable[[], None]:
    """Fetches by name, all over the store."""
    chance = random.Random(5)  # noqa: S311
    workspaces = capsules // WORKSPACE_CAPSULES

    def fetch() -> None:
        workspace = f"project {chance.randrange(workspaces)}"
        name = f"capsule {chance.randrange(WORKSPACE_CAPSULES)}"
        store.call("capsule_fetch", {"workspace": workspace, "name": name})

    return fetch


def lines() -> list[Line]:
    """Fetch and list in the large store against the small one."""
    with open_store(store_of(100_000)) as large, open_store(store_of(1_000)) as small:
        fetch = medians_us(fetching(large, 100_000), fetching(small, 1_000), rounds=400, calls=10, warm_up=1000)

        def page(store: Store) -> Callable[[], object]:
            return lambda: store.call("capsule_list", {"workspace": "project 0"})

        listed = medians_us(page(large), page(small), rounds=300, warm_up=20)
    return [
        Line(
            "fetch by name in a store of 100,000 : in one of 1,000", fetch[0] / fetch[1], 1.5,
            note=compared_us(*fetch),
        ),
        Line(
            "list of a workspace of 1,000 in a store of 100,000 : in one of 1,000", listed[0] / listed[1], 1.5,
            note=compared_us(*listed),
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
