"""Fixtures for tests of the search index."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from search.capsules import CapsuleDatabase


@pytest.fixture
def database() -> Iterator[CapsuleDatabase]:
    """Return an empty store."""
    opened = CapsuleDatabase()
    yield opened
    opened.connection.close()
