"""A store with the real clock in a folder of its own, for the tests of what storage promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moss_memory.store import Store
from support.store_truth import open_at


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where the store of this test lives; its first call makes the folder, unless that has to name a server."""
    home = tmp_path.resolve() / "home"
    if request.config.getoption("--engine") == "postgres":
        from support.postgres import databases

        databases().settle(home)
    return home


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with open_at(home) as store:
        yield store
