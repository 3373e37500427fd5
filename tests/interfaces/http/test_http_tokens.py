"""Named tokens over HTTP: access by route and tool, revocation, limits, health, metrics and log."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.http import token_registry
from moss_memory.mcp.tool_list import tool_lines
from moss_memory.registry import catalog
from moss_memory.storage import server_tables
from moss_memory.store import Store
from support.http_server import Answer, HttpServer
from support.mcp_pipe import call, request
from support.thorough import complete_or
from support.timeouts import TIMEOUT_S, wait_until

REAL = "import sys; from moss_memory.cli.main import main; sys.exit(main())"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
KINDS = ("none", "wrong", "revoked", "expired", "read-only", "named", "owner")
REFUSED = KINDS[:4]


class Team:
    """A server, its store and a token of each kind."""

    def __init__(self, home: Path, url: str, *options: str, **settings: Any) -> None:
        self.home, self.url = home, url
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if settings:
            (home / "config.json").write_text(json.dumps(settings))
        self.store = Store(default_config(str(home)).replace(url=url), actor="test")
        self.server = HttpServer(home, *options, code=REAL, url=url)
        self.tokens = {"owner": self.server.token, "wrong": server_tables.new_token()}
        self.tokens |= {"named": self.add("anna"), "read-only": self.add("reader", read_only=True)}
        self.tokens |= {"revoked": self.add("gone"), "expired": self.add("late", lifetime_s=1)}
        self.revoke("gone")
        self.store.call("capsule_store", {"name": "n", "capsule_text": FULL})
        wait_until(lambda: all(one["expired"] for one in self.listed() if one["name"] == "late"), "it does not expire")

    def add(self, name: str, *, read_only: bool = False, lifetime_s: int | None = None) -> str:
        token = server_tables.new_token()
        given: dict[str, Any] = {
            "sha256": server_tables.hash_of(token.encode()),
            "read_only": read_only,
            "lifetime_s": lifetime_s,
        }
        self.store.write(server_tables.add_token, what="token_add", name=name, **given)
        return token

    def revoke(self, name: str) -> None:
        self.store.write(server_tables.revoke_token, what="token_revoke", name=name)

    def listed(self) -> list[dict[str, Any]]:
        return self.store.read(server_tables.list_tokens, what="token_list")

    def headers(self, kind: str) -> list[tuple[str, str]]:
        token = self.tokens.get(kind, kind if kind.startswith("moss_") else "")
        own = [("Authorization", f"Bearer {token}")] if token else []
        return [*own, *[pair for pair in self.server.authorized if pair[0] != "Authorization"]]

    def call(self, kind: str, tool: str, arguments: dict[str, Any] | None = None, **meta: Any) -> Answer:
        """Send a stateless call, which needs no session."""
        params = {"name": tool, "arguments": arguments or {}, "_meta": {**META, **meta}}
        headers = [("Mcp-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)]
        message = json.dumps(request("tools/call", params))
        return self.server.ask("POST", "/mcp", [*self.headers(kind), *headers], message)

    def session(self, kind: str, path: str = "/mcp") -> list[tuple[str, str]]:
        client = {"name": "tester", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        answer = self.server.ask("POST", path, self.headers(kind), json.dumps(request("initialize", params)))
        assert answer.status == 200, answer.text
        return [*self.headers(kind), ("Mcp-Session-Id", answer.headers["mcp-session-id"])]

    def close(self) -> None:
        self.server.__exit__()
        self.store.close()


@pytest.fixture(scope="session")
def database(pytestconfig: pytest.Config) -> Callable[[Path], str]:
    """Return a function that creates a database for a home and returns its URL; empty on SQLite."""
    if pytestconfig.getoption("--engine") == "sqlite":
        return lambda home: ""
    from support.postgres import databases

    return lambda home: databases().keep(str(home))


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory, database: Callable[[Path], str]) -> Iterator[Team]:
    home = tmp_path_factory.mktemp("team") / "home"
    made = Team(home, database(home), "--log-format", "json", token_calls_per_minute=100_000, token_calls_at_once=100)
    yield made
    made.close()


@pytest.fixture
def own_team(tmp_path: Path, database: Callable[[Path], str]) -> Iterator[Team]:
    made = Team(tmp_path / "home", database(tmp_path / "home"), token_calls_per_minute=8, token_calls_at_once=2)
    yield made
    made.close()


ROUTES = {
    "initialize": lambda team, kind: team.server.ask(
        "POST", "/mcp", team.headers(kind), json.dumps(request("initialize", {"protocolVersion": "2025-11-25"}))
    ),
    "get": lambda team, kind: team.server.ask("GET", "/mcp", team.headers(kind)),
    "delete": lambda team, kind: team.server.ask("DELETE", "/mcp", team.headers(kind)),
    "stateless": lambda team, kind: team.call(kind, "capsule_list"),
    "sign-in": lambda team, kind: team.server.ask("POST", "/sign-in", team.headers(kind)),
    "metrics": lambda team, kind: team.server.ask("GET", "/metrics", team.headers(kind)),
    "healthz": lambda team, kind: team.server.ask("GET", "/healthz", team.headers(kind)),
    "readyz": lambda team, kind: team.server.ask("GET", "/readyz", team.headers(kind)),
}
EXPECTED = {"get": 400, "delete": 400}
OPEN_ROUTES = ("metrics", "healthz", "readyz")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("route", ROUTES)
def test_every_route_accepts_its_tokens_and_no_other(team: Team, route: str, kind: str) -> None:
    refused = kind in REFUSED and route not in OPEN_ROUTES
    assert ROUTES[route](team, kind).status == (401 if refused else EXPECTED.get(route, 200))


@pytest.mark.parametrize("kind", KINDS)
def test_every_tool_accepts_its_tokens_and_no_other(team: Team, kind: str) -> None:
    every = complete_or(1, 10) if kind in REFUSED else 1  # a refused token never reaches a tool
    for name, line in tool_lines()[::every]:
        answer = team.call(kind, name, {"no such argument": 1} if name != "moss_call" else {"tool": "capsule_list"})
        if kind in REFUSED:
            assert answer.status == 401, name
            continue
        assert answer.status == 200, name
        code = answer.json["result"]["structuredContent"].get("error", {}).get("code")
        if kind == "read-only" and (catalog.find(name) or pytest.fail(name)).always_writes and name != "moss_call":
            assert code == "READ_ONLY", (name, line)
        else:
            assert code in ("INVALID_REQUEST", "VALIDATION_ERROR", None), (name, line)


def test_a_read_only_token_reads_everything_and_writes_nothing(team: Team) -> None:
    listed = request("tools/list")
    names = {
        kind: {
            tool["name"]
            for tool in team.server.ask("POST", "/mcp", team.session(kind), json.dumps(listed)).json["result"]["tools"]
        }
        for kind in ("read-only", "named")
    }
    writing = {name for name in names["named"] if not (catalog.find(name) or pytest.fail(name)).only_reads}
    assert names["read-only"] == names["named"] - writing
    core = team.server.ask("POST", "/mcp?toolsets=core", team.session("read-only"), json.dumps(listed)).json["result"]
    [proxy] = [tool for tool in core["tools"] if tool["name"] == "moss_call"]
    assert all(tool["annotations"]["readOnlyHint"] for tool in core["tools"])
    assert proxy["annotations"]["destructiveHint"] is False
    assert {"capsule_store", "capsule_delete", "tasks_create"} <= writing
    before = team.store.call("moss_changes", {})["seq"]
    given = {"name": "by a reader", "capsule_text": FULL}
    for tool, arguments in (
        ("capsule_store", given),
        ("moss.store", given),
        ("moss_call", {"tool": "capsule_store", "arguments": given}),
        ("capsule_compose", {"items": [{"name": "n"}], "store_as": {"name": "bundle"}}),
        ("capsule_export", {}),
    ):
        error = team.call("read-only", tool, arguments).json["result"]["structuredContent"]["error"]
        assert (error["code"], error["status"]) == ("READ_ONLY", 403), tool
    assert team.store.call("moss_changes", {})["seq"] == before
    assert team.call("read-only", "capsule_fetch", {"name": "n"}).json["result"]["isError"] is False
    found = team.call("read-only", "moss_tools", {"query": "store a capsule"}).json["result"]["structuredContent"]
    assert not {tool["name"] for tool in found["tools"]} & writing


def test_writes_are_credited_to_the_token_and_the_client(team: Team) -> None:
    saved = call("capsule_store", {"name": "whose", "capsule_text": FULL})
    answer = team.server.ask("POST", "/mcp", team.session("named"), json.dumps(saved))
    assert answer.json["result"]["isError"] is False
    [version] = team.store.call("moss_history", {"type": "capsule", "name": "whose"})["versions"]
    assert version["by"] == "anna · tester"
    client = {"io.modelcontextprotocol/clientInfo": {"name": "other", "version": "1"}}
    team.call("owner", "capsule_store", {"name": "mine", "capsule_text": FULL}, **client)
    [version] = team.store.call("moss_history", {"type": "capsule", "name": "mine"})["versions"]
    assert version["by"] == "owner · other"


def test_the_last_use_is_shown_to_the_hour(team: Team) -> None:
    assert team.call("named", "capsule_list").status == 200

    def used() -> bool:
        [shown] = [one for one in team.listed() if one["name"] == "anna"]
        return shown["last_used_at"] is not None and shown["last_used_at"] % 3600 == 0

    wait_until(used, "the use is not stored")


@contextmanager
def stream(team: Team, headers: list[tuple[str, str]], method: str = "GET", body: str = "") -> Iterator[Any]:
    connection = http.client.HTTPConnection("127.0.0.1", team.server.port, timeout=TIMEOUT_S)
    team.server.send(connection, method, "/mcp", headers, body)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def test_a_revoked_token_is_refused_and_its_streams_end(team: Team) -> None:
    token = team.add("leaving")
    session = team.session(token)
    wanted = {"notifications": {"resourcesListChanged": True}, "_meta": META}
    modern = [("Mcp-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")]
    body = json.dumps(request("subscriptions/listen", wanted))
    with stream(team, session) as first, stream(team, [*team.headers(token), *modern], "POST", body) as second:
        assert (first.status, second.status) == (200, 200)
        team.revoke("leaving")
        first.read()
        second.read()
    assert team.call(token, "capsule_list").status == 401
    assert team.server.ask("POST", "/mcp", session, json.dumps(request("ping"))).status == 401
    again = team.add("leaving")
    headers = [*team.headers(again), *session[-1:]]
    assert team.server.ask("POST", "/mcp", headers, json.dumps(request("ping"))).status == 404


def test_revoked_tokens_are_checked_often_enough() -> None:
    assert token_registry.CHECK_S + token_registry.CHECK_S / 2 < 2.0


def test_a_browser_is_signed_out_when_its_token_is_revoked(team: Team) -> None:
    token = team.add("browsing", read_only=True)
    link, unused = (
        team.server.ask("POST", "/sign-in", team.headers(token)).text.strip().removeprefix(team.server.origin)
        for _ in range(2)
    )
    signed = team.server.ask("POST", link, [("Origin", team.server.origin)])
    base, cookie = signed.headers["location"], signed.headers["set-cookie"].partition(";")[0]
    page = team.server.ask("GET", base, [("Cookie", cookie)])
    assert page.status == 200
    form = [("Cookie", cookie), ("Origin", team.server.origin), ("Content-Type", "application/x-www-form-urlencoded")]
    assert team.server.ask("POST", f"{base}capsules", form, "a=b").status == 403
    team.revoke("browsing")
    wait_until(lambda: team.server.ask("GET", base, [("Cookie", cookie)]).status == 401, "the page is still shown")
    assert "set-cookie" not in team.server.ask("POST", unused, [("Origin", team.server.origin)]).headers


def test_sessions_survive_a_restart_and_work_at_another_process(own_team: Team) -> None:
    session = own_team.session("named")
    ping = json.dumps(request("ping"))
    with HttpServer(own_team.home, code=REAL, url=own_team.url) as other:
        assert other.ask("POST", "/mcp", session, ping).status == 200
        assert own_team.server.ask("POST", "/mcp", session, ping).status == 200
    own_team.server.__exit__()
    with HttpServer(own_team.home, code=REAL, url=own_team.url) as restarted:
        saved = json.dumps(call("capsule_store", {"name": "after", "capsule_text": FULL}))
        assert restarted.ask("POST", "/mcp", session, saved).json["result"]["isError"] is False
        [version] = own_team.store.call("moss_history", {"type": "capsule", "name": "after"})["versions"]
        assert version["by"] == "anna · tester"
        assert restarted.ask("DELETE", "/mcp", session).status == 200
    with HttpServer(own_team.home, code=REAL, url=own_team.url) as last:
        assert last.ask("POST", "/mcp", session, ping).status == 404


def test_a_session_survives_an_unavailable_store(own_team: Team) -> None:
    session = own_team.session("owner")
    ping = json.dumps(request("ping"))
    own_team.server.__exit__()
    away = "postgresql://role@127.0.0.1:1/base" if own_team.url else ""
    database = own_team.home / "moss.db"
    if not own_team.url:
        database.rename(database.with_suffix(".away"))
        database.mkdir()
    with HttpServer(own_team.home, code=REAL, url=away) as alone:
        answer = alone.ask("POST", "/mcp", session, ping)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    if not own_team.url:
        database.rmdir()
        database.with_suffix(".away").rename(database)
    with HttpServer(own_team.home, code=REAL, url=own_team.url) as back:
        assert back.ask("POST", "/mcp", session, ping).status == 200


def test_a_token_with_too_many_calls_gets_a_retry_time(own_team: Team) -> None:
    answers = [own_team.call("named", "capsule_list") for _ in range(12)]
    statuses = [answer.status for answer in answers]
    assert statuses[:8] == [200] * 8
    assert statuses[8:] == [429] * 4
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    error = answers[-1].json["result"]["structuredContent"]["error"]
    assert (error["code"], error["status"], error["retryable"]) == ("RATE_LIMITED", 429, True)
    assert error["details"]["retry_after_s"] == int(answers[-1].headers["retry-after"])
    assert own_team.call("read-only", "capsule_list").status == 200, "each token has its own limit"
    assert own_team.server.ask("POST", "/mcp", own_team.session("named"), json.dumps(request("ping"))).status == 200


def test_concurrent_calls_are_limited() -> None:
    from moss_memory.http.call_limits import CallLimits

    now = [0.0]
    limits = CallLimits(5, 2, clock_s=lambda: now[0])
    assert limits.enter("a") is None
    assert limits.enter("a") is None
    refused = limits.enter("a")
    assert refused is not None
    assert (refused.code, refused.details) == ("RATE_LIMITED", {"retry_after_s": 1})
    assert limits.enter("b") is None
    limits.leave("a")
    for _ in range(3):
        assert limits.enter("a") is None
        limits.leave("a")
    refused = limits.enter("a")
    assert refused is not None
    assert refused.details == {"retry_after_s": 60}
    now[0] = 60.0
    assert limits.enter("a") is None


def test_health_needs_no_token_and_no_host_name(team: Team) -> None:
    for path in ("/healthz", "/readyz"):
        answer = team.server.ask("GET", path, [("Host", "10.0.0.7")])
        assert (answer.status, answer.text) == (200, "ok")
        assert team.server.ask("POST", path, [("Host", "10.0.0.7")]).status == 405
    assert team.server.ask("GET", "/metrics", [("Host", "10.0.0.7")]).status == 421


def test_a_server_with_an_unavailable_store_is_live_but_not_ready(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "moss.db").write_bytes(b"no database" * 1000)
    with HttpServer(home, code=REAL) as server:
        assert server.ask("GET", "/healthz").text == "ok"
        answer = server.ask("GET", "/readyz")
        assert (answer.status, answer.text) == (503, "not ready")
        families = {one.name: one for one in text_string_to_metric_families(server.ask("GET", "/metrics").text)}
        assert families["moss_store_up"].samples[0].value == 0


def test_metrics_are_read_by_prometheus(team: Team) -> None:
    assert team.call("named", "capsule_list").json["result"]["isError"] is False
    missing = team.call("named", "capsule_fetch", {"name": "not there"})
    assert missing.json["result"]["structuredContent"]["error"]["code"] == "NOT_FOUND"
    answer = team.server.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {one.name: one for one in text_string_to_metric_families(answer.text)}
    calls = {(one.labels["tool"], one.labels["outcome"]): one.value for one in families["moss_calls"].samples}
    assert calls["capsule_list", "ok"] >= 1
    assert calls["capsule_fetch", "NOT_FOUND"] >= 1
    assert families["moss_call_seconds"].type == "histogram"
    counts = {
        one.labels["tool"]: one.value for one in families["moss_call_seconds"].samples if one.name.endswith("_count")
    }
    buckets = [
        one.value
        for one in families["moss_call_seconds"].samples
        if one.name.endswith("_bucket") and one.labels["tool"] == "capsule_list"
    ]
    assert buckets == sorted(buckets)
    assert buckets[-1] == counts["capsule_list"]
    for name in (
        "moss_sessions",
        "moss_streams",
        "moss_connections_in_use",
        "moss_connections_waiting",
        "moss_vectors_pending",
        "moss_store_bytes",
        "moss_schema_version",
        "moss_build_info",
    ):
        assert len(families[name].samples) == 1, name
    assert families["moss_store_bytes"].samples[0].value > 0
    reasons = {one.labels["reason"] for one in families["moss_refused"].samples}
    assert {"token", "origin", "host", "rate", "read_only"} <= reasons


def test_behind_a_proxy_metrics_need_a_token(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home", "--behind-proxy", "--allowed-host", "moss.example", code=REAL) as server:
        assert server.ask("GET", "/metrics").status == 401
        assert server.ask("GET", "/metrics", server.authorized).status == 200


def test_the_log_has_one_object_per_line_and_no_secret(team: Team) -> None:
    team.call("named", "capsule_fetch", {"name": "a private name"})
    team.call("wrong", "capsule_fetch", {"name": "a private name"})

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in team.server.stderr().splitlines()]

    def has(**fields: Any) -> bool:
        return any(all(line.get(name) == value for name, value in fields.items()) for line in lines())

    wanted = {
        "level": "info",
        "method": "POST",
        "path": "/mcp",
        "status": 200,
        "token": "anna",
        "tool": "capsule_fetch",
    }
    wait_until(lambda: has(**wanted), "the call is not logged")
    wait_until(lambda: has(level="warning", status=401, path="/mcp"), "the refusal is not logged")
    [line, *_] = [line for line in lines() if line.get("tool") == "capsule_fetch"]
    assert set(line) == {"time", "level", "method", "path", "status", "duration_ms", "token", "tool"}
    assert "private" not in team.server.stderr()
    assert not any(token in team.server.stderr() for token in team.tokens.values())


def test_two_hundred_sessions_run_concurrently(team: Team) -> None:
    sessions = [team.session("named") for _ in range(200)]
    statuses: list[int] = []

    def use(some: list[list[tuple[str, str]]]) -> None:
        for headers in some:
            asked = json.dumps(call("capsule_list", {"limit": 1}))
            statuses.append(team.server.ask("POST", "/mcp", headers, asked).status)

    threads = [threading.Thread(target=use, args=(sessions[at::4],)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert statuses == [200] * 200


def test_clients_see_no_database_host_and_no_role(tmp_path: Path) -> None:
    url = "postgresql://secret_role@127.0.0.1:1/secret_base"
    with HttpServer(tmp_path / "home", code=REAL, url=url) as server:
        assert f"Moss serves {url} at" in server.said
        answers = [
            server.post(call("capsule_list")),
            server.post(call("retrieve_records")),
            server.post(request("resources/list")),
            server.ask("POST", "/mcp", [("Authorization", f"Bearer {server_tables.new_token()}")], "{}"),
            server.ask("GET", "/readyz"),
        ]
        assert [answer.status for answer in answers] == [200, 200, 200, 503, 503]
        error = answers[0].json["result"]["structuredContent"]["error"]
        assert (error["code"], error["retryable"]) == ("STORAGE_BUSY", True)
        assert answers[3].headers["retry-after"] == "1"
        for answer in answers:
            assert not [word for word in ("secret", "127.0.0.1", "port 1") if word in answer.text], answer.text
        server.logged("secret_role@127.0.0.1:1/secret_base cannot be reached")
