"""The programs of the how-to for frameworks."""

# ruff: noqa: E402 - what is an extra may be missing
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

for name in ("agents", "anthropic", "langgraph"):
    pytest.importorskip(name, reason=f"{name} is an extra that is not installed; `make test` installs it")

from docs.examples.adapters import agents_session, langgraph_store, memory_tool

if TYPE_CHECKING:
    from pathlib import Path


def test_the_langgraph_program_finds_by_question_and_filter(tmp_path: Path) -> None:
    assert langgraph_store.main(str(tmp_path)) == ["Lena cannot eat peanuts"] * 2


def test_the_memory_program_corrects_its_file(tmp_path: Path) -> None:
    assert memory_tool.main(str(tmp_path))[-1].splitlines()[1] == "     1\tRetries: three times"


def test_the_session_program_reads_in_another_session(tmp_path: Path) -> None:
    assert asyncio.run(agents_session.main(str(tmp_path))) == ["Hello", "Book a table"]
