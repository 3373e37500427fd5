"""Extraction of paths from text: every usual spelling, and a limited number."""

from __future__ import annotations

import pytest

from moss_memory.code_state.paths_in_text import MOST_PATHS, paths_in
from support.thorough import complete_or


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see src/auth/session.py.", ["src/auth/session.py"]),
        ("`src/auth/session.py:42`", ["src/auth/session.py"]),
        ("\"docs/my file.md\" and 'Makefile'", ["docs/my file.md", "Makefile", "file.md"]),
        ("(./src/a.go:10:3)", ["src/a.go"]),
        ("src/a.py#L10-L20", ["src/a.py"]),
        ("https://example.org/x.py ../out.py /etc/passwd .git/config", []),
        ("/home/ada/shop/src/a.py", ["src/a.py"]),
        ("src/größe.py", ["src/größe.py"]),
        ("nothing here, and so on", []),
    ],
)
def test_paths_are_found_in_every_spelling(text: str, paths: list[str]) -> None:
    found = paths_in(text, "/home/ada/shop")
    assert set(paths) <= set(found) if paths else not found
    assert not any(path.startswith(("/", "..", ".git")) for path in found)


@pytest.mark.parametrize("part", ["`", '"a', "a/", "./", "a.", "\n", "'b ", "a/b.c "])
def test_a_long_text_has_a_limited_number_of_paths(part: str) -> None:
    assert len(paths_in(part * (complete_or(1_000_000, 100_000) // len(part)))) <= MOST_PATHS
