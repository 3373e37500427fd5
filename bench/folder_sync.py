"""A sync of 10,000 capsules without changes, compared with reading and hashing their files."""

from __future__ import annotations

import hashlib
import os

from moss_memory import open_store

from .measure import BenchmarkRow, compare_times, medians_us, scratch_folder
from .texts import Author

CAPSULES = 10_000
ROUNDS = 5


def run() -> list[BenchmarkRow]:
    with scratch_folder() as folder, open_store(os.path.join(folder, "home")) as store:
        author, target = Author(seed=3), os.path.join(folder, "memory")
        for number in range(CAPSULES):
            text = {"capsule_text": author.capsule(2000), "allow_thin": True}
            store.call("capsule_store", {"workspace": f"w{number % 10}", "name": f"capsule {number}", **text})
        store.sync(target)

        def sync() -> None:
            assert store.sync(target)["written"] == 0

        synced, hashed = medians_us(sync, lambda: _hash_files(target), rounds=ROUNDS, warm_up=1)
    title = "sync of 10,000 capsules without changes : reading and hashing the files"
    return [BenchmarkRow(title, synced / hashed, 3.0, note=compare_times(synced, hashed))]


def _hash_files(folder: str) -> None:
    for path, _, names in os.walk(os.path.join(folder, "capsules")):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                hashlib.sha256(file.read()).hexdigest()
