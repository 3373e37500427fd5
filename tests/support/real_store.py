"""A store with the real clock in a folder of its own, for the tests of what storage promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moss_memory.store import Store
from support.store_truth import open_at


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the store of this test lives; the folder is made by its first call."""
    return tmp_path.resolve() / "home"


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with open_at(home) as store:
        yield store
