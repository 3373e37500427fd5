"""Install hints name a command that works."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from moss_memory.cli.render import install_hint
from moss_memory.cli.render.install_hint import with_working_install

HINT = "drawing needs pygraphviz; install: pip install 'moss-memory[draw]'"


def test_a_hint_names_this_python_and_the_checkout_that_it_was_installed_from() -> None:
    command = shlex.split(with_working_install(HINT).partition("install: ")[2])
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    folder, _, extra = command[4].rpartition("[")
    assert (Path(folder) / "pyproject.toml").is_file()
    assert extra == "draw]"


def test_without_a_checkout_the_distribution_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install_hint, "_source", lambda: "moss-memory")
    assert with_working_install(HINT).endswith("-m pip install 'moss-memory[draw]'")


@pytest.mark.parametrize("text", ["", "nothing to install", "pip install 'moss-memory[draw"])
def test_other_texts_stay_unchanged(text: str) -> None:
    assert with_working_install(text) == text
