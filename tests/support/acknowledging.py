"""Processes that write to one store on a server, and record the answer of every write."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.python_process import start
from support.timeouts import TIMEOUT_S, wait_until

MOST = 100_000
"""The most writes of one process."""

# Every write has a title of its own and no name, so that one that was carried out twice is there twice. Half of the
# writers send what failed again with its key; the others only where they were told that nothing was written.
WRITE = """
import os, sys, threading
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.store import Store
from support.store_truth import capsule
url, folder, worker, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
notes = os.open(os.path.join(folder, f"writer-{worker}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
pause = threading.Event()
store, text = Store(default_config(folder).replace(url=url)), capsule()
for number in range(most):
    title = f"{worker}-{number}"
    while not os.path.exists(os.path.join(folder, "stop")):
        key = title if worker % 2 else None
        wanted = {"workspace": f"w{worker}", "title": title, "capsule_text": text}
        try:
            told = f"ok {store.call('capsule_store', wanted, idempotency_key=key)['id']}"
        except MossError as error:
            told = error.code
        os.write(notes, f"{title} {told}\\n".encode())
        if told.startswith("ok") or (told == "STORAGE_UNKNOWN" and key is None):
            break
        if told not in ("STORAGE_BUSY", "STORAGE_UNKNOWN"):
            sys.exit(f"{title}: {told}")
        pause.wait(0.2)
"""


@dataclass
class Answers:
    """The answers that writers got."""

    kept: dict[str, str] = field(default_factory=dict)
    """The id of each acknowledged write, by its title."""
    unknown: set[str] = field(default_factory=set)
    """Titles of writes whose outcome is unknown."""
    refused: Counter[str] = field(default_factory=Counter)
    """The number of errors by code."""

    def wrong_in(self, found: list[tuple[Any, ...]]) -> list[str]:
        """Return the contradictions between the answers and the stored titles and ids."""
        there = {title: number for number, title in found}
        wrong = [f"{title} was acknowledged and is gone" for title in self.kept.keys() - there.keys()]
        wrong += [
            f"{title} is there under another id" for title, kept in self.kept.items() if there.get(title, kept) != kept
        ]
        wrong += [f"{title} is there {count} times" for title, count in _several(found)]
        never = there.keys() - self.kept.keys() - self.unknown
        return wrong + [f"{title} is there and was never acknowledged" for title in never]


def _several(found: list[tuple[Any, ...]]) -> list[tuple[str, int]]:
    counted = Counter(title for _, title in found)
    return [(title, count) for title, count in counted.items() if count > 1]


class Writers:
    """Writers that run until they are stopped."""

    def __init__(self, folder: Path, url: str, *, count: int, most: int = MOST) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[str]] = [
            start(WRITE, url, folder, worker, most) for worker in range(count)
        ]

    def answers(self) -> Answers:
        """Return the answers until now."""
        answers = Answers()
        for notes in sorted(self._folder.glob("writer-*")):
            for line in notes.read_text().splitlines():
                title, outcome, *given = line.split()
                answers.unknown.discard(title)
                if outcome == "ok":
                    answers.kept[title] = given[0]
                else:
                    answers.refused[outcome] += 1
                    if outcome == "STORAGE_UNKNOWN":
                        answers.unknown.add(title)
        return answers

    def wait_for(self, more: int) -> None:
        """Wait until every writer has had `more` further writes acknowledged."""
        before = self._each()

        def went_on() -> bool:
            assert all(process.poll() is None for process in self._processes), "a writer gave up"
            return all(now >= then + more for now, then in zip(self._each(), before, strict=True))

        wait_until(went_on, "the writers do not go on")

    def _each(self) -> list[int]:
        kept = Counter(title.partition("-")[0] for title in self.answers().kept)
        return [kept[str(worker)] for worker in range(len(self._processes))]

    def stop(self) -> Answers:
        """Let each writer finish its current write; return the answers of all."""
        (self._folder / "stop").touch()
        for process in self._processes:
            process.communicate(timeout=2 * TIMEOUT_S)
        return self.answers()

    def kill(self) -> None:
        """Kill the writers that still run."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
