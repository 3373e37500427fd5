"""Sessions of clients over HTTP continue on every server of one database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from moss_memory.config import default_config
from moss_memory.storage import server_tables
from moss_memory.store import Store
from support.http_server import HttpServer
from support.mcp_pipe import request
from support.postgres import PostgresServer
from support.team_load import REAL


def test_a_session_opened_in_an_outage_continues_on_every_server(tmp_path: Path) -> None:
    homes = [tmp_path / name / "home" for name in ("left", "right")]
    for home in homes:
        home.mkdir(parents=True, mode=0o700)
    token = server_tables.new_token()
    database = PostgresServer()
    try:
        with Store(default_config(str(homes[0])).replace(url=database.url)) as store:
            given: dict[str, Any] = {"sha256": server_tables.hash_of(token.encode()), "read_only": False}
            store.write(server_tables.add_token, what="token_add", name="anna", lifetime_s=None, **given)
        left, right = (HttpServer(home, code=REAL, url=database.url) for home in homes)
        headers = [("Authorization", f"Bearer {token}"), *[pair for pair in left.authorized if pair[0] == "Accept"]]
        headers.append(("Content-Type", "application/json"))
        with left, right:
            assert left.ask("GET", "/mcp", headers).status == 400  # it names no session, but its token is known now
            database.stop()
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            opened = left.ask("POST", "/mcp", headers, json.dumps(request("initialize", hello)))
            assert opened.status == 200
            database.start()
            session = [*headers, ("Mcp-Session-Id", opened.headers["mcp-session-id"])]
            for server in (right, left):
                assert server.ask("POST", "/mcp", session, json.dumps(request("ping"))).status == 200
            other = [("Authorization", f"Bearer {right.token}"), *session[1:]]
            assert right.ask("POST", "/mcp", other, json.dumps(request("ping"))).status == 404, "of another token"
    finally:
        database.close()
