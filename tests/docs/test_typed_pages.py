"""The how-tos with answers, typed from top to bottom on a terminal and in pipes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.cli_typist import Cli
from support.terminal_bash import bash_on_terminal
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Callable


ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
FOLDER = ROOT / "docs" / "how-to"
LEAST_COMPARED = {
    "what-if.md": 9,
    "plan-and-hand-over.md": 13,
    "record-decisions.md": 8,
    "take-back-a-change.md": 8,
    "what-an-agent-sees.md": 2,
}
"""The least number of terminal or program answers on each page."""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = "…"


class Step:
    """A typed command and its documented output, if any."""

    def __init__(self, language: str, typed: str, shown: str = "") -> None:
        self.language = language
        self.typed = typed
        self.shown = shown
        self.printed = ""

    def answers(self, *, terminal: bool) -> list[tuple[str, str]]:
        """Return pairs of documented and actual output: JSON from a pipe answer by answer, other output as a whole."""
        if not self.shown or (self.language != "python" and self.is_piped is terminal):
            return []
        if not self.is_piped:
            return [(_without_ids(self.shown), _without_ids(self.printed))]
        return list(zip(_joined(self.shown).splitlines(), self.printed.splitlines(), strict=True))

    @property
    def is_piped(self) -> bool:
        return self.shown.startswith("{") and self.language == "sh"

    @property
    def refused(self) -> bool:
        return self.language == "console"


def _steps(page: str) -> list[Step]:
    steps: list[Step] = []
    for language, body in FENCE.findall((FOLDER / page).read_text(encoding="utf-8")):
        if language in ("json", "text"):
            steps[-1].shown = steps[-1].shown or body
        elif language == "console":
            command, shown = body.removeprefix("$ ").split("\n", 1)
            steps.append(Step(language, command, shown))
        elif "mktemp" not in body:
            steps.append(Step(language, body))
    return steps


def _joined(shown: str) -> str:
    """Return one line for each answer; a line that begins with a space continues the previous one."""
    return re.sub(r"(?<=\[)\n +|\n(?= )", "", shown)


def _without_ids(text: str) -> str:
    """Return the text without ids and times, which differ in each run but have the same length."""
    text = re.sub(r"\b(?=[0-9A-Z]*\d)[0-9A-Z]{26}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "ID", text)
    return re.sub(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?Z)?", "TIME", text)


def _forms() -> list[Any]:
    """Return the forms in which each page is typed; a pipe runs without `--thorough` if the page shows its output."""
    steps = {page: _steps(page) for page in LEAST_COMPARED}
    piped = {page for page, typed in steps.items() if any(step.is_piped for step in typed)}
    assert piped
    pipes = [pytest.param(page, False, marks=() if page in piped else pytest.mark.thorough) for page in steps]
    return [*((page, True) for page in steps), *pipes]


def _run(step: Step, folder: Path, *, terminal: bool) -> str:
    home = _home(folder)
    environment = {**os.environ, "HOME": str(home.parent), "MOSS_HOME": str(home)}
    environment["PATH"] = f"{BIN}:{os.environ['PATH']}"
    if terminal and step.language != "python":
        code, shown = bash_on_terminal(step.typed, folder, environment)
        assert code == int(step.refused), f"{step.typed}\n{shown}"
        return shown
    program = [sys.executable, "-c", step.typed] if step.language == "python" else ["bash", "-e", "-c", step.typed]
    done = subprocess.run(
        program,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == int(step.refused), f"{step.typed}\n{done.stdout}\n{done.stderr}"
    return done.stderr if step.refused else done.stdout


def _home(folder: Path) -> Path:
    return next(one for one in (folder, *folder.parents) if one.name.startswith("typed")) / "home"


def _pattern(shown: str) -> str:
    return ".*".join(re.escape(part) for part in shown.split(LEFT_OUT))


@pytest.fixture(scope="module", params=list(LEAST_COMPARED))
def page(request: pytest.FixtureRequest) -> str:
    """Return the name of a page."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], list[Step]]:
    """Run a page once, all its steps in one store, and return them with their output."""

    @cache
    def run(page: str, terminal: bool) -> list[Step]:
        folder, steps = tmp_path_factory.mktemp("typed"), _steps(page)
        for step in steps:
            step.printed = _run(step, folder, terminal=terminal)
            entered = re.findall(r"^cd (\w+)$", step.typed, re.MULTILINE)
            folder = folder.joinpath(*entered)
        return steps

    return run


@pytest.mark.parametrize(("page", "terminal"), _forms())
def test_every_answer_on_the_page_is_exact(page: str, typed: Callable[[str, bool], list[Step]], terminal: bool) -> None:
    compared = 0
    for step in typed(page, terminal):
        for shown, printed in step.answers(terminal=terminal):
            assert re.fullmatch(_pattern(shown), printed, re.DOTALL), f"{shown}\nbut it is\n{printed}"
            compared += 1
    assert compared >= LEAST_COMPARED[page] or not terminal


def test_the_commands_in_the_text_exist(page: str, tmp_path: Path) -> None:
    cli = Cli(str(tmp_path / "home"), dict(os.environ))
    text = FENCE.sub("", (FOLDER / page).read_text(encoding="utf-8"))
    mentioned = re.findall(r"`moss ([a-z]+(?: [a-z][a-z-]*)?)", text)
    assert mentioned
    for words in dict.fromkeys(mentioned):
        help_page = cli(*words.split(), "--help")
        assert help_page.code == 0
        assert "usage" in help_page.out


def test_a_settled_conflict_stays_settled(typed: Callable[[str, bool], list[Step]]) -> None:
    steps = typed("what-if.md", False)
    merges = [json.loads(step.printed.splitlines()[-1]) for step in steps if "conflict-resolve" in step.typed]
    assert [(merge["graph"]["merged"], merge["graph"]["conflicts_created"]) for merge in merges] == [(0, 0)]


def test_the_command_proposed_by_a_refusal_is_the_next_one_on_the_page() -> None:
    steps = _steps("plan-and-hand-over.md")
    gate = next(at for at, step in enumerate(steps) if "CHECKPOINTS_NOT_CONFIRMED" in step.shown)
    proposed = re.search(r"^try: (.*?)(?:  #|$)", steps[gate].shown, re.MULTILINE)
    assert proposed is not None
    assert steps[gate + 1].typed.splitlines()[0] == f"{proposed[1]} --checkpoints criteria,tests"
