"""pgbouncer in front of a server: each transaction may get another session."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any

from support.timeouts import TIMEOUT_S, wait_until


class Pooler:
    """The files of a pooler beside those of the server, and its process; started by `start`."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._folder = f"{server}/pool"
        self._process: subprocess.Popen[bytes] | None = None
        os.mkdir(self._folder)
        owner = os.stat(server).st_uid
        os.chown(self._folder, owner, owner)
        self._user: dict[str, Any] = {"user": owner, "group": owner} if os.getuid() == 0 else {}

    def start(self, program: str, database: str) -> str:
        """Start the pooler with fewer sessions than clients; return the URL of the database behind it."""
        with open(f"{self._folder}/users.txt", "w", encoding="utf-8") as users:
            users.write('"moss" ""\n')
        with open(f"{self._folder}/pgbouncer.ini", "w", encoding="utf-8") as settings:
            settings.write(
                f"[databases]\n{database} = host={self._server}\n[pgbouncer]\npool_mode = transaction\n"
                f"unix_socket_dir = {self._folder}\nlisten_port = 6432\nauth_type = trust\n"
                f"auth_file = {self._folder}/users.txt\ndefault_pool_size = 3\nlogfile =\npidfile =\n"
            )
        for name in os.listdir(self._folder):
            os.chmod(f"{self._folder}/{name}", 0o644)
        command = [program, "-q", f"{self._folder}/pgbouncer.ini"]
        self._process = subprocess.Popen(command, cwd=self._folder, stdin=subprocess.DEVNULL, **self._user)
        wait_until(lambda: os.path.exists(f"{self._folder}/.s.PGSQL.6432"), "the pooler does not start")
        return f"postgresql://moss@/{database}?host={self._folder}&port=6432"

    def close(self) -> None:
        """Stop the process and remove the files."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=TIMEOUT_S)
        shutil.rmtree(self._folder, ignore_errors=True)
