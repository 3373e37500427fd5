"""Eight processes that write at the same time: the cost of the lock, and the longest wait."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from statistics import median
from time import monotonic
from typing import Any

from moss_memory import open_store
from moss_memory.store import Store

from .measure import BenchmarkRow, compare_times, format_time, scratch_folder
from .polled_lock import PolledLock
from .texts import Author

WRITERS = 8
WRITES = 250
ROUNDS = 3
Span = tuple[float, float, float]
"""The times of request, acquisition and release of the lock, on a clock that all processes share."""


@dataclass(frozen=True)
class Run:
    """The lock spans of eight writers and the duration of the run."""

    spans: list[Span]
    duration_s: float

    @property
    def us_per_write(self) -> float:
        return self.duration_s * 1e6 / len(self.spans)

    @property
    def longest_wait_s(self) -> float:
        return max(acquired - requested for requested, acquired, _ in self.spans)

    @property
    def longest_eight_holds_s(self) -> float:
        """Return the longest time from the acquisition of one hold to the release of the seventh hold after it."""
        spans = sorted(self.spans, key=lambda span: span[1])
        return max(last[2] - first[1] for first, last in zip(spans, spans[WRITERS - 1 :], strict=False))


class RecordingLock:
    """A lock that records when it is requested, acquired and released."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.spans: list[Span] = []

    def new_hold(self, before_release: Any = None) -> RecordingHold:
        return RecordingHold(self._lock.new_hold(before_release), self.spans)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


class RecordingHold:
    """A hold that appends its times to a list."""

    def __init__(self, hold: Any, spans: list[Span]) -> None:
        self._hold = hold
        self._spans = spans
        self._times: list[float] = []

    def acquire(self, timeout_s: float, call: Any = None) -> None:
        requested = monotonic()
        self._hold.acquire(timeout_s, call)
        self._times = [requested, monotonic()]

    def release(self) -> None:
        if self._times:
            requested, acquired = self._times
            self._times = []
            self._spans.append((requested, acquired, monotonic()))
        self._hold.release()

    def __enter__(self) -> RecordingHold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def write(home: str, number: str, *, polled: bool) -> None:
    """Store capsules without pauses after a line on stdin; print the times of the lock."""
    store = open_store(home)
    engine: Any = store._engine
    if polled:
        engine._lock = PolledLock(home)
    engine._lock = lock = RecordingLock(engine._lock)
    author = Author(seed=int(number))
    texts = [author.capsule(2_000) for _ in range(20)]
    _store(store, number, texts[0])
    print("ready", flush=True)
    sys.stdin.readline()
    lock.spans.clear()
    start = monotonic()
    for count in range(WRITES):
        _store(store, f"{number}.{count}", texts[count % 20])
    print(json.dumps([start, monotonic(), lock.spans]))


def _store(store: Store, name: str, text: str) -> None:
    store.call("capsule_store", {"workspace": "bench", "name": name, "capsule_text": text})


def _run_writers(home: str, lock: str) -> Run:
    command = [sys.executable, "-m", "bench.writers", lock, home]
    pipe = subprocess.PIPE
    writers = [
        subprocess.Popen([*command, str(number)], stdin=pipe, stdout=pipe, text=True) for number in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    results = [json.loads(writer.communicate()[0]) for writer in writers]
    duration_s = max(end for _, end, _ in results) - min(start for start, _, _ in results)
    return Run([span for *_, spans in results for span in spans], duration_s)


def run() -> list[BenchmarkRow]:
    runs: dict[str, list[Run]] = {"queued": [], "polled": []}
    with scratch_folder() as folder:
        for number in range(ROUNDS):
            for lock, done in runs.items():
                done.append(_run_writers(os.path.join(folder, f"{lock}-{number}"), lock))
    queued_us, polled_us = (median(run.us_per_write for run in done) for done in runs.values())
    worst = max(runs["queued"], key=lambda run: run.longest_wait_s / run.longest_eight_holds_s)
    wait_us, holds_us = worst.longest_wait_s * 1e6, worst.longest_eight_holds_s * 1e6
    polled_wait_us = max(run.longest_wait_s for run in runs["polled"]) * 1e6
    note = f"{compare_times(wait_us, holds_us)}; {format_time(polled_wait_us)} with a polled lock"
    return [
        BenchmarkRow(
            "store by eight processes at once : the same with a polled lock",
            queued_us / polled_us,
            1.25,
            note=compare_times(queued_us, polled_us),
        ),
        BenchmarkRow(
            "longest wait of eight writers : longest eight consecutive holds", wait_us / holds_us, 2, note=note
        ),
    ]


if __name__ == "__main__":
    write(sys.argv[2], sys.argv[3], polled=sys.argv[1] == "polled")
