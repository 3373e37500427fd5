"""`moss token`: tokens are printed once, kept as hashes, listed and revoked."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from moss_memory.errors import MossError
from moss_memory.storage import server_tables
from moss_memory.store import Store

DAY_S = 86_400


def add(
    store: Store, name: str, value: str = "moss_x", *, read_only: bool = False, lifetime_s: int | None = None
) -> Any:
    sha256 = server_tables.hash_of(value.encode())
    return store.write(
        server_tables.add_token, what="token_add", name=name, sha256=sha256, read_only=read_only, lifetime_s=lifetime_s
    )


def listed(store: Store) -> list[dict[str, Any]]:
    return store.read(server_tables.list_tokens, what="token_list")


def refused(act: Any) -> str:
    with pytest.raises(MossError) as caught:
        act()
    return caught.value.code


@pytest.mark.sqlite("it reads the files of the store")
def test_a_token_is_printed_once_and_only_its_hash_is_kept(cli: Any, tmp_path: Path) -> None:
    made = cli("token", "add", "anna", "--expires", "90d", "--read-only").json
    assert re.fullmatch(r"moss_[A-Za-z0-9_-]{43}", made["token"])
    assert (made["name"], made["read_only"]) == ("anna", True)
    assert made["expires_at"] - made["created_at"] == 90 * DAY_S
    [shown] = cli("token", "list").json["tokens"]
    assert shown == {
        "name": "anna",
        "created_at": made["created_at"],
        "last_used_at": None,
        "expires_at": made["expires_at"],
        "expired": False,
        "read_only": True,
    }
    stored = b"".join(path.read_bytes() for path in Path(cli.home).glob("moss.db*"))
    assert made["token"].encode() not in stored
    assert made["token"][5:].encode() not in stored
    assert hashlib.sha256(made["token"].encode()).hexdigest().encode() in stored
    assert "anna" in cli("token", "list", "--table").out
    assert made["token"] not in cli("token", "list", "--table").out
    assert cli("token", "revoke", "anna").json == {"name": "anna", "revoked": True}
    assert cli("token", "list").json == {"tokens": []}


@pytest.mark.sqlite("the copy is made by commands on files")
def test_an_export_contains_no_token(cli: Any, tmp_path: Path) -> None:
    made = cli("token", "add", "anna").json
    cli("store", "--name", "n", "--allow-thin", stdin="x")
    assert cli("export", "--all", str(tmp_path / "out")).code == 0
    content = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert content
    assert made["token"].encode() not in content
    assert hashlib.sha256(made["token"].encode()).hexdigest().encode() not in content
    assert cli("migrate", "--to", f"sqlite:{tmp_path / 'copy'}").code == 0
    assert cli("token", "list", "--home", str(tmp_path / "copy")).json == {"tokens": []}


@pytest.mark.parametrize("expires", ["", "0d", "-1d", "90", "d", "1y", "1.5h", "999999999w"])
def test_an_invalid_lifetime_is_refused(cli: Any, expires: str) -> None:
    answer = cli("token", "add", "anna", f"--expires={expires}")
    assert answer.code == 1
    assert "INVALID_REQUEST" in answer.err
    assert "--expires" in answer.err
    assert cli("token", "list").json == {"tokens": []}


@pytest.mark.parametrize("name", ["", "a b", "ä", "a/b", "x" * 65, "a\n", "a·b", "a\0"])
def test_an_invalid_token_name_is_refused(store: Store, name: str) -> None:
    assert refused(lambda: add(store, name)) == "INVALID_REQUEST"
    assert listed(store) == []


@pytest.mark.parametrize("name", ["a", "x" * 64, "anna.b-c_d@host", "0"])
def test_names_of_letters_digits_and_four_marks_are_accepted(store: Store, name: str) -> None:
    assert add(store, name)["name"] == name
    assert [one["name"] for one in listed(store)] == [name]


def test_a_taken_name_and_that_of_the_owner_are_refused(store: Store) -> None:
    add(store, "anna", "moss_1")
    assert refused(lambda: add(store, "anna", "moss_2")) == "NAME_ALREADY_EXISTS"
    for name in ("owner", "Owner"):
        assert refused(lambda name=name: add(store, name, "moss_3")) == "NAME_ALREADY_EXISTS"
    assert [one["name"] for one in listed(store)] == ["anna"]


def test_a_missing_token_and_that_of_the_owner_cannot_be_revoked(store: Store) -> None:
    assert refused(lambda: store.write(server_tables.revoke_token, what="token_revoke", name="anna")) == "NOT_FOUND"
    assert (
        refused(lambda: store.write(server_tables.revoke_token, what="token_revoke", name="owner")) == "INVALID_REQUEST"
    )


def test_the_last_use_is_stored_to_the_hour_and_is_no_change(store: Store) -> None:
    add(store, "anna", "moss_1")
    before = store.call("moss_changes", {})["seq"]
    store.write(server_tables.note_use, what="token_use", sha256=server_tables.hash_of(b"moss_1"))
    [shown] = listed(store)
    assert shown["last_used_at"] % 3600 == 0
    assert store.call("moss_changes", {})["seq"] == before


def test_the_session_key_is_created_once(store: Store) -> None:
    assert store.read(server_tables.read_session_key, what="session") is None
    assert store.write(server_tables.make_session_key, what="session", key="first") == "first"
    assert store.write(server_tables.make_session_key, what="session", key="second") == "first"
    assert store.read(server_tables.read_session_key, what="session") == "first"


def test_sessions_are_kept_for_a_day(store: Store) -> None:
    store.write(server_tables.note_session, what="session", session="a", seen_at=1000, ended=True)
    store.write(server_tables.note_session, what="session", session="a", seen_at=2000, ended=False)
    assert store.read(server_tables.read_session, what="session", session="a") == (2000, True)
    store.write(server_tables.note_session, what="session", session="b", seen_at=2000 + 2 * DAY_S, ended=False)
    assert store.read(server_tables.read_session, what="session", session="a") is None
