"""The generated reference is up to date with the registry."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from moss_memory.config import DEFAULTS, ONLY_TO_LOWER
from moss_memory.errors import STATUS
from moss_memory.registry import catalog

ROOT = Path(__file__).parents[2]


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES: dict[str, str] = _generator().pages()


@pytest.mark.parametrize("file", sorted(PAGES))
def test_a_reference_page_matches_the_registry(file: str) -> None:
    written = (ROOT / "docs" / "reference" / file).read_text(encoding="utf-8")
    assert written == PAGES[file], "run `make docs`"


def test_there_is_no_obsolete_reference_page() -> None:
    assert {path.name for path in (ROOT / "docs" / "reference").glob("*.md")} == set(PAGES)


def test_every_tool_code_and_setting_has_its_line() -> None:
    everything = "\n".join(PAGES.values())
    for operation in catalog.operations():
        assert f"## {operation.name}\n" in everything
    for name in [*STATUS, *DEFAULTS]:
        assert f"| `{name}` |" in everything


def test_settings_that_a_repository_may_only_lower_are_marked() -> None:
    lines = PAGES["configuration.md"].splitlines()
    for name in ONLY_TO_LOWER:
        (line,) = [line for line in lines if line.startswith(f"| `{name}` |")]
        assert "a repository may only lower it" in line
