"""A proxy in front of a PostgreSQL server that cuts connections around a commit."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from enum import Enum

COMMIT = b"commit\0"
"""The end of a statement that commits, in any kind of message."""


class Cut(Enum):
    """The action of the proxy at the next commit."""

    NOTHING = "lets it pass"
    QUESTION = "cuts it off before the server hears of it"
    ANSWER = "cuts it off when the server has done it and says so"


class CuttingProxy:
    """Listen on this machine and forward everything to a server's socket, except for the requested cut."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.next = Cut.NOTHING
        self.cuts = 0
        self.turned_away = 0
        self.turns_away = False
        """Whether new connections are refused."""
        threading.Thread(target=self._listen, daemon=True).start()

    def url(self, database: str) -> str:
        """Return the address of a database behind the proxy."""
        return f"postgresql://moss@127.0.0.1:{self.port}/{database}"

    def _listen(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                client, _ = self._listening.accept()
                if self.turns_away:
                    self.turned_away += 1
                    client.close()
                else:
                    threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            server.connect(self._server)
            while True:
                readable, _, _ = select.select([client, server], [], [])
                if client in readable and not self._pass_on(client, server):
                    return
                if server in readable:
                    answer = server.recv(65536)
                    if not answer:
                        return
                    client.sendall(answer)

    def _pass_on(self, client: socket.socket, server: socket.socket) -> bool:
        asked = client.recv(65536)
        if not asked:
            return False
        cut = self.next if COMMIT in asked else Cut.NOTHING
        if cut is not Cut.NOTHING:
            self.next = Cut.NOTHING
            self.cuts += 1
        if cut is Cut.QUESTION:
            return False
        server.sendall(asked)
        if cut is Cut.ANSWER:
            _wait_for_commit(client, server)
            return False
        return True

    def close(self) -> None:
        """Accept no more connections."""
        self._listening.close()


def _wait_for_commit(client: socket.socket, server: socket.socket) -> None:
    """Forward the client's requests until the server confirms the commit."""
    answered = b""
    while b"COMMIT\0" not in answered:
        readable, _, _ = select.select([client, server], [], [])
        if client in readable:
            server.sendall(client.recv(65536))
        if server in readable:
            answered += server.recv(65536)
