"""`moss prime`: what is open here, in a few lines, and nothing where nothing is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.cli_typist import Cli


def test_nothing_open_says_nothing_and_makes_no_store(cli: Cli) -> None:
    outcome = cli("prime")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert not os.path.exists(cli.home)


def test_it_tells_the_open_task_and_the_latest_hand_over_without_its_text(cli: Cli, capsule: str) -> None:
    cli("store", "shop/auth", "--title", "Sign-in", stdin=capsule)
    cli("task", "create", "task", "Rotate the keys", "-w", "shop")
    lines = cli("prime", "-w", "shop").out.splitlines()
    assert lines[0] == "Moss, workspace shop:"
    assert lines[1] == "- open: TASK-001 Rotate the keys (TODO)"
    assert lines[-1] == "- latest hand-over: Sign-in; load it with capsule_fetch (workspace 'shop', name 'auth')"
    assert "refresh tokens" not in "\n".join(lines)


def test_it_stays_within_two_thousand_characters_on_one_line_each(cli: Cli) -> None:
    for number in range(3):
        cli("task", "create", "task", f"{number} " + "long " * 190, "-w", "shop")
    cli("store", "shop/a", "--title", "t " * 100, "--allow-thin", stdin="x")
    out = cli("prime", "-w", "shop").out
    assert 0 < len(out) <= 2_001
    assert len(out.splitlines()) <= 6
