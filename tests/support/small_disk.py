"""A server on a small disk that can be filled: a file system in memory, visible to the server alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

from support.postgres_programs import NOBODY, Programs
from support.timeouts import TIMEOUT_S, wait_until

SIZE_MB = 96
_PIECE_BYTES = 65_536
_UNSHARED = ("unshare", "--mount", "--propagation", "private")
_SCRIPT = """
set -e
mount -t tmpfs -o size={size}m,uid={user},gid={user},mode=0700 tmpfs {disk}
as="setpriv --reuid={user} --regid={user} --clear-groups"
$as {binaries}/initdb -D {disk}/data -X {folder}/wal -U moss -A trust -E UTF8 --locale=C.UTF-8 -N
exec $as {binaries}/postgres -D {disk}/data -k {folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB
"""


class SmallDisk:
    """The server: its tables are on the small disk, its log is not, as in a usual setup."""

    @staticmethod
    def problem() -> str:
        """Return why this machine cannot have one; an empty string if it can."""
        if os.getuid() != 0:
            return "only root can mount one"
        tried = subprocess.run([*_UNSHARED, "true"], capture_output=True, text=True, check=False)
        return tried.stderr.strip() or ("" if tried.returncode == 0 else "unshare fails")

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="moss-small-"))
        programs = Programs(self._folder)
        self._disk = self._folder / "disk"
        for folder in (self._disk, self._folder / "wal"):
            folder.mkdir()
            programs.own(folder)
        script = _SCRIPT.format(
            size=SIZE_MB, user=NOBODY, disk=self._disk, folder=self._folder, binaries=programs.binaries
        )
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [*_UNSHARED, "sh", "-c", script],
                cwd=self._folder,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.url = f"postgresql://moss@/postgres?host={self._folder}"
        wait_until(self._answers, "the server does not answer")

    def _answers(self) -> bool:
        assert self._process.poll() is None, (self._folder / "log").read_text()
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    @property
    def _ballast(self) -> Path:
        return Path(f"/proc/{self._process.pid}/root{self._disk}/ballast")

    def fill(self) -> None:
        """Fill the disk."""
        with contextlib.suppress(OSError), self._ballast.open("wb", buffering=0) as file:
            while file.write(b"\1" * _PIECE_BYTES):
                pass
        room = os.statvfs(self._ballast.parent)
        assert room.f_bavail == 0, "the disk is full now"

    def empty(self) -> None:
        """Free the space."""
        self._ballast.unlink()

    def close(self) -> None:
        """Stop the server, which removes its disk."""
        self._process.send_signal(3)
        self._process.wait(timeout=TIMEOUT_S)
        shutil.rmtree(self._folder, ignore_errors=True)
