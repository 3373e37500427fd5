"""A store of its own for the search room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from search.shelf import Shelf


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    """An empty store."""
    opened = Shelf()
    yield opened
    opened.connection.close()
