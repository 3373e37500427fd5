"""What the tests of the server share: one process for those that only ask, another for those that end it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.http_server import FAKES, UNHURRIED, HttpServer


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that lives as long as the session, with pages of the tests."""
    with HttpServer(tmp_path_factory.mktemp("http") / "home", "--log") as made:
        yield made


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """The same with the tests' own tools."""
    with HttpServer(tmp_path_factory.mktemp("fakes") / "home", code=UNHURRIED + FAKES) as made:
        yield made


@pytest.fixture
def own_fakes(tmp_path: Path) -> Iterator[HttpServer]:
    """A server with the tests' own tools that a test may end."""
    with HttpServer(tmp_path / "home", code=UNHURRIED + FAKES) as made:
        yield made
