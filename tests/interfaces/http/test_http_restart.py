"""Server restarts: sessions continue and many clients can reconnect at once."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

from support.http_server import HttpServer
from support.sdk_sessions import use_across_a_restart
from support.timeouts import TIMEOUT_S

REAL = "import sys; from moss_memory.cli.main import main; sys.exit(main())"


def test_sessions_of_the_official_client_survive_a_restart(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.json").write_text(json.dumps({"token_calls_at_once": 1_000, "token_calls_per_minute": 100_000}))
    servers = [HttpServer(home, code=REAL)]

    def restart() -> None:
        servers[0].__exit__()
        servers.append(HttpServer(home, code=REAL, port=servers[0].port))

    try:
        ended = use_across_a_restart(servers[0].address, servers[0].token, clients=12, rounds=2, restart=restart)
    finally:
        servers[-1].__exit__()
    assert ended == ["ok"] * 48


def test_two_hundred_simultaneous_clients_are_served(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home", code=REAL) as server:
        opened = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S) for _ in range(400)]
        for connection in opened:
            connection.connect()
        for connection in opened:
            server.send(connection, "GET", "/mcp", server.authorized)
        assert [connection.getresponse().status for connection in opened] == [400] * 400  # because they name no session
        for connection in opened:
            connection.close()
