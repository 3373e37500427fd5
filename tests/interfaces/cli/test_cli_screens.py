"""Snapshots of terminal output at three widths, reviewed and stored in `screens/`.

`MOSS_SCREENS=write` in the environment of the tests rewrites them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interfaces.cli.terminal import on_terminal
from moss_memory.cli.args.command import find_command
from moss_memory.cli.commands.help import help_overview
from moss_memory.cli.render.cell import cells
from moss_memory.cli.render.table import table_of
from support.cli_typist import Cli

SCREENS = Path(__file__).parent / "screens"
WIDTHS = (60, 80, 120)
LONG = "a-name-that-somebody-wrote-out-in-full-because-it-says-everything"
PAGE = {"limit": 20, "offset": 0, "has_more": False, "total": 3}


def capsule(name: str, workspace: str, title: str, at: int) -> dict[str, Any]:
    key = {"moss_capsule": name, "moss_workspace": workspace}
    measures = {"capsule_chars": 1200 + at % 7, "tokens_estimate": 300}
    times = {"created_at": at, "updated_at": at}
    norms = {"workspace_norm": workspace, "name_norm": name}
    return {"id": f"01ARZ3NDEKTSV4RRFFQ69G5F{at % 10}V", "workspace": workspace, "name": name, "title": title,
            **norms, **measures, **times, "version": 1, "fetch_key": key}  # fmt: skip


def hit(name: str, workspace: str, snippet: str) -> dict[str, Any]:
    return {"type": "capsule", "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "workspace": workspace, "title": f"About {name}",
            "fetch": {"tool": "capsule_fetch", "arguments": {"workspace": workspace, "name": name}},
            "at": 1_900_000_000, "snippet": snippet, "score": 1.0}  # fmt: skip


LISTED = [
    capsule("auth", "shop", "Sign-in with refresh tokens", 1_900_000_000),
    capsule("checkout-redesign", "shop", "Checkout in two steps instead of five, without an account", 1_900_003_600),
    capsule("invoices", "shop", "Invoices by mail", 1_900_090_000),
]
FOUND = "Sign-in with <b>refresh</b> <b>tokens</b>: they live in Redis &amp; rotate on every use, which nobody tested"
STEP = {"criteria": ["a link works once, and for an hour"], "tests": ["pytest tests/links"], "blockers": [],
        "confirmed": {}, "evidence": [], "notes": [], "steps": []}  # fmt: skip
TASK = {
    "workspace": "shop", "target": "TASK-001", "kind": "task", "title": "Send the mail with the link",
    "description": "A link that is good for one hour and for one use; support asked for a day and was told why not.",
    "status": "ACTIVE", "priority": "high", "tags": ["mail"], "depends_on": [], "parent": "PLAN-001", "revision": 4,
    "evidence": [], "notes": ["the key is in src/mail/link.py:40, and must not be logged anywhere"],
    "steps": [
        {**STEP, "step_id": "STEP-001", "path": "s:0", "title": "Sign the link", "status": "done",
         "evidence": ["make test-mail: 12 passed"]},
        {**STEP, "step_id": "STEP-002", "path": "s:1", "title": "Send it", "status": "open", "agent": "ada", "steps": [
            {**STEP, "step_id": "STEP-003", "path": "s:1.s:0", "title": "Choose who sends", "status": "blocked",
             "blockers": ["the contract is not signed"]}]},
    ],
    "truncated": False,
}  # fmt: skip
SEEN: dict[str, tuple[list[str], dict[str, Any]]] = {
    "list": (["list"], {"items": LISTED, "pagination": PAGE, "sort": "updated_at_desc"}),
    "list-long-name": (["list"], {"items": [*LISTED[:1], capsule(LONG, "billing", "Long", 1_900_000_001)],
                                  "pagination": PAGE, "sort": "updated_at_desc"}),
    "search": (["search", "refresh tokens"], {"items": [hit("auth", "shop", FOUND), hit("tokens", "billing", FOUND)],
                                              "pagination": PAGE, "sort": "relevance"}),
    "task-show": (["task", "show", "TASK-001"], TASK),
}  # fmt: skip


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the time zone to UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def screen(name: str, width: int) -> str:
    words, answer = SEEN[name]
    found = find_command(words)
    assert found is not None
    operation = found[0].operation
    return table_of(answer, operation.answers, view=operation.cli.table, width=width, reading=True)


def compare(name: str, width: int, shown: str) -> None:
    path = SCREENS / f"{name}-{width}.txt"
    if os.environ.get("MOSS_SCREENS") == "write":
        path.write_text(shown + "\n", encoding="utf-8")
    assert shown + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SEEN)
def test_a_screen_matches_its_snapshot(name: str, width: int) -> None:
    compare(name, width, screen(name, width))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SEEN)
def test_no_line_exceeds_the_width_unless_a_single_name_does(name: str, width: int) -> None:
    assert [line for line in screen(name, width).splitlines() if cells(line) > width and line != LONG] == []


@pytest.mark.parametrize("width", [40, *WIDTHS])
def test_names_and_workspaces_are_never_truncated(width: int) -> None:
    shown = screen("list-long-name", width)
    for whole in (LONG, "auth", "billing", "shop"):
        assert whole in shown


def test_a_value_common_to_all_lines_is_shown_once() -> None:
    shown = screen("list", 80)
    assert shown.count("shop") == 1
    assert "All: workspace shop" in shown


def test_the_overview_fits_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moss_memory.cli.commands.help.width", lambda: 80)
    assert len(help_overview().splitlines()) <= 24


@pytest.mark.usefixtures("auth")
def test_hits_are_bold_on_a_terminal_and_plain_without_colour(cli: Cli) -> None:
    bold = "\x1b[1m"
    assert bold in on_terminal(cli, "search", "objective", columns=80)[1]
    for wish in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        before = dict(cli.environment)
        cli.environment.update(wish)
        assert "\x1b" not in on_terminal(cli, "search", "objective", columns=80)[1]
        cli.environment.clear()
        cli.environment.update(before)
    assert "\x1b" not in cli("search", "objective", "--table").out


def test_stored_text_cannot_forge_highlights() -> None:
    forged = hit("auth", "shop", "\ue000bold\ue001 and <b>found</b>")
    found = find_command(["search"])
    assert found is not None
    shown = table_of({"items": [forged], "pagination": PAGE, "sort": "relevance"}, found[0].operation.answers,
                     width=80, reading=True, colour=True)  # fmt: skip
    assert shown.count("\x1b[1m") == 2, "only the real matches are bold"
    assert "\x1b[1mfound" in shown
