"""Invalid calls, and other processes that replace files with links while they are opened."""

from __future__ import annotations

import itertools
import json
import random
import select
from collections import Counter
from pathlib import Path
from typing import Any

from contract.doors import Clock, StoreDoor, open_test_store
from contract.test_hostile_input import TOOLS, VALUES, Attack, base_arguments
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from soak.trial import Trial
from support.python_process import start
from support.quick_stores import make_stores
from support.store_truth import capsule, open_at

CALLS = 100_000
SWAPS = 100_000

# Puts now a file, now a link of either kind, now a folder into one place, until it is told to stop.
SWAP = """
import os, shutil, sys
exports, outside, swaps = sys.argv[1], sys.argv[2], int(sys.argv[3])
place, aside = os.path.join(exports, "swapped.jsonl"), os.path.join(exports, "aside")
secret, good = os.path.join(outside, "secret.jsonl"), os.path.join(exports, "good.jsonl")
def as_file():
    with open(good, "rb") as source, open(aside, "wb") as target:
        target.write(source.read())
def as_link():
    os.symlink(secret, aside)
def as_hard_link():
    os.link(secret, aside)
def as_nothing():
    pass
for number in range(swaps):
    (as_file, as_link, as_hard_link, as_nothing)[number % 4]()
    try:
        os.rename(aside, place)
    except FileNotFoundError:
        if os.path.lexists(place):
            os.unlink(place)
    if number % 8 == 7:  # the folder itself, too
        os.rename(exports, exports + ".away")
        try:
            os.symlink(outside, exports)
            os.unlink(exports)
        except FileExistsError:
            pass  # it was made anew meanwhile
        while os.path.exists(exports + ".away"):
            try:
                os.rename(exports + ".away", exports)
            except OSError:
                shutil.rmtree(exports, ignore_errors=True)
print("done", flush=True)
sys.stdin.readline()
"""


def fuzzed_calls(folder: Path) -> Trial:
    """Call every tool with hostile values; each call is served or refused with a documented code."""
    chance = random.Random(19)  # noqa: S311
    failed = 0
    make_stores(quickly=True)  # a hundred thousand calls need not wait for the disk
    with open_test_store(str(folder / "home"), Clock()) as store:
        attack = Attack(StoreDoor(store))
        for _ in range(CALLS):
            tool = chance.choice(TOOLS)
            operation = catalog.find(tool)
            assert operation is not None
            names = chance.sample(sorted(operation.parameters), min(len(operation.parameters), chance.randint(1, 4)))
            hostile = {name: chance.choice(VALUES) for name in names}
            try:
                attack(tool, {**base_arguments(tool, attack.ids), **hostile})
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                failed += 1
                print(f"{tool} {hostile!r:.200}: {error!r:.300}")
    make_stores(quickly=False)
    return Trial(CALLS, failed, f"{len(TOOLS)} tools")


def swapped_links(folder: Path) -> Trial:
    """Assert that no import reads and no export writes outside its folder while entries are replaced by links."""
    home, outside = folder / "home", folder / "outside"
    outside.mkdir()
    (outside / "secret.jsonl").write_text(_line("secret", "from outside"))
    outcomes: Counter[str] = Counter()
    with open_at(home) as store:
        store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
        (home / "exports").mkdir(mode=0o700, exist_ok=True)
        (home / "exports" / "good.jsonl").write_text(_line("good", "from inside"))
        before = _files(outside)
        swapper = start(SWAP, home / "exports", outside, SWAPS)
        for tool in itertools.cycle(("capsule_import", "capsule_export")):
            if swapper.poll() is not None or _is_done(swapper):
                break
            outcomes[_outcome(store, tool)] += 1
        swapper.communicate("\n")
        escaped = int(_files(outside) != before)
        escaped += sum(name == "secret" for name in _names(store))
    internal = outcomes["INTERNAL"]
    note = ", ".join(f"{count:,} {code}" for code, count in outcomes.most_common())
    return Trial(SWAPS, escaped + internal + bool(swapper.returncode), f"calls meanwhile: {note}")


def _line(number: str, text: str) -> str:
    return json.dumps({"id": number, "workspace_raw": "w", "name_raw": number, "capsule_text": text}) + "\n"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _names(store: Any) -> list[str]:
    return [item["name"] for item in store.call("capsule_inventory", {"limit": 500})["items"]]


def _is_done(process: Any) -> bool:
    return bool(select.select([process.stdout], [], [], 0)[0])


def _outcome(store: Any, tool: str) -> str:
    mode = {"mode": "replace"} if tool == "capsule_import" else {}
    try:
        store.call(tool, {"path": "swapped.jsonl", **mode})
    except MossError as error:
        return error.code
    return "done"
