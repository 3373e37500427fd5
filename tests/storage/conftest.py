"""A store in a folder of its own for each test."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from store_truth import open_at

from moss_memory.store import Store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the store of this test lives; the folder is made by its first call."""
    return tmp_path.resolve() / "home"


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with open_at(home) as store:
        yield store
