"""Fixtures for tests of PostgreSQL itself: a database, and a command line whose store is in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from support.cli_typist import Cli
from support.postgres import databases

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def url(home: str) -> str:
    """Return the URL of an empty database."""
    return databases().url_of(home)


@pytest.fixture
def cli(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return a command line for a store in an empty database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MOSS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MOSS_URL", url)
    return Cli(str(tmp_path / "home"), dict(os.environ))
