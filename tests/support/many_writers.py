"""Many processes that write without a pause, and the number of times that each was overtaken."""

from __future__ import annotations

import json
from bisect import bisect
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from support.python_process import start

# Tells when it asked for the lock and when it had it; the clock is the same for all processes.
WRITE = """
import json, sys, time
from collections import Counter
from moss_memory.errors import MossError
from moss_memory.storage.sqlite.lock import Hold
from support.store_truth import capsule, open_at
home, worker, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])
turns, refused = [], Counter()
acquire, wait = Hold.acquire, Hold._wait
def acquire_and_note(hold, *arguments):
    turns.append([time.monotonic_ns(), 0, False])
    acquire(hold, *arguments)
    turns[-1][1] = time.monotonic_ns()
def wait_and_note(hold, *arguments):
    turns[-1][2] = True
    wait(hold, *arguments)
Hold.acquire, Hold._wait = acquire_and_note, wait_and_note
text = capsule()
with open_at(home) as store:
    store.call("capsule_list", {})
    print("ready", flush=True)
    sys.stdin.readline()
    turns.clear()
    for number in range(writes):
        try:
            store.call("capsule_store", {"workspace": worker, "name": f"{number}", "capsule_text": text})
        except MossError as error:
            refused[error.code] += 1
print(json.dumps({"turns": turns, "refused": refused}))
"""


@dataclass(frozen=True)
class Trial:
    """The results of a trial."""

    refused: Counter[str]
    """The number of refused writes by code."""
    waited: int
    """The number of writes that waited."""
    overtaken: list[int]
    """For each overtaken write: the number of later requests that were served before it."""


def write_at_once(home: Path, *, writers: int, writes: int, timeout_s: float) -> Trial:
    """Let `writers` processes make `writes` writes each, all at once."""
    processes = [start(WRITE, home, worker, writes) for worker in range(writers)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        with ThreadPoolExecutor(writers) as pool:
            told = list(pool.map(lambda process: process.communicate("go\n", timeout=timeout_s)[0], processes))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    answers = [json.loads(said) for said in told]
    turns = sorted((turn for answer in answers for turn in answer["turns"]), key=lambda turn: turn[1])
    refused = sum((Counter(answer["refused"]) for answer in answers), Counter[str]())
    waited = sum(has_waited for *_, has_waited in turns)
    return Trial(refused, waited, _overtaken([asked for asked, *_ in turns]))


def _overtaken(numbers: list[int]) -> list[int]:
    """Return, for each number with larger ones before it, the number of those."""
    seen: list[int] = []
    found = []
    for number in numbers:
        place = bisect(seen, number)
        if place < len(seen):
            found.append(len(seen) - place)
        seen.insert(place, number)
    return found
