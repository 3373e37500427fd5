"""`moss task board`: its content on a terminal and in a pipe, safe from control characters."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.terminal import on_terminal
from moss_memory import open_store
from moss_memory.cli.commands import task_board
from moss_memory.cli.commands.task_board import board_table, read_board
from moss_memory.cli.render.cell import cells
from moss_memory.errors import MossError
from moss_memory.store import Store

if TYPE_CHECKING:
    from support.cli_typist import Cli

LONG = "Rotate the signing keys of every gateway and every worker without signing a single person out"
REASON = "operations must open the port of the new cluster first, and they have promised it for Thursday"
HOSTILE = "a\x1b[2J\x1b]0;owned\x07\x9b31m\rb\x08\u202e\u200b\tc\nd"
CONFIRMED = {"criteria": True, "tests": True}


def typed(cli: Cli, *calls: tuple[str, dict[str, Any]]) -> None:
    with open_store(cli.home) as store:
        for tool, arguments in calls:
            store.call(tool, {"workspace": "shop", **arguments})


@pytest.fixture
def shop(cli: Cli) -> Cli:
    """Store an open plan with an active, a blocked and a done task, a finished plan, and a task of no plan."""
    steps = [{"title": "Write the test"}, {"title": LONG}, {"title": "Deploy"}]
    typed(
        cli,
        ("tasks_create", {"kind": "plan", "title": "Sessions survive"}),
        ("tasks_create", {"kind": "task", "title": LONG, "parent": "PLAN-001", "priority": "high", "steps": steps}),
        ("tasks_create", {"kind": "task", "title": "Move", "parent": "PLAN-001", "steps": [{"title": "Load"}]}),
        ("tasks_create", {"kind": "task", "title": "Choose", "parent": "PLAN-001", "steps": [{"title": "Compare"}]}),
        ("tasks_create", {"kind": "task", "title": "Alone"}),
        ("tasks_create", {"kind": "plan", "title": "Old plan"}),
        ("tasks_create", {"kind": "task", "title": "Old task", "parent": "PLAN-002"}),
        ("tasks_complete", {"target": "TASK-005"}),
        ("tasks_complete", {"target": "PLAN-002"}),
        ("tasks_decompose", {"target": "TASK-001", "parent": "s:1", "steps": [{"title": "In the worker"}]}),
        ("tasks_done", {"target": "TASK-001", "path": "s:0", "checkpoints": CONFIRMED}),
        ("tasks_verify", {"target": "TASK-001", "path": "s:1.s:0", "checkpoints": {"criteria": True}}),
        ("tasks_block", {"target": "TASK-001", "path": "s:2", "reason": REASON}),
        ("tasks_complete", {"target": "TASK-001", "status": "ACTIVE"}),
        ("tasks_done", {"target": "TASK-003", "path": "s:0", "checkpoints": CONFIRMED}),
        ("tasks_complete", {"target": "TASK-003"}),
        ("tasks_edit", {"target": "TASK-002", "depends_on": ["TASK-001"]}),
        ("tasks_focus", {"target": "TASK-001"}),
    )
    return cli


def test_in_a_pipe_the_board_is_json_with_plans_and_tasks(shop: Cli) -> None:
    shown = shop("task", "board", "-w", "shop").json
    assert shown["focus"] == "TASK-001"
    assert shown["now"].endswith(": s:1.s:0 In the worker")
    assert shown["counts"] == {"plans": 2, "tasks": 5, "active": 1, "todo": 2, "done": 2, "blocked_steps": 1}
    first, second = shown["plans"]
    assert [task["id"] for task in first["tasks"]] == ["TASK-001", "TASK-002", "TASK-003"]
    assert [task["id"] for task in second["tasks"]] == ["TASK-005"]
    assert [task["id"] for task in shown["tasks"]] == ["TASK-004"]
    steps = {step["path"]: step for step in first["tasks"][0]["steps"]}
    assert list(steps) == ["s:0", "s:1", "s:1.s:0", "s:2"]
    assert steps["s:2"]["blocker"] == REASON
    assert first["tasks"][0]["blockers"] == []
    assert first["tasks"][1]["blockers"] == [f"TASK-001 {LONG} is ACTIVE"]
    assert len(first["tasks"][2]["steps"]) == 1


def test_on_a_terminal_the_board_is_a_table_with_focus_and_blockers(shop: Cli) -> None:
    code, shown = on_terminal(shop, "task", "board", "-w", "shop", columns=80)
    assert code == 0
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "shop: 2 plans, 5 tasks (1 ACTIVE, 2 TODO, 2 DONE); 1 step blocked"
    assert lines[1].startswith("* TASK-001 Rotate the signing keys")
    for expected in (
        r"  id +status +title +priority +so far",
        r"  PLAN-001 +TODO +Sessions survive +1/3 tasks",
        r"\*   TASK-001 +ACTIVE +Rotate the signing .*… +high +1/4 steps",
        r"      s:0 +done +Write the test",
        r"      s:1 +open +Rotate .*…",
        r"      s:1\.s:0 +open +  In the worker +criteria",
        r"      s:2 +blocked +Deploy",
        r" {24,}! operations must open the port .*",
        r"    TASK-002 +TODO +Move +0/1 steps",
        r" {24,}! TASK-001 Rotate .*",
        r"    TASK-003 +DONE +Choose +1/1 steps",
        r"  PLAN-002 +DONE +Old plan +1/1 tasks",
        r"  TASK-004 +TODO +Alone",
    ):
        assert [line for line in lines if re.fullmatch(expected, line)], expected
    assert "Compare" not in shown
    assert "Old task" not in shown


def test_a_pipe_can_ask_for_the_table_too(shop: Cli) -> None:
    shown = shop("task", "board", "-w", "shop", "--table").out
    assert f"! {REASON}\n" in shown
    assert f"ACTIVE   {LONG}  high" in shown


@pytest.mark.parametrize("words", [["PLAN-002"], ["--plan", "PLAN-002"]])
def test_one_plan_can_be_shown_alone(shop: Cli, words: list[str]) -> None:
    shown = shop("task", "board", "-w", "shop", *words).json
    assert [plan["id"] for plan in shown["plans"]] == ["PLAN-002"]
    assert [task["id"] for task in shown["plans"][0]["tasks"]] == ["TASK-005"]
    assert shown["tasks"] == []
    assert (shown["focus"], shown["now"]) == ("TASK-001", None)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["-w", "shop", "--plan", "PLAN-009"], 1, "[NOT_FOUND] there is no plan or task 'PLAN-009'"),
        (["-w", "shop", "--plan", "TASK-001"], 1, "[INVALID_REQUEST] TASK-001 is a task; --plan names a plan"),
        (["-w", " "], 1, "[INVALID_REQUEST] --workspace is blank"),
    ],
)
def test_a_missing_board_is_refused(shop: Cli, words: list[str], code: int, says: str) -> None:
    outcome = shop("task", "board", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.startswith(says)


def test_an_empty_workspace_shows_how_to_begin(cli: Cli) -> None:
    assert cli("task", "board", "-w", "shop", "--table").out == (
        "shop: 0 plans, 0 tasks\n\n(nothing; `moss task create plan TITLE` makes a plan)\n"
    )


def test_the_board_includes_every_page_of_tasks(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_board, "PAGE", 3)
    typed(cli, *(("tasks_create", {"kind": "task", "title": f"T{at}"}) for at in range(10)))
    shown = cli("task", "board", "-w", "shop").json
    assert [task["title"] for task in shown["tasks"]] == [f"T{at}" for at in range(10)]


def test_steps_beyond_the_limit_of_the_radar_are_reported_as_hidden(cli: Cli) -> None:
    typed(cli, ("tasks_create", {"kind": "task", "title": "Long", "steps": [{"title": "x"}] * 50}))
    for _ in range(4):
        typed(cli, ("tasks_decompose", {"target": "TASK-001", "steps": [{"title": "y"}] * 50}))
    shown = cli("task", "board", "-w", "shop", "--table").out
    assert "0/200+ steps" in shown
    assert "more than 200 steps; the rest is not shown" in shown


def test_tasks_deleted_during_the_read_are_omitted(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Store.call

    def missing(store: Store, tool: str, arguments: dict[str, Any], **options: Any) -> Any:
        if arguments.get("target") == "TASK-002":
            raise MossError("NOT_FOUND", "gone")
        return call(store, tool, arguments, **options)

    monkeypatch.setattr(Store, "call", missing)
    shown = shop("task", "board", "-w", "shop").json
    assert [task["id"] for task in shown["plans"][0]["tasks"]] == ["TASK-001", "TASK-003"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_text_controls_the_terminal_or_exceeds_its_width(cli: Cli, width: int) -> None:
    texts = ["w" * 300, "東京" * 90, "e\u0301" * 90, "a b " * 70]
    look = {"id": "PLAN-001", "kind": "plan", "status": "TODO", "priority": "high", "tags": [], "revision": 1}
    step = {"step_id": "STEP-001", "done": False, "blocked": True, "checkpoints": {HOSTILE: True, "tests": True}}
    plans = [
        {**look, "title": text + HOSTILE, "blockers": [text + HOSTILE] * 9, "tasks": [],
         "steps": [{**step, "path": ".".join(["s:0"] * 20), "title": HOSTILE + text, "blocker": HOSTILE + text}]}
        for text in texts
    ]  # fmt: skip
    counts = {"plans": 4, "tasks": 0, "active": 0, "todo": 0, "done": 0, "blocked_steps": 4}
    told = {"workspace": HOSTILE, "focus": "PLAN-001", "now": HOSTILE + texts[0], "counts": counts, "plans": plans}
    lines = board_table({**told, "tasks": []}, width=width).split("\n")
    assert max(map(cells, lines)) <= width
    assert all(line.isprintable() for line in lines)
    assert sum("and 4 more" in line for line in lines) == 4


def test_hostile_titles_and_reasons_reach_a_terminal_as_plain_text(cli: Cli) -> None:
    hostile = HOSTILE.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    typed(
        cli,
        ("tasks_create", {"kind": "task", "title": hostile, "steps": [{"title": hostile}]}),
        ("tasks_block", {"target": "TASK-001", "path": "s:0", "reason": HOSTILE}),
        ("tasks_focus", {"target": "TASK-001"}),
    )
    code, shown = on_terminal(cli, "task", "board", "-w", "shop", columns=80)
    assert code == 0
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "owned" in shown
    blocked = cli("task", "board", "-w", "shop").json["tasks"][0]["steps"][0]
    assert blocked["blocker"] == HOSTILE


def test_reading_the_board_changes_nothing(shop: Cli) -> None:
    with open_store(shop.home) as store:
        before = json.dumps(store.call("tasks_delta", {"workspace": "shop", "limit": 200}))
        first = read_board(store, "shop")
        assert read_board(store, "shop") == first
        assert json.dumps(store.call("tasks_delta", {"workspace": "shop", "limit": 200})) == before


def test_the_board_shows_the_agent_of_each_task(cli: Cli) -> None:
    steps = json.dumps([{"title": "One"}, {"title": "Two"}])
    cli("task", "create", "task", "--title", "Build", "-w", "shop", "--steps", steps)
    cli("task", "create", "task", "--title", "Ship", "-w", "shop")
    cli("task", "create", "task", "--title", "Rest", "-w", "shop")
    cli("task", "claim", "--agent", "ada", "-w", "shop", "--target", "TASK-001", "--path", "s:1")
    cli("task", "claim", "--agent", "eve", "-w", "shop", "--target", "TASK-002")
    shown = cli("task", "board", "-w", "shop").json["tasks"]
    assert [one.get("agent") for one in shown] == [None, "eve", None]
    assert [one.get("agent") for one in shown[0]["steps"] if one["path"] == "s:1"] == ["ada"]
    table = cli("task", "board", "-w", "shop", "--table").out.splitlines()
    assert [line.split()[0] for line in table if "with ada" in line] == ["s:1"]
    assert [line.split()[0] for line in table if "with eve" in line] == ["TASK-002"]
    cli("task", "claim", "--agent", "eve", "-w", "shop", "--target", "TASK-002", "--release")
    assert "with eve" not in cli("task", "board", "-w", "shop", "--table").out
