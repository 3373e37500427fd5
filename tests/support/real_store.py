"""A store with the real clock in a separate folder, for the tests of the storage guarantees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moss_memory.store import Store
from support.store_truth import open_at


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the home of this test's store; only a home that names a server exists before the first call."""
    home = tmp_path.resolve() / "home"
    if request.config.getoption("--engine") == "postgres":
        from support.postgres import databases

        databases().settle(home)
    return home


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with open_at(home) as store:
        yield store
