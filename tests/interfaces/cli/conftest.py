"""Fixtures of the command line tests: a new command line for every test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from support.cli_typist import CAPSULE, Cli

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return a command line with an empty store and a current folder without settings."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    home = str(tmp_path / "home")
    monkeypatch.setenv("MOSS_HOME", home)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MOSS_DEBUG", raising=False)
    return Cli(home, dict(os.environ))


@pytest.fixture
def auth(cli: Cli) -> dict[str, Any]:
    """Store a capsule named `auth`."""
    answer: dict[str, Any] = cli("store", "--name", "auth", stdin=CAPSULE).json
    return answer


@pytest.fixture
def capsule() -> str:
    """Return a capsule text that passes the lint."""
    return CAPSULE
