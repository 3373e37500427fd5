"""Debian packages of programs that tests need."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable


def installed(package: str, find: Callable[[], str | None]) -> str | None:
    """Return the program that `find` returns; if it is missing and this process may, install its package first."""
    if found := find():
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None
    with open(os.path.join(tempfile.gettempdir(), f"moss-{package}.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found := find():
            return found
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update"], ["install", "-y", "--no-install-recommends", package]):
            subprocess.run(["apt-get", *words], env=environment, capture_output=True, check=False)
    return find()
