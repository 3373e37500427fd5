"""Requests of the owner while thousands of idle connections are opened."""

from __future__ import annotations

import resource
import socket
import threading
import time
from pathlib import Path

from soak.trial import Trial
from support.http_server import SERVE, HttpServer
from support.mcp_pipe import request

IDLE = 5_000
ROUNDS = 4
ANSWERED_S = 1.0
DESCRIPTORS = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))\n"


def beside_idle_ones(folder: Path) -> Trial:
    """Open 5,000 idle connections repeatedly; assert that each request of the owner is answered within a second."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    took: list[float] = []
    refused = 0
    with HttpServer(folder / "home", code=DESCRIPTORS + SERVE) as server:
        server.post(request("ping"))
        knocking = threading.Thread(target=_knock, args=(server.port,))
        knocking.start()
        while knocking.is_alive():
            began = time.monotonic()
            try:
                refused += server.post(request("ping")).status != 200
            except OSError:
                refused += 1
            took.append(time.monotonic() - began)
        knocking.join()
        tracebacks = server.stderr().count("Traceback")
    late = sum(one > ANSWERED_S for one in took)
    return Trial(len(took), late + refused + tracebacks, f"slowest {max(took):.2f} s, {refused} refused")


def _knock(port: int) -> None:
    """Open connections as fast as they are accepted, a few times."""
    for _ in range(ROUNDS):
        opened: list[socket.socket] = []
        try:
            for _ in range(IDLE):
                opened.append(socket.create_connection(("127.0.0.1", port), timeout=60))
        finally:
            for one in opened:
                one.close()
