"""Shared HTTP servers: one for tests that only send requests, others that a test may stop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.http_server import FAKES, UNHURRIED, HttpServer

LIMITS = '{"token_calls_per_minute": 100000, "token_calls_at_once": 1000}'
"""Rate limits high enough for all tests to share one token."""


def unlimited(folder: Path) -> Path:
    """Return a home whose token may make many calls."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "config.json").write_text(LIMITS)
    return home


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """Start a server for the whole session, with pages for the tests."""
    with HttpServer(unlimited(tmp_path_factory.mktemp("http")), "--log") as made:
        yield made


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """Start a server with fake tools for the whole session."""
    with HttpServer(unlimited(tmp_path_factory.mktemp("fakes")), code=UNHURRIED + FAKES) as made:
        yield made


@pytest.fixture
def own_fakes(tmp_path: Path) -> Iterator[HttpServer]:
    """Start a server with fake tools that a test may stop."""
    with HttpServer(unlimited(tmp_path), code=UNHURRIED + FAKES) as made:
        yield made
