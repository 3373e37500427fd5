"""What the state of the code costs: beside the same calls outside of a repository, and beside git alone."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable

from moss_memory import open_store
from moss_memory.code_state import comparison
from moss_memory.code_state.git_process import find_git

from .measure import Line, compared_us, medians_us, scratch_folder

_COMMITS, _PATHS, _CAPSULES = 1_000, 20, 1_000
_MOST_CPU_S = 2.0


def lines() -> list[Line]:
    """A write and a fetch inside and outside; a comparison over 1,000 commits; a list of 1,000 capsules."""
    there = os.getcwd()
    try:
        with scratch_folder() as folder:
            repository = os.path.join(folder, "shop")
            saved, head = _history(repository)
            return [
                _write(os.path.join(folder, "writes"), repository),
                _fetch(os.path.join(folder, "reads"), repository),
                _compare(os.path.join(folder, "compared"), repository, saved, head),
                _list(os.path.join(folder, "listed"), repository, saved, head),
            ]
    finally:
        os.chdir(there)


def _git(folder: str, *words: str, given: bytes = b"") -> str:
    done = subprocess.run([find_git(), "-C", folder, *words], input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()


def _history(folder: str) -> tuple[str, str]:
    """Makes 1,000 commits over 20 files; returns the first and the last."""
    os.mkdir(folder)
    _git(folder, "init", "-q", "-b", "main")
    parts = []
    for number in range(_COMMITS + 1):
        path, text = f"src/part{number % 4}/file{number % _PATHS}.py", f"{number}\n"
        files = [f"src/part{one % 4}/file{one}.py" for one in range(_PATHS)] if number == 0 else [path]
        parts.append(f"commit refs/heads/main\ncommitter a <a@b> {1_700_000_000 + number} +0000\ndata 1\nx\n")
        parts += [f"M 100644 inline {one}\ndata {len(text)}\n{text}\n" for one in files]
    _git(folder, "fast-import", "--quiet", given="".join(parts).encode())
    _git(folder, "reset", "-q", "--hard")
    return _git(folder, "rev-list", "--max-parents=0", "HEAD"), _git(folder, "rev-parse", "HEAD")


def _inside(folder: str, call: Callable[[], object]) -> Callable[[], None]:
    """Returns the call in a folder, which is entered before it; both sides of a comparison do so."""

    def enter_and_call() -> None:
        os.chdir(folder)
        call()

    return enter_and_call


def _write(home: str, repository: str) -> Line:
    numbers = itertools.count()
    with open_store(home) as store:

        def write() -> None:
            store.capsule_store(name=f"n{next(numbers)}", capsule_text="# x\n" + "word " * 200, allow_thin=True)

        inside, outside = medians_us(_inside(repository, write), _inside("/", write), rounds=400)
    return Line("a write inside of a repository : outside", inside / outside, 1.05, note=compared_us(inside, outside))


def _fetch(home: str, repository: str) -> Line:
    os.chdir(repository)
    with open_store(home) as store:
        store.capsule_store(name="n", capsule_text="# x\n" + "word " * 200 + "src/part0/file0.py", allow_thin=True)

        def fetch() -> None:
            store.capsule_fetch(name="n")

        inside, outside = medians_us(_inside(repository, fetch), _inside("/", fetch), rounds=400)
    return Line("capsule_fetch at the saved commit : outside", inside / outside, 1.5, note=compared_us(inside, outside))


def _text() -> str:
    return "see " + " ".join([f"src/part{one % 4}/file{one}.py" for one in range(_PATHS)])


def _compare(home: str, repository: str, saved: str, head: str) -> Line:
    _git(repository, "checkout", "-q", saved)
    os.chdir(repository)
    with open_store(home) as store:
        store.capsule_store(name="n", capsule_text=_text(), allow_thin=True)
        _git(repository, "checkout", "-q", "main")

        def fetch() -> None:
            comparison._files.clear()
            comparison._distances.clear()
            store.capsule_fetch(name="n")

        asked = "".join([f"{commit}:src/part{part}\n" for commit in (saved, head) for part in range(4)]).encode()

        def alone() -> None:
            _git(repository, "rev-list", "--count", "--left-right", f"{saved}...{head}", "--")
            _git(repository, "cat-file", "--batch-check", given=asked)

        ours, git = medians_us(_inside(repository, fetch), _inside(repository, alone), rounds=30)
    return Line(
        "capsule_fetch, 1,000 commits and 20 files later : the two git processes alone",
        ours / git,
        3.0,
        note=compared_us(ours, git),
    )


def _list(home: str, repository: str, saved: str, head: str) -> Line:
    commits = _git(repository, "rev-list", "--max-count=10", f"{head}~500").split()
    os.chdir(repository)
    with open_store(home) as store:
        for commit in commits:
            _git(repository, "checkout", "-q", commit)
            for number in range(_CAPSULES // len(commits)):
                text = f"{_text()}\n" + "word " * 500
                store.capsule_store(name=f"{commit}-{number}", capsule_text=text, allow_thin=True)
        _git(repository, "checkout", "-q", "main")
        comparison._files.clear()
        comparison._distances.clear()
        began = sum(os.times()[:4])  # with the processes of git
        found = store.moss_freshness(limit=1)
        took = sum(os.times()[:4]) - began
        assert found["pagination"]["total"] == _CAPSULES
        assert found["items"][0]["freshness"]["state"] == "drifted"
    return Line("moss_freshness of 1,000 capsules, CPU : 2 s", took / _MOST_CPU_S, 1.0, note=f"{took:.2f} s")
