"""Paths are found in every usual spelling, in linear time."""

from __future__ import annotations

import time

import pytest

from moss_memory.code_state.paths_in_text import MOST_PATHS, paths_in


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see src/auth/session.py.", ["src/auth/session.py"]),
        ("`src/auth/session.py:42`", ["src/auth/session.py"]),
        ('"docs/my file.md" and \'Makefile\'', ["docs/my file.md", "Makefile", "file.md"]),
        ("(./src/a.go:10:3)", ["src/a.go"]),
        ("src/a.py#L10-L20", ["src/a.py"]),
        ("https://example.org/x.py ../out.py /etc/passwd .git/config", ["example.org/x.py"]),
        ("/home/ada/shop/src/a.py", ["src/a.py"]),
        ("src/größe.py", ["src/größe.py"]),
        ("nothing here, and so on", []),
    ],
)
def test_paths_are_found_as_they_are_written(text: str, paths: list[str]) -> None:
    found = paths_in(text, "/home/ada/shop")
    assert set(paths) <= set(found) if paths else not found
    assert not any(path.startswith(("/", "..", ".git")) for path in found)


@pytest.mark.parametrize("part", ["`", '"a', "a/", "./", "a.", "\n", "'b ", "a/b.c "])
def test_time_grows_linearly_with_the_text(part: str) -> None:
    began = time.process_time()
    found = paths_in(part * (1_000_000 // len(part)))
    assert time.process_time() - began < 5
    assert len(found) <= MOST_PATHS
