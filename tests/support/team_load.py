"""Many clients over HTTP against two servers of one database: their answers, and the errors."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.storage import server_tables
from moss_memory.store import Store
from support.http_server import HttpServer
from support.mcp_pipe import request
from support.timeouts import TIMEOUT_S, wait_until

REAL = "import sys; from moss_memory.cli.main import main; sys.exit(main())"
PEOPLE = 30
WRITE_EVERY = 5
"""Every fifth call writes."""
_LIMITS = {"token_calls_per_minute": 1_000_000, "token_calls_at_once": 1_000}


class TeamLoad:
    """Two servers, tokens of thirty people, and clients that call until they are stopped."""

    def __init__(self, folder: Path, url: str, *, clients: int) -> None:
        self.url = url
        self._homes = [folder / "left" / "home", folder / "right" / "home"]
        for home in self._homes:
            home.mkdir(parents=True, mode=0o700)
            (home / "config.json").write_text(json.dumps(_LIMITS))
        self.servers = [HttpServer(home, code=REAL, url=url) for home in self._homes]
        self._ports = [server.port for server in self.servers]
        self._tokens = self._add_tokens()
        self.kept: list[str] = []
        """The names of acknowledged writes."""
        self.told: Counter[str] = Counter()
        """The number of retries by their reason."""
        self.wrong: list[str] = []
        """Answers that no client should get."""
        self.calls = 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(clients)]
        for thread in self._threads:
            thread.start()

    def _add_tokens(self) -> list[str]:
        tokens = [server_tables.new_token() for _ in range(PEOPLE)]
        with Store(default_config(str(self._homes[0])).replace(url=self.url), actor="test") as store:
            for number, token in enumerate(tokens):
                given: dict[str, Any] = {"sha256": server_tables.hash_of(token.encode()), "read_only": False}
                store.write(server_tables.add_token, what="token_add", name=f"p{number}", lifetime_s=None, **given)
        return tokens

    def wait_for_writes(self, count: int) -> None:
        """Wait until `count` more writes were acknowledged."""
        enough = len(self.kept) + count
        wait_until(lambda: len(self.kept) >= enough or bool(self.wrong), "the clients do not get on")

    def work_for(self, seconds: float) -> None:
        """Let the clients work."""
        time.sleep(seconds)

    def kill(self, at: int) -> None:
        """Kill a server, and start it again at its port."""
        self.servers[at].__exit__()
        self.servers[at] = HttpServer(self._homes[at], code=REAL, url=self.url, port=self._ports[at])

    def finish(self) -> list[str]:
        """Let the clients end; return everything that contradicts their answers."""
        self._stop.set()
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        for server in self.servers:
            server.__exit__()
        with psycopg.connect(self.url) as connection:
            rows = connection.execute("select name_raw, version from capsules").fetchall()
        found = Counter(name for name, _ in rows)
        lost = [f"{name} was acknowledged and is there {found[name]} times" for name in self.kept if found[name] != 1]
        twice = [f"{name} has version {version}" for name, version in rows if version != 1]
        stuck = [f"{thread.name} does not end" for thread in self._threads if thread.is_alive()]
        return [*self.wrong, *lost, *twice, *stuck]

    def _work(self, number: int) -> None:
        client = _Client(self, number, self._tokens[number % PEOPLE])
        count = 0
        while not self._stop.is_set() and not self.wrong:
            count += 1
            self.calls += 1
            if (count + number) % WRITE_EVERY:
                client.call("capsule_list", {"limit": 1})
                continue
            name = f"c{number}-{count}"
            if client.call("capsule_store", {"name": name, "capsule_text": FULL}, key=name):
                self.kept.append(name)

    @property
    def is_ending(self) -> bool:
        return self._stop.is_set()

    def port(self, number: int) -> int:
        return self._ports[number % 2]


class _Client:
    """One client with a session, which sends a call to the other server if one does not answer."""

    def __init__(self, load: TeamLoad, number: int, token: str) -> None:
        self._load = load
        self._at = number
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._session = ""
        self._connections: dict[int, http.client.HTTPConnection] = {}

    def call(self, tool: str, arguments: dict[str, Any], *, key: str = "") -> bool:
        """Call a tool until it is answered; return False if the end came first."""
        meta = {"_meta": {"idempotency_key": key}} if key else {}
        params = {"name": tool, "arguments": arguments, **meta}
        while not self._load.is_ending or key:
            if not self._session and not self._open():
                self._at += 1
                continue
            status, answer = self._send(request("tools/call", params))
            if status == 200 and isinstance(answer, dict):
                result = answer["result"]
                if not result["isError"]:
                    return True
                error = result["structuredContent"]["error"]
                self._note(error["code"], is_wrong=not error["retryable"])
            else:
                self._note(str(status or "connection lost"), is_wrong=status not in (0, 503))
            if self._load.wrong:
                return False
            self._at += 1
        return False

    def _note(self, what: str, *, is_wrong: bool) -> None:
        self._load.told[what] += 1
        if is_wrong:
            self._load.wrong.append(f"a call was answered with {what}")

    def _open(self) -> bool:
        client = {"clientInfo": {"name": "load", "version": "1"}, "capabilities": {}}
        status, _ = self._send(request("initialize", {"protocolVersion": "2025-11-25", **client}))
        return status == 200

    def _send(self, message: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the answer; 0 if the connection was lost."""
        port = self._load.port(self._at)
        connection = self._connections.get(port)
        if connection is None:
            connection = self._connections[port] = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
        own = {"Mcp-Session-Id": self._session} if self._session else {}
        try:
            connection.request("POST", "/mcp", json.dumps(message), {**self._headers, **own})
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            time.sleep(0.05)
            return 0, None
        if response.status == 503:
            time.sleep(0.1)
        self._session = response.headers.get("Mcp-Session-Id", self._session)
        return response.status, json.loads(body) if response.status == 200 else None
