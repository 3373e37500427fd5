"""Access control: every route against every kind of forged request."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from support.http_server import SERVE, Answer, HttpServer
from support.mcp_pipe import call
from support.timeouts import TIMEOUT_S, wait_until

Change = Callable[[HttpServer, list[tuple[str, str]]], list[tuple[str, str]]]
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
HUGE = 8 * 1024 * 1024 + 1


class Route:
    """A valid request to a route, which a test modifies."""

    def __init__(self, name: str, method: str, status: int) -> None:
        self.name = name
        self.method = method
        self.status = status

    def build(self, server: HttpServer) -> tuple[str, list[tuple[str, str]], str]:
        """Return the path, the headers and the body of a valid request."""
        own = [("Origin", server.origin)]
        if self.name == "mcp":
            return "/mcp", [*server.in_session, *own], PING
        if self.name == "new link":
            return "/sign-in", [*server.authorized, *own], ""
        if self.name == "link":
            return server.link(), own, ""
        if self.name in ("page", "form"):
            cookie = server.sign_in()
            if self.name == "page":
                return f"{server.base}/", [*cookie, *own], ""
            token = server.ask("GET", f"{server.base}/", cookie).text.partition("|")[0]
            typed = [("Content-Type", "application/x-www-form-urlencoded")]
            return f"{server.base}/change/x", [*cookie, *own, *typed], urlencode({"text": "x", "form_token": token})
        return self.name, own, ""


ROUTES = [
    Route("mcp", "POST", 200),
    Route("new link", "POST", 200),
    Route("link", "GET", 200),
    Route("link", "POST", 303),
    Route("page", "GET", 200),
    Route("form", "POST", 200),
    Route("/", "GET", 200),
    Route("/sign-in/style.css", "GET", 200),
    Route("/sign-in/icon.svg", "GET", 200),
    Route("/.well-known/oauth-protected-resource", "GET", 404),
    Route("/.well-known/oauth-authorization-server", "GET", 404),
    Route("/nothing", "GET", 404),
]


def replaced(name: str, value: str) -> Change:
    def change(server: HttpServer, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        filled = value.replace("PORT", str(server.port))
        return [*((key, old) for key, old in headers if key.lower() != name.lower()), (name, filled)]

    return change


def doubled(name: str) -> Change:
    def change(server: HttpServer, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        known = {"host": server.host, "origin": server.origin, **{key.lower(): value for key, value in headers}}
        value = known.get(name, "x")
        rest = [(key, old) for key, old in headers if key.lower() != name]
        return [*rest, (name, value), (name, value)]

    return change


REFUSED: dict[str, tuple[int, Change]] = {
    "foreign host": (421, replaced("Host", "evil.example:PORT")),
    "host without port": (421, replaced("Host", "127.0.0.1")),
    "host of another port": (421, replaced("Host", "127.0.0.1:1")),
    "rebound host": (421, replaced("Host", "127.0.0.1.evil.example:PORT")),
    "host in upper case": (421, replaced("Host", "LOCALHOST:PORT")),
    "empty host": (421, replaced("Host", "")),
    "foreign origin": (403, replaced("Origin", "https://evil.example")),
    "null origin": (403, replaced("Origin", "null")),
    "empty origin": (403, replaced("Origin", "")),
    "another port's origin": (403, replaced("Origin", "http://127.0.0.1:1")),
    "origin of another scheme": (403, replaced("Origin", "https://127.0.0.1:PORT")),
    "origin in upper case": (403, replaced("Origin", "HTTP://127.0.0.1:PORT")),
    "another name's origin": (403, replaced("Origin", "http://localhost:PORT")),
    "cross-site fetch": (403, replaced("Sec-Fetch-Site", "cross-site")),
    "same-site fetch": (403, replaced("Sec-Fetch-Site", "same-site")),
    "unknown site": (403, replaced("Sec-Fetch-Site", "somewhere")),
    "doubled host": (400, doubled("host")),
    "doubled origin": (400, doubled("origin")),
    "doubled authorization": (400, doubled("authorization")),
    "doubled cookie": (400, doubled("cookie")),
    "doubled content type": (400, doubled("content-type")),
    "doubled site": (400, doubled("sec-fetch-site")),
}


def ids(route: Route) -> str:
    return f"{route.method} {route.name}"


@pytest.mark.parametrize("route", ROUTES, ids=ids)
def test_a_valid_request_is_answered(server: HttpServer, route: Route) -> None:
    path, headers, body = route.build(server)
    answer = server.ask(route.method, path, headers, body)
    assert answer.status == route.status
    assert_confined(answer, browser=route.name != "mcp")


@pytest.mark.parametrize("name", ["localhost", "[::1]", "127.0.0.1"])
def test_every_local_host_name_is_accepted(server: HttpServer, name: str) -> None:
    host = f"{name}:{server.port}"
    assert server.ask("GET", "/", [("Host", host), ("Origin", f"http://{host}")]).status == 200


@pytest.mark.parametrize("attack", REFUSED)
@pytest.mark.parametrize("route", ROUTES, ids=ids)
def test_a_foreign_request_is_refused_on_every_route(server: HttpServer, route: Route, attack: str) -> None:
    path, headers, body = route.build(server)
    status, change = REFUSED[attack]
    answer = server.ask(route.method, path, change(server, headers), body)
    assert answer.status == status
    assert_confined(answer, browser=route.name != "mcp")
    assert server.token not in answer.text


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_another_page_may_be_followed(server: HttpServer, site: str) -> None:
    fetched = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate")]
    assert server.ask("GET", "/", fetched).status == 200
    assert server.ask("POST", "/", fetched).status == 403


def flipped(secret: str) -> str:
    """Return a secret of the same length that differs in its last letter."""
    return secret[:-1] + ("a" if secret[-1] != "a" else "b")


def without(headers: list[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    return [(key, value) for key, value in headers if key != name]


@pytest.mark.parametrize(
    "given", [None, "Bearer", "Bearer x", "Basic TOKEN", "TOKEN", "Bearer TOKENx", "Bearer x TOKEN", "Bearer FLIPPED"]
)
@pytest.mark.parametrize("route", [route for route in ROUTES if route.name in ("mcp", "new link")], ids=ids)
def test_a_program_without_the_token_gets_instructions_to_connect(
    server: HttpServer, route: Route, given: str | None
) -> None:
    path, headers, body = route.build(server)
    kept = without(headers, "Authorization")
    if given is not None:
        filled = given.replace("TOKEN", server.token).replace("FLIPPED", flipped(server.token))
        kept.append(("Authorization", filled))
    answer = server.ask(route.method, path, kept, body)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "Authorization: Bearer" in answer.text
    assert server.token not in answer.text


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"])
def test_no_method_of_mcp_answers_without_the_token(server: HttpServer, method: str) -> None:
    assert server.ask(method, "/mcp").status == 401


def test_a_cookie_is_not_accepted_as_token(server: HttpServer) -> None:
    cookie = server.sign_in()
    typed = [("Content-Type", "application/json"), ("Origin", server.origin)]
    assert server.ask("POST", "/mcp", [*cookie, *typed], PING).status == 401
    given = [*typed, ("Cookie", f"moss={server.token}")]
    assert server.ask("POST", "/mcp", given, PING).status == 401


def test_a_token_is_not_accepted_as_cookie(server: HttpServer) -> None:
    server.sign_in()
    assert server.ask("GET", f"{server.base}/", server.authorized).status == 401


@pytest.mark.parametrize(
    "cookie", [None, "", "moss=", "moss=x", "moss=x; moss=y", "moss=VALUEx", "moss=FLIPPED", "other=VALUE"]
)
def test_a_browser_that_is_not_signed_in_sees_no_page(server: HttpServer, cookie: str | None) -> None:
    server.sign_in()
    value = server.cookie.partition("=")[2]
    headers = [] if cookie is None else [("Cookie", cookie.replace("VALUE", value).replace("FLIPPED", flipped(value)))]
    answer = server.ask("GET", f"{server.base}/", headers)
    assert answer.status == 401
    assert_confined(answer, browser=True)


def test_pages_are_served_at_no_other_address(server: HttpServer) -> None:
    cookie = server.sign_in()
    assert server.ask("GET", "/" + "0" * 32 + "/", cookie).status == 404
    assert server.ask("GET", server.base + "0/", cookie).status == 404
    assert re.fullmatch(r"/[0-9a-f]{32}", server.base)


@pytest.mark.parametrize(
    "kind",
    [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"],
)
def test_a_message_of_another_content_type_is_refused(server: HttpServer, kind: str | None) -> None:
    headers = without(server.authorized, "Content-Type") + ([] if kind is None else [("Content-Type", kind)])
    assert server.ask("POST", "/mcp", headers, PING).status == 415


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])
def test_a_message_must_be_json(server: HttpServer, kind: str) -> None:
    headers = [*without(server.in_session, "Content-Type"), ("Content-Type", kind)]
    assert server.ask("POST", "/mcp", headers, PING).status == 200


@pytest.mark.parametrize("kind", [None, "text/plain", "application/json", "multipart/form-data; boundary=x"])
def test_a_form_of_another_content_type_is_refused(server: HttpServer, kind: str | None) -> None:
    path, headers, body = Route("form", "POST", 200).build(server)
    changed = without(headers, "Content-Type") + ([] if kind is None else [("Content-Type", kind)])
    before = changes(server)
    assert server.ask("POST", path, changed, body).status == 415
    assert changes(server) == before


def test_a_huge_body_is_refused_before_it_is_read(server: HttpServer) -> None:
    long = ("Content-Length", str(HUGE))
    assert server.ask("POST", "/mcp", [*server.authorized, long]).status == 413
    path, headers, _ = Route("form", "POST", 200).build(server)
    assert server.ask("POST", path, [*headers, long]).status == 413


def test_a_huge_body_without_a_length_is_refused_too(server: HttpServer) -> None:
    chunk = b"%x\r\n" % HUGE + b"x" * HUGE + b"\r\n"
    answer = server.ask("POST", "/mcp", [*server.authorized, ("Transfer-Encoding", "chunked")], chunk)
    assert answer.status == 413


@pytest.mark.parametrize("route", [Route("link", "POST", 303), Route("form", "POST", 200)], ids=ids)
def test_a_form_without_an_origin_is_refused(server: HttpServer, route: Route) -> None:
    path, headers, body = route.build(server)
    assert server.ask("POST", path, without(headers, "Origin"), body).status == 403


@pytest.mark.parametrize("token", ["", "x", "OTHER"])
def test_a_form_without_the_token_of_its_session_changes_nothing(server: HttpServer, token: str) -> None:
    _, _, other = Route("form", "POST", 200).build(server)
    path, headers, _ = Route("form", "POST", 200).build(server)
    before = changes(server)
    body = other if token == "OTHER" else urlencode({"text": "x", "form_token": token})  # noqa: S105
    assert server.ask("POST", path, headers, body).status == 403
    assert server.ask("POST", path, headers, urlencode({"text": "x"})).status == 403
    assert changes(server) == before


def test_a_script_may_send_the_token_in_a_header(server: HttpServer) -> None:
    path, headers, body = Route("form", "POST", 200).build(server)
    token = body.partition("form_token=")[2]
    before = changes(server)
    assert server.ask("POST", path, [*headers, ("X-Form-Token", token)], "text=x").status == 200
    assert changes(server) == before + 1


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_pages_accept_only_reads_and_forms(server: HttpServer, method: str) -> None:
    path, headers, body = Route("form", "POST", 200).build(server)
    assert server.ask(method, path, headers, body).status == 405


def test_a_link_shows_a_button_and_works_once(server: HttpServer) -> None:
    link = server.link()
    for _ in range(2):
        shown = server.ask("GET", link)
        assert shown.status == 200
        assert "<button" in shown.text
        assert "set-cookie" not in shown.headers
    spent = server.ask("POST", link, [("Origin", server.origin)])
    assert spent.status == 303
    assert server.ask("POST", link, [("Origin", server.origin)]).status == 410
    assert server.ask("GET", link).status == 410
    assert server.ask("GET", "/sign-in/nonsense").status == 410


def test_the_cookie_is_for_the_pages_alone(server: HttpServer) -> None:
    spent = server.ask("POST", server.link(), [("Origin", server.origin)])
    attributes = [part.strip() for part in spent.headers["set-cookie"].split(";")[1:]]
    assert attributes == [f"Path={spent.headers['location']}", "Max-Age=2592000", "HttpOnly", "SameSite=Strict"]


def test_the_link_that_is_printed_works(server: HttpServer) -> None:
    found = re.search(r"http://127\.0\.0\.1:\d+(/sign-in/\S+)", server.said)
    assert found is not None
    assert server.ask("GET", found[1]).status in (200, 410)


def test_the_log_has_no_name_no_text_and_no_secret(server: HttpServer) -> None:
    path, headers, body = Route("form", "POST", 200).build(server)
    server.ask("POST", path + "-a-name", headers, body)
    server.post(call("capsule_fetch", {"name": "a-name", "workspace": "a-place"}))
    server.ask("GET", f"{server.base}/a-name?q=a-query", headers)
    server.ask("GET", "/a-name")
    assert server.ask("GET", f"{server.base}/broken?why=the+secret+cause", headers).status == 500
    server.logged("GET /pages/broken 500")
    server.logged("POST /pages/change 200")
    log = server.stderr()
    assert "POST /mcp 200" in log
    assert "a bug: RuntimeError" in log
    secrets = (
        server.token,
        server.cookie.partition("=")[2],
        server.base,
        "the secret cause",
        "a-name",
        "a-place",
        "a-query",
    )
    assert [secret for secret in secrets if secret in log] == []


def test_a_bug_in_a_page_reveals_no_details(server: HttpServer) -> None:
    cookie = server.sign_in()
    answer = server.ask("GET", f"{server.base}/broken?why=the+secret+cause", cookie)
    assert answer.status == 500
    assert "secret" not in answer.text
    assert_confined(answer, browser=True)


def test_bytes_that_are_not_http_are_refused(server: HttpServer) -> None:
    answer = server.ask("POST", "/mcp", [*server.authorized, ("Content-Length", "1"), ("Content-Length", "2")])
    assert answer.status == 400
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_two_kinds_of_secrets_are_long(server: HttpServer) -> None:
    assert len(server.token) >= 43
    assert (server.home / "token").stat().st_mode & 0o777 == 0o600
    server.sign_in()
    assert len(server.cookie) >= 43


ODD_HEADERS = [
    ("Cookie", "moss=\xff\xfe; ;;=; moss"),
    ("Cookie", "x" * 10_000),
    ("Accept", "\xff, ;q=, /,"),
    ("Mcp-Session-Id", "\xff" * 100),
    ("Mcp-Protocol-Version", "\xff"),
    ("Mcp-Name", "=?base64??="),
    ("Authorization", "Bearer \xff"),
    ("Content-Type", "\xff;=;"),
    ("Sec-Fetch-Mode", "\xff"),
    ("X-Form-Token", "\xff\xd8"),
    ("Expect", "100-continue"),
    ("Upgrade", "websocket"),
    ("Content-Length", "0"),
]


@pytest.mark.parametrize("odd", ODD_HEADERS, ids=lambda odd: f"{odd[0]} {odd[1][:8]!r}")
@pytest.mark.parametrize("route", ROUTES, ids=ids)
def test_a_malformed_header_causes_no_server_error(server: HttpServer, route: Route, odd: tuple[str, str]) -> None:
    path, headers, body = route.build(server)
    name, value = odd
    sent = [*((key, old) for key, old in headers if key.lower() != name.lower()), (name, value)]
    answer = server.ask(route.method, path, sent, "" if name == "Content-Length" else body)
    assert answer.status < 500


@pytest.mark.parametrize(
    "path",
    [
        "/%ff%fe",
        "/%00",
        "//",
        "/../../etc/passwd",
        "/mcp/",
        "/mcp%2f",
        "/sign-in/%ff",
        "/" + "x" * 30_000,
        "/?" + "a=b&" * 5_000,
    ],
)
def test_a_malformed_path_causes_no_server_error(server: HttpServer, path: str) -> None:
    for method, headers in (("GET", []), ("POST", server.in_session)):
        assert server.ask(method, path, headers, PING if headers else "").status < 500


def test_too_many_fields_are_refused(server: HttpServer) -> None:
    assert server.ask("POST", "/mcp?" + "a=b&" * 50, server.in_session, PING).status == 400
    path, headers, _ = Route("form", "POST", 200).build(server)
    assert server.ask("POST", path, headers, "a=b&" * 2_000).status == 413


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "TRACE", "OPTIONS"])
def test_the_first_page_accepts_only_reads(server: HttpServer, method: str) -> None:
    assert server.ask(method, "/").status == 405


@pytest.mark.parametrize("address", ["http://evil.example/", "http://HOST/", "*", "evil.example:80"])
def test_a_request_for_another_server_is_refused(server: HttpServer, address: str) -> None:
    asked = address.replace("HOST", server.host)
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S) as opened:
        opened.sendall(f"OPTIONS {asked} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        assert opened.recv(12) == b"HTTP/1.1 400"


def test_a_truncated_form_changes_nothing(server: HttpServer) -> None:
    path, headers, body = Route("form", "POST", 200).build(server)
    before, logged = changes(server), server.stderr().count("POST /... 400")
    sent = [*headers, ("Content-Length", str(len(body) + 1))]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
    server.send(connection, "POST", path, sent, body)
    connection.close()
    wait_until(lambda: server.stderr().count("POST /... 400") > logged, "the form is not in the log")
    assert changes(server) == before


def test_an_endless_head_is_not_read_to_its_end(server: HttpServer) -> None:
    headers = [(f"X-{number}", "x" * 1_000) for number in range(100)]
    answer = server.ask("GET", "/", headers)
    assert answer.status == 431
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("size", [60_000, 65_536, 70_000, 200_000, 1_000_000, 8_000_000])
def test_a_long_body_does_not_count_as_head(server: HttpServer, size: int) -> None:
    for _ in range(3):
        answer = server.post({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "x" * size}})
        assert (answer.status, answer.json) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


IMPATIENT = """\
from moss_memory.http import request_body, timeouts, server
request_body.BODY_S = timeouts.HEAD_S = 0.1
server.KEEP_ALIVE_S = 3600
timeouts.BODY_S = 0.5
"""


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """Start a server with short timeouts."""
    with HttpServer(tmp_path_factory.mktemp("impatient") / "home", code=IMPATIENT + SERVE) as made:
        yield made


@pytest.mark.parametrize("begun", ["", "GET / HTTP/1.1\r\nHost: 127"])
def test_an_incomplete_request_times_out(impatient: HttpServer, begun: str) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=TIMEOUT_S) as opened:
        opened.sendall(begun.encode())
        assert opened.recv(1) == b""
    assert impatient.ask("GET", "/").status == 200


@pytest.mark.parametrize(
    "sent", [["GET / HTTP"], ["", "GET / HTTP"], ["", "\r\n"]], ids=["at once", "later", "no word"]
)
def test_an_incomplete_second_request_times_out(impatient: HttpServer, sent: list[str]) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=TIMEOUT_S) as opened:
        opened.sendall(f"GET / HTTP/1.1\r\nHost: {impatient.host}\r\n\r\n{sent[0]}".encode())
        assert opened.recv(15) == b"HTTP/1.1 200 OK"
        opened.sendall("".join(sent[1:]).encode())
        with opened.makefile("rb") as said:
            assert b"</html>" in said.read()


def test_a_missing_body_times_out(impatient: HttpServer) -> None:
    headers = [*impatient.authorized, ("Content-Length", "100")]
    assert impatient.ask("POST", "/mcp", headers, '{"jsonrpc"').status == 408


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "evil.example"])
def test_the_rest_of_an_answered_request_times_out(impatient: HttpServer, host: str) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: {host.replace('PORT', str(impatient.port))}\r\nContent-Length: 1000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=TIMEOUT_S) as opened:
        opened.sendall(head.encode())
        assert opened.recv(12) in (b"HTTP/1.1 401", b"HTTP/1.1 421")
        opened.sendall(b"x")
        with opened.makefile("rb") as said:
            said.read()  # until the server closes the connection


def changes(server: HttpServer) -> int:
    cookie = server.sign_in()
    return int(server.ask("GET", f"{server.base}/", cookie).text.rpartition("|")[2])


def assert_confined(answer: Answer, *, browser: bool) -> None:
    """Assert that an answer forbids sniffing and caching, and framing and scripts if a browser may show it."""
    headers: dict[str, Any] = answer.headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
    if browser:
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/sign-in", 401)])
def test_refusals_are_pages_for_browsers_and_lines_for_programs(server: HttpServer, path: str, status: int) -> None:
    page = server.ask("GET", path, [("Accept", "text/html,*/*")])
    line = server.ask("GET", path)
    assert (page.status, line.status) == (status, status)
    assert "pressing Enter there prints a new one" in page.text
    assert "<p>" not in line.text
