"""Real git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CLEAN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


class Repository:
    """A work tree that is changed by git itself."""

    def __init__(self, folder: Path, *, init: bool = True) -> None:
        self.folder = folder
        if init:
            folder.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "-b", "main")

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.folder), *words], env=CLEAN, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def put(self, path: str, content: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)

    def commit(self, files: dict[str, str] | None = None, message: str = "a change") -> str:
        for path, content in (files or {}).items():
            self.put(path, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")
