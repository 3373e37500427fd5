"""A proxy in front of a PostgreSQL server that cuts connections where it hurts most: around a commit."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from enum import Enum

COMMIT = b"commit\0"
"""How a statement that commits ends in whatever message carries it."""


class Cut(Enum):
    """What the proxy does to the next commit that passes."""

    NOTHING = "lets it pass"
    QUESTION = "cuts it off before the server hears of it"
    ANSWER = "cuts it off when the server has done it and says so"


class CuttingProxy:
    """Listens on this machine and passes everything on to a server's socket, but for what it is told to cut."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.next = Cut.NOTHING
        self.cuts = 0
        self.turned_away = 0
        self.turns_away = False
        """Whether nobody who comes now reaches the server."""
        threading.Thread(target=self._listen, daemon=True).start()

    def url(self, database: str) -> str:
        """The address of a database behind it."""
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
        """Takes nobody any more."""
        self._listening.close()


def _wait_for_commit(client: socket.socket, server: socket.socket) -> None:
    """Passes on the rest of what the client asks until the server says that it has committed."""
    answered = b""
    while b"COMMIT\0" not in answered:
        readable, _, _ = select.select([client, server], [], [])
        if client in readable:
            server.sendall(client.recv(65536))
        if server in readable:
            answered += server.recv(65536)
