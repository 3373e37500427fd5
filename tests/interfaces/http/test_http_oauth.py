"""OAuth over HTTP: accepted and refused tokens, and the metadata for clients."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.http import oauth as oauth_module
from moss_memory.http.oauth import METADATA_PATH, OAuth
from moss_memory.storage import server_tables
from moss_memory.store import Store
from support.http_server import Answer, HttpServer
from support.issuer import AUDIENCE, Issuer
from support.mcp_pipe import call, request
from support.timeouts import wait_until

REAL = "import sys; from moss_memory.cli.main import main; sys.exit(main())"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    made.add_key("curve", "ES256")
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("oauth") / "home"
    options = ("--oauth-issuer", issuer.address, "--oauth-audience", AUDIENCE)
    with HttpServer(home, *options, code=REAL) as running:
        yield running


def ask(server: HttpServer, token: str, tool: str = "capsule_list", arguments: dict[str, Any] | None = None) -> Answer:
    params = {"name": tool, "arguments": arguments or {}, "_meta": META}
    headers = [
        ("Authorization", f"Bearer {token}"), ("Content-Type", "application/json"), ("Accept", "application/json"),
        ("Mcp-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool),
    ]  # fmt: skip
    return server.ask("POST", "/mcp", headers, json.dumps(request("tools/call", params)))


def _text(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def _encode(part: Any) -> str:
    return _text(json.dumps(part).encode())


def _unsigned(issuer: Issuer, algorithm: str) -> str:
    return f"{_encode({'alg': algorithm, 'typ': 'JWT'})}.{_encode(issuer.claims())}."


def _confused(issuer: Issuer) -> str:
    """Return a token whose signature is an HMAC with the public key as the secret."""
    public = issuer.keys["first"]
    assert isinstance(public, RSAKey)
    signed = f"{_encode({'alg': 'HS256', 'kid': 'first'})}.{_encode(issuer.claims())}"
    mac = hmac.digest(public.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{_text(mac)}"


def _signed(issuer: Issuer, header: dict[str, Any]) -> str:
    """Return a token with the given header and a valid signature."""
    key = issuer.keys["first"]
    assert isinstance(key, RSAKey)
    assert key.private_key is not None
    signed = f"{_encode({'alg': 'RS256', 'kid': 'first', **header})}.{_encode(issuer.claims())}"
    made = key.private_key.sign(signed.encode(), PKCS1v15(), SHA256())
    return f"{signed}.{_text(made)}"


def _changed(issuer: Issuer) -> str:
    head, _, signature = issuer.token().split(".")
    return f"{head}.{_encode(issuer.claims(sub='somebody else'))}.{signature}"


REFUSED: dict[str, Callable[[Issuer], str]] = {
    "forged by another key": lambda one: one.token(signed_by=RSAKey.generate_key(2048)),
    "forged by another curve key": lambda one: one.token("curve", signed_by=ECKey.generate_key("P-256")),
    "unknown key": lambda one: one.token("unknown", signed_by=RSAKey.generate_key(2048)),
    "changed claims": _changed,
    "no algorithm": lambda one: _unsigned(one, "none"),
    "no algorithm in capitals": lambda one: _unsigned(one, "None"),
    "public key as secret": _confused,
    "expired": lambda one: one.token(exp=one.now(-1)),
    "no expiry": lambda one: one.token(exp=None),
    "expiry is text": lambda one: one.token(exp="tomorrow"),
    "not yet valid": lambda one: one.token(nbf=one.now(60)),
    "foreign issuer": lambda one: one.token(iss="https://login.example.com"),
    "no issuer": lambda one: one.token(iss=None),
    "other audience": lambda one: one.token(aud="another-server"),
    "part of the audience": lambda one: one.token(aud=AUDIENCE[:-1]),
    "no audience": lambda one: one.token(aud=None),
    "no subject": lambda one: one.token(sub=None),
    "unknown critical header": lambda one: _signed(one, {"crit": ["x"], "x": 1}),
    "no JWT": lambda one: "a.b.c",
    "claims that are no object": lambda one: jws.serialize_compact(
        {"alg": "RS256", "kid": "first"}, "[]", one.keys["first"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_token_of_another_issuer_or_audience_is_refused(server: HttpServer, issuer: Issuer, kind: str) -> None:
    answer = ask(server, REFUSED[kind](issuer))
    assert answer.status == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


ACCEPTED: dict[str, Callable[[Issuer], str]] = {
    "RSA": lambda one: one.token(),
    "elliptic curve": lambda one: one.token("curve"),
    "several audiences": lambda one: one.token(aud=["another-server", AUDIENCE]),
    "valid since a second": lambda one: one.token(nbf=one.now(-1)),
    "scopes as a list": lambda one: one.token(scope=None, scp=["moss:read"]),
    "a header of its own": lambda one: _signed(one, {"nonce": "n", "x5t": "x"}),
    "no key id": lambda one: jws.serialize_compact({"alg": "RS256"}, json.dumps(one.claims()), one.keys["first"]),
}


@pytest.mark.parametrize("kind", ACCEPTED)
def test_a_token_of_the_issuer_and_audience_is_accepted(server: HttpServer, issuer: Issuer, kind: str) -> None:
    answer = ask(server, ACCEPTED[kind](issuer))
    assert (answer.status, answer.json["result"]["isError"]) == (200, False)


def test_clients_are_referred_to_the_issuer(server: HttpServer, issuer: Issuer) -> None:
    refused = server.ask("POST", "/mcp", [("Content-Type", "application/json")], "{}")
    assert refused.status == 401
    told = refused.headers["www-authenticate"]
    assert told.startswith("Bearer ")
    assert "error=" not in told
    address = told.partition('resource_metadata="')[2].partition('"')[0]
    assert address == server.address + METADATA_PATH
    for path in (METADATA_PATH, f"{METADATA_PATH}/mcp"):
        described = server.ask("GET", path)
        assert described.headers["content-type"] == "application/json"
        assert described.json == {
            "resource": f"{server.address}/mcp",
            "authorization_servers": [issuer.address],
            "scopes_supported": ["moss:read", "moss:write"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Moss",
        }
    assert server.ask("POST", METADATA_PATH).status == 405


def test_a_token_without_a_scope_of_this_server_is_forbidden(server: HttpServer, issuer: Issuer) -> None:
    for scope in ("", "openid email", "moss:reader", None):
        answer = ask(server, issuer.token(scope=scope))
        assert answer.status == 403
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


def test_the_read_scope_cannot_write(server: HttpServer, issuer: Issuer) -> None:
    reader = issuer.token(scope="openid moss:read")
    error = ask(server, reader, "capsule_store", {"name": "x", "capsule_text": FULL}).json["result"]
    assert error["structuredContent"]["error"]["code"] == "READ_ONLY"
    assert ask(server, reader).json["result"]["isError"] is False


@pytest.mark.parametrize(
    ("name", "changes", "actor"),
    [
        ("by-mail", {}, "anna@example.org"),
        ("by-subject", {"email": None}, "user-17"),
        ("unverified", {"email_verified": False}, "user-17"),
        ("no-address", {"email": "owner"}, "user-17"),
    ],
)
def test_the_actor_is_the_mail_address_or_the_subject(
    server: HttpServer, issuer: Issuer, name: str, changes: dict[str, Any], actor: str
) -> None:
    token = issuer.token(**changes)
    assert ask(server, token, "capsule_store", {"name": name, "capsule_text": FULL}).json["result"]["isError"] is False
    [version] = ask(server, token, "moss_history", {"type": "capsule", "name": name}).json["result"][
        "structuredContent"
    ]["versions"]
    assert version["by"] == actor


def test_named_tokens_and_the_owner_work_beside_oauth(server: HttpServer) -> None:
    token = server_tables.new_token()
    with Store(default_config(str(server.home)), actor="test") as store:
        given: dict[str, Any] = {
            "sha256": server_tables.hash_of(token.encode()),
            "read_only": False,
            "lifetime_s": None,
        }
        store.write(server_tables.add_token, what="token_add", name="beside", **given)
    assert ask(server, token).status == 200
    assert ask(server, server.token).status == 200
    assert ask(server, server_tables.new_token()).status == 401


def test_a_session_continues_with_the_next_token_of_the_same_person(server: HttpServer, issuer: Issuer) -> None:
    def headers(token: str) -> list[tuple[str, str]]:
        return [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]

    opened = server.ask(
        "POST",
        "/mcp",
        headers(issuer.token()),
        json.dumps(request("initialize", {"protocolVersion": "2025-11-25"})),
    )
    session = ("Mcp-Session-Id", opened.headers["mcp-session-id"])
    used = json.dumps(call("capsule_list"))
    renewed = issuer.token(jti="renewed")
    assert server.ask("POST", "/mcp", [*headers(renewed), session], used).status == 200
    assert server.ask("POST", "/mcp", [*headers(issuer.token(sub="user-18")), session], used).status == 404


def test_a_new_key_is_fetched_and_a_withdrawn_one_is_refused(tmp_path: Path) -> None:
    issuer = Issuer()
    options = ("--oauth-issuer", issuer.address, "--oauth-audience", AUDIENCE)
    try:
        with HttpServer(tmp_path / "home", *options, code=REAL) as server:
            old = issuer.token()
            assert ask(server, old).status == 200
            assert issuer.reads == 1
            issuer.add_key("second", "ES256")
            del issuer.keys["first"]
            assert ask(server, issuer.token("second")).status == 200
            assert issuer.reads == 2
            assert ask(server, old).status == 401
            before = issuer.reads
            for number in range(20):
                assert ask(server, issuer.token(f"no-{number}", signed_by=issuer.keys["second"])).status == 401
            assert issuer.reads - before < 10
    finally:
        issuer.close()


def test_a_stream_ends_with_its_token(tmp_path: Path) -> None:
    issuer = Issuer()
    options = ("--oauth-issuer", issuer.address, "--oauth-audience", AUDIENCE)
    try:
        with HttpServer(tmp_path / "home", *options, code=REAL) as server:
            token = issuer.token(exp=issuer.now(4))
            headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
            asked = json.dumps(request("initialize", {"protocolVersion": "2025-11-25"}))
            opened = server.ask("POST", "/mcp", headers, asked)
            session = ("Mcp-Session-Id", opened.headers["mcp-session-id"])
            answer = server.ask("GET", "/mcp", [*headers, session, ("Accept", "text/event-stream")])
            assert answer.status == 200  # read to its end
            wait_until(lambda: ask(server, token).status == 401, "the token does not expire")
    finally:
        issuer.close()


def test_an_unavailable_issuer_is_reported_as_temporary(tmp_path: Path) -> None:
    options = ("--oauth-issuer", "http://127.0.0.1:1", "--oauth-audience", AUDIENCE)
    with HttpServer(tmp_path / "home", *options, code=REAL) as server:
        answer = ask(server, "a.b.c")
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert ask(server, server.token).status == 200
        link = server.ask("POST", "/sign-in", [("Authorization", "Bearer a.b.c")])
        assert (link.status, link.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("named", ["https://login.example.com", "http://127.0.0.1"])
def test_the_metadata_of_another_issuer_is_refused(tmp_path: Path, named: str) -> None:
    issuer = Issuer()
    issuer.named = named
    try:
        verifier = OAuth(issuer.address, AUDIENCE)
        with pytest.raises(ValueError, match="no metadata"):
            verifier._keys_address()
    finally:
        issuer.close()


def test_keys_of_other_kinds_are_skipped_and_openid_keys_are_found() -> None:
    issuer = Issuer()
    issuer.path = "/.well-known/openid-configuration"
    issuer.extra_keys = [{"kty": "oct", "k": "c2VjcmV0"}, {"kty": "RSA", "n": "!", "e": 3}, {"kty": "EC"}, 7]  # type: ignore[list-item]
    try:
        [key] = OAuth(issuer.address, AUDIENCE)._fetch_keys()
        assert key.kid == "first"
    finally:
        issuer.close()


@pytest.mark.parametrize(
    "issuer",
    [
        "http://login.example.org",
        "ftp://login.example.org",
        "login.example.org",
        "https://",
        "https://a@b",
        "https://a?b",
        "",
    ],
)
def test_an_issuer_url_without_tls_or_with_extra_parts_is_refused(issuer: str) -> None:
    with pytest.raises(MossError) as refused:
        OAuth(issuer, AUDIENCE)
    assert refused.value.code == "INVALID_REQUEST"


@pytest.mark.parametrize("given", [("https://login.example.org", None), (None, AUDIENCE)])
def test_issuer_and_audience_are_required_together(given: tuple[str | None, str | None]) -> None:
    with pytest.raises(MossError, match="belong together"):
        oauth_module.make_oauth(*given)


def test_without_oauth_there_is_no_metadata(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home", code=REAL) as server:
        assert server.ask("GET", METADATA_PATH).status == 404
        refused = server.ask("GET", "/mcp")
        assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
