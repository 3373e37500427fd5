"""The how-to on branches answers what it shows, typed from top to bottom."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PAGE = ROOT / "docs" / "how-to" / "what-if.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_S = 120
LEFT_OUT = "…"


class Step:
    """What a reader types, and what the page says comes back; nothing where it does not say."""

    def __init__(self, language: str, typed: str, shown: str) -> None:
        self.language = language
        self.typed = typed
        self.shown = shown


def _steps() -> list[Step]:
    steps: list[Step] = []
    for language, body in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        if language in ("json", "text"):
            steps[-1].shown = body
        elif "mktemp" not in body:
            steps.append(Step(language, body, ""))
    return steps


def _run(step: Step, folder: Path) -> str:
    environment = {**os.environ, "MOSS_HOME": str(folder / "home"), "PATH": f"{BIN}:{os.environ['PATH']}"}
    program = ["bash", "-e", "-c", step.typed] if step.language == "sh" else [sys.executable, "-c", step.typed]
    done = subprocess.run(
        program,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, f"{step.typed}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _answers(shown: str) -> list[str]:
    """The answers of a block; a line that begins with a space goes on with the one before."""
    return re.sub(r"(?<=\[)\n +|\n(?= )", "", shown).splitlines()


def _pattern(shown: str) -> str:
    return ".*".join(re.escape(part) for part in shown.split(LEFT_OUT))


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Step, str]]:
    """Every step of the page with what it printed, all in one store."""
    folder = tmp_path_factory.mktemp("what-if")
    return [(step, _run(step, folder)) for step in _steps()]


def test_every_answer_on_the_page_is_the_one_that_comes(typed: list[tuple[Step, str]]) -> None:
    compared = 0
    for step, printed in typed:
        if step.shown:
            lines = printed.splitlines()
            assert len(lines) == len(_answers(step.shown)), step.typed
            for line, shown in zip(lines, _answers(step.shown), strict=True):
                assert re.fullmatch(_pattern(shown), line), f"{shown}\nbut it is\n{line}"
                compared += 1
    assert compared >= 15


def test_the_conflict_is_settled_and_merging_again_adds_nothing(typed: list[tuple[Step, str]]) -> None:
    merges = [json.loads(printed.splitlines()[-1]) for step, printed in typed if "conflict-resolve" in step.typed]
    assert [(merge["merged"], merge["conflicts_created"]) for merge in merges] == [(0, 0)]


def test_the_commands_in_the_text_exist_too(tmp_path: Path) -> None:
    text = FENCE.sub("", PAGE.read_text(encoding="utf-8"))
    mentioned = re.findall(r"`moss (\w+ [a-z-]+)", text)
    assert mentioned == ["graph draw", "history reset"]
    for words in mentioned:
        assert "usage" in _run(Step("sh", f"moss {words} --help", ""), tmp_path)
