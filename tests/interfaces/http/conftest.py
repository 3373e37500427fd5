"""What the tests of the server share: one process for those that only ask, another for those that end it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.http_server import FAKES, UNHURRIED, HttpServer

LIMITS = '{"token_calls_per_minute": 100000, "token_calls_at_once": 1000}'
"""The settings of a server that all tests call with one token."""


def unlimited(folder: Path) -> Path:
    """Return a home whose token may make many calls."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "config.json").write_text(LIMITS)
    return home


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that lives as long as the session, with pages of the tests."""
    with HttpServer(unlimited(tmp_path_factory.mktemp("http")), "--log") as made:
        yield made


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """The same with the tests' own tools."""
    with HttpServer(unlimited(tmp_path_factory.mktemp("fakes")), code=UNHURRIED + FAKES) as made:
        yield made


@pytest.fixture
def own_fakes(tmp_path: Path) -> Iterator[HttpServer]:
    """A server with the tests' own tools that a test may end."""
    with HttpServer(unlimited(tmp_path), code=UNHURRIED + FAKES) as made:
        yield made
