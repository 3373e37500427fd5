"""Many processes that write back to back, and in which order they got their turns."""

from __future__ import annotations

import json
from bisect import bisect
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from support.python_process import start

# Tells when it was called in, and with which number; the clock is the same for all processes.
WRITE = """
import json, sys, time
from collections import Counter
from moss_memory.errors import MossError
from moss_memory.storage.sqlite.line import Line
from support.store_truth import capsule, open_at
home, worker, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])
turns, refused = [], Counter()
call_in = Line.call_in
def called(line, place):
    turns.append((time.monotonic_ns(), place.number))
    call_in(line, place)
Line.call_in = called
text = capsule()
with open_at(home) as store:
    store.call("capsule_list", {})
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(writes):
        try:
            store.call("capsule_store", {"workspace": worker, "name": f"{number}", "capsule_text": text})
        except MossError as error:
            refused[error.code] += 1
print(json.dumps({"turns": turns, "refused": refused}))
"""


@dataclass(frozen=True)
class Trial:
    """What came of it."""

    refused: Counter[str]
    """How many writes were refused, by code."""
    waited: int
    """How many writes had to wait."""
    overtaken: list[int]
    """Of those who were, by how many who came later."""


def write_at_once(home: Path, *, writers: int, writes: int, patience_s: float) -> Trial:
    """Lets so many processes make so many writes each, all at once."""
    processes = [start(WRITE, home, worker, writes) for worker in range(writers)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        with ThreadPoolExecutor(writers) as pool:
            told = list(pool.map(lambda process: process.communicate("go\n", timeout=patience_s)[0], processes))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    answers = [json.loads(said) for said in told]
    turns = sorted(turn for answer in answers for turn in answer["turns"])
    refused = sum((Counter(answer["refused"]) for answer in answers), Counter[str]())
    return Trial(refused, len(turns), _overtaken([number for _, number in turns]))


def _overtaken(numbers: list[int]) -> list[int]:
    """For each number that larger ones came before: how many of them."""
    seen: list[int] = []
    found = []
    for number in numbers:
        place = bisect(seen, number)
        if place < len(seen):
            found.append(len(seen) - place)
        seen.insert(place, number)
    return found
