"""The URL of a server: parsed as the driver does, shown without its secrets."""

from __future__ import annotations

import importlib.util

import pytest

from moss_memory.config import default_config, load_config, setting_problem
from moss_memory.errors import MossError
from moss_memory.storage.postgres.url import has_password, is_well_formed, without_password
from moss_memory.store import Store
from support.store_truth import refusal

TELLING = {
    "postgresql://moss:swordfish@db.example/team": "postgresql://moss@db.example/team",
    "postgres://:swordfish@db.example": "postgres://@db.example",
    "postgresql://moss:swordfish@a:5432,b:5433/team?application_name=x": (
        "postgresql://moss@a:5432,b:5433/team?application_name=x"
    ),
    "postgresql://moss:sword?fish@db.example/team": "postgresql://moss@db.example/team",
    "postgresql://moss:sword%2Ffish:swordfish@[::1]:5432/team": "postgresql://moss@[::1]:5432/team",
    "postgresql://db.example/team?password=swordfish": "postgresql://db.example/team",
    "postgresql://db.example/team?sslmode=require&pass%77ord=swordfish&port=1": (
        "postgresql://db.example/team?sslmode=require&port=1"
    ),
    "postgresql:///team?sslpassword=swordfish&host=/run": "postgresql:///team?host=/run",
    "postgresql://db.example/team?oauth_client_secret=swordfish": "postgresql://db.example/team",
}
AMBIGUOUS = (
    "postgresql://moss:sword/fish@db.example/team",
    "postgresql://moss:12/swordfish@db.example/team",
    "postgresql://moss:12/team?swordfish@db.example",
    "postgresql://moss:12/team?x=swordfish@db.example",
    "postgresql://moss:swordfish\n@db.example/team",
)
PLAIN = (
    "postgresql://db.example/team",
    "postgresql:///team",
    "postgresql://moss@/team?host=/run/a,/run/b",
    "postgresql:///team?host=@socket",
    "postgresql://a:5432,b:5433/team?target_session_attrs=any",
    "postgresql://moss@[fe80::1]:5432/team?sslmode=verify-full",
)


@pytest.mark.parametrize("url", TELLING)
def test_secrets_in_a_url_are_found_and_never_shown(url: str) -> None:
    assert is_well_formed(url)
    assert has_password(url)
    assert without_password(url) == TELLING[url]
    assert setting_problem("url", url).startswith("a URL without a password")


@pytest.mark.parametrize("url", PLAIN)
def test_a_url_without_a_secret_is_shown_unchanged(url: str) -> None:
    assert is_well_formed(url)
    assert not has_password(url)
    assert without_password(url) == url
    assert setting_problem("url", url) == ""


@pytest.mark.parametrize("url", AMBIGUOUS)
def test_a_url_that_can_be_read_in_two_ways_is_refused_and_not_repeated(
    url: str, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_well_formed(url)
    assert "fish" not in without_password(url)
    monkeypatch.setenv("MOSS_URL", url)
    error = refusal(load_config, home)
    assert error.code == "INVALID_REQUEST"
    assert "fish" not in str(error.payload())


@pytest.mark.parametrize("missing", ["psycopg", "numpy"])
def test_a_missing_driver_is_an_error_that_names_the_package(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    with pytest.raises(MossError, match=r"install moss-memory\[postgres\]") as refused:
        Store(default_config("/nowhere").replace(url="postgresql://moss@127.0.0.1:1/team"))
    assert refused.value.code == "INVALID_REQUEST"
