"""A server on another machine must present a valid certificate, unless its URL says otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.config import default_config
from moss_memory.storage.postgres import connection_options
from moss_memory.store import Store
from support.store_truth import refusal
from support.tls_proxy import TlsProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.cli_typist import Cli

    Doors = Callable[..., TlsProxy]

ELSEWHERE = "2130706433"
"""127.0.0.1 as one number: it never leaves this machine, but does not look local."""


@pytest.fixture
def door(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Doors]:
    """Return a function that starts proxies in front of the server of the tests."""
    made: list[TlsProxy] = []
    folder = url.partition("host=")[2]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PGSSLMODE", raising=False)
    monkeypatch.delenv("PGSSLROOTCERT", raising=False)

    def opened(certified: str, *, speaks: bool = True) -> TlsProxy:
        made.append(TlsProxy(f"{folder}/.s.PGSQL.5432", tmp_path, certified=certified, speaks=speaks))
        return made[-1]

    yield opened
    for one in made:
        one.close()


def through(door: TlsProxy, url: str, more: str = "", *, host: str = ELSEWHERE) -> Store:
    """Return the store as it is reached through a proxy."""
    database = url.partition("/moss_")[2].partition("?")[0]
    at = f"postgresql://moss:swordfish@{host}:{door.port}/moss_{database}"
    return Store(default_config("/nowhere").replace(url=f"{at}?{more}" if more else at))


def refused(store: Store) -> str:
    """Return the message of the error when a store is opened, asserting that it contains no password."""
    with store:
        error = refusal(store.call, "capsule_list", {})
    assert error.code == "STORAGE_READONLY"
    [said] = error.__notes__  # clients of a server see only the message
    assert "swordfish" not in str(error.payload()) + said
    assert "moss@" not in error.message
    return said


def test_a_certificate_of_an_unknown_authority_is_refused(door: Doors, url: str) -> None:
    assert "certificate" in refused(through(door(ELSEWHERE), url))


def test_a_certificate_for_another_name_is_refused(door: Doors, url: str) -> None:
    other = door("other.example")
    assert "does not match" in refused(through(other, url, f"sslrootcert={other.roots}"))


def test_a_server_without_tls_is_refused_before_anything_is_sent(door: Doors, url: str) -> None:
    plain = door(ELSEWHERE, speaks=False)
    assert "SSL" in refused(through(plain, url))
    assert plain.heard == b"\0\0\0\x08\x04\xd2\x16\x2f", "only the question whether it speaks TLS"


@pytest.mark.parametrize("vouched", ["in the url", "PGSSLROOTCERT", "SSL_CERT_FILE", "~/.postgresql"])
def test_a_server_with_a_valid_certificate_is_used(
    vouched: str, door: Doors, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven = door(ELSEWHERE)
    if vouched == "~/.postgresql":
        (tmp_path / ".postgresql").mkdir()
        (tmp_path / ".postgresql" / "root.crt").write_bytes(proven.roots.read_bytes())
    elif vouched != "in the url":
        monkeypatch.setenv(vouched, str(proven.roots))
    with through(proven, url, f"sslrootcert={proven.roots}" if vouched == "in the url" else "") as store:
        assert store.call("capsule_list", {})["items"] == []


def test_the_sslmode_of_the_url_takes_precedence_and_the_doctor_warns(
    door: Doors, url: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = through(door(ELSEWHERE), url, "sslmode=require")
    with store:
        assert store.call("capsule_list", {})["items"] == []
    monkeypatch.setenv("MOSS_URL", store.config.url)
    shown = cli("doctor", "--json")
    server = {check["name"]: check for check in json.loads(shown.out)["checks"]}["server"]
    assert server["status"] == "warn"
    assert "encrypted, not verified" in server["message"]
    assert "swordfish" not in shown.out + shown.err


def test_a_local_server_needs_no_certificate(door: Doors, url: str) -> None:
    with through(door("anybody"), url, host="localhost") as store:
        assert store.call("capsule_list", {})["items"] == []


@pytest.mark.parametrize(
    ("given", "here"),
    [
        ({"host": "/run/postgresql"}, True),
        ({"host": "localhost,127.0.0.2,::1"}, True),
        ({"host": "LocalHost"}, True),
        ({}, True),
        ({"host": "127.0.0.1.example"}, False),
        ({"host": "127.example"}, False),
        ({"host": "localhost,db.example"}, False),
        ({"host": "localhost", "service": "team"}, False),
        ({"host": "db.example", "hostaddr": "127.0.0.1"}, True),
        ({"host": "localhost", "hostaddr": "192.0.2.1"}, False),
    ],
)
def test_local_hosts_are_recognized(given: dict[str, Any], here: bool) -> None:
    assert connection_options.is_local(given) is here


def test_several_hosts_are_all_verified_and_the_primary_is_used() -> None:
    made = connection_options.resolve_options("postgresql://a.example,b.example/team")
    assert made["sslmode"] == "verify-full"
    assert made["target_session_attrs"] == "read-write"
    assert "sslmode" not in connection_options.resolve_options("postgresql:///team?host=/run")
