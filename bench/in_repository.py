"""What `moss_freshness` costs in a repository with a long history."""

from __future__ import annotations

import os
import subprocess

from moss_memory import open_store
from moss_memory.code_state import comparison
from moss_memory.code_state.git_process import find_git

from .measure import Line, scratch_folder

_COMMITS, _PATHS, _CAPSULES = 1_000, 20, 1_000
_MOST_CPU_S = 2.0


def lines() -> list[Line]:
    """The comparison of 1,000 capsules with a history of 1,000 commits."""
    there = os.getcwd()
    try:
        with scratch_folder() as folder:
            repository = os.path.join(folder, "shop")
            _make_history(repository)
            return [_list(os.path.join(folder, "home"), repository)]
    finally:
        os.chdir(there)


def _git(folder: str, *words: str, given: bytes = b"") -> str:
    done = subprocess.run([find_git(), "-C", folder, *words], input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()


def _make_history(folder: str) -> None:
    """Makes 1,000 commits over 20 files."""
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


def _text() -> str:
    return "see " + " ".join([f"src/part{one % 4}/file{one}.py" for one in range(_PATHS)])


def _list(home: str, repository: str) -> Line:
    commits = _git(repository, "rev-list", "--max-count=10", "main~500").split()
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
