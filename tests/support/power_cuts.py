"""Run writers on a disk with power cuts, and compare the images with the acknowledged writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.python_process import environment, finish
from support.store_truth import capsule, check_truth, open_at

# Writes on a disk that may lose power at any moment, and leaves one folder an image behind.
RUN = """
import json, os, random, sys
from support.power_cut_disk import Disk
from support.store_truth import capsule, open_at
from moss_memory.storage.sqlite import connections

home, images, synchronous, cuts = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
set_pragma = connections.set_pragma
def set_otherwise(connection, pragma, expected):
    if pragma.startswith("synchronous"):
        connection.execute(f"pragma synchronous = {synchronous}")
    else:
        set_pragma(connection, pragma, expected)
if synchronous != "as the engine says":
    connections.set_pragma = set_otherwise

chance = random.Random(7)
disk = Disk(chance, 0.045)
kept, underway = {}, {}
disk.promise = (kept, underway)
store = open_at(home)
number = 0
while len(disk.images) < cuts:
    number += 1
    name = f"n{chance.randrange(number // 2 + 1)}"
    if kept.get(name) is None:
        step = ("capsule_store", {"name": name, "capsule_text": capsule(f"version{number} " * 40)}, number)
    elif chance.random() < 0.1:
        step = ("capsule_delete", {"name": name}, None)
    else:
        step = ("capsule_update", {"name": name, "capsule_text": capsule(f"version{number} " * 40)}, number)
    disk.promise = (kept, {name: step[2]})
    store.call(step[0], step[1])
    kept = {**kept, name: step[2]}
    disk.promise = (kept, {})
    disk.maybe_cut()
    if number % 40 == 0:
        store.call("capsule_purge", {})
    if number % 101 == 0:
        store.close()
for number, (files, promise) in enumerate(disk.images):
    folder = os.path.join(images, str(number))
    os.makedirs(folder, 0o700)
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    with open(os.path.join(folder, "promise.json"), "w") as file:
        json.dump(promise, file)
os._exit(0)
"""


def cut_power(tmp_path: Path, synchronous: str, cuts: int) -> list[Path]:
    """Return the homes that the power cuts of one run leave, each with its promises."""
    arguments = [str(tmp_path / "home"), str(tmp_path / "images"), synchronous, str(cuts)]
    finish(
        subprocess.Popen(
            [sys.executable, "-c", RUN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
    )
    return sorted((tmp_path / "images").iterdir(), key=lambda folder: int(folder.name))


def broken_promises(home: Path) -> list[str]:
    """Return the acknowledged writes that are missing."""
    kept: dict[str, Any]
    kept, underway = json.loads((home / "promise.json").read_text())
    with open_at(home) as store:
        found: dict[str, str] = {}
        listed: dict[str, Any] = {"pagination": {"has_more": True}}
        while listed["pagination"]["has_more"]:
            listed = store.call("capsule_inventory", {"limit": 500, "offset": len(found)})
            found.update({item["name"]: item["id"] for item in listed["items"]})
        broken = []
        for name in {*kept, *underway, *found}:
            capsule_id = found.get(name)
            text = None if capsule_id is None else store.call("capsule_fetch", {"id": capsule_id})["capsule_text"]
            allowed = [kept.get(name), underway.get(name, kept.get(name))]
            if text not in [None if version is None else capsule(f"version{version} " * 40) for version in allowed]:
                broken.append(name)
    return broken


def check_after_cut(home: Path) -> None:
    """Assert that the promises before a cut are kept, and that the store accepts writes."""
    assert broken_promises(home) == [], f"cut {home.name}"
    with open_at(home) as store:
        store.call("capsule_store", {"capsule_text": capsule()})  # the power may have gone before it was a store
    check_truth(home)
