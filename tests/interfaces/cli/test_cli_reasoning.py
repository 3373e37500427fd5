"""Reasoning commands, and their answers as tables on a narrow terminal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.terminal import as_table
from moss_memory.cli.args.command import find_command
from moss_memory.cli.render.table import table_of

if TYPE_CHECKING:
    from support.cli_typist import Cli

TITLE = "Where should sessions live: in Redis, or in the memory of the process that serves them?"


def node(id: str, title: str, status: str = "open", **more: Any) -> dict[str, Any]:
    return {"op": "node_upsert", "id": id, "type": "question", "title": title, "status": status, **more}


def edge(tail: str, rel: str, head: str) -> dict[str, Any]:
    return {"op": "edge_upsert", "from": tail, "rel": rel, "to": head}


@pytest.fixture
def shop(cli: Cli) -> Cli:
    """Fill a workspace with notes, a branch, a graph, a conflict and a tag by commands."""

    def typed(*words: str) -> Any:
        return cli(*words, "-w", "shop").json

    typed("branch", "init")
    typed("notes", "add", "The proxy keeps no sessions.\nThe worker does. " + "And more of it. " * 20)
    typed("history", "commit", "The cron job is gone.", "Rotation moved")
    ops = [node("q1", TITLE, tags=["cache"]), node("q2", "x", status=""), node("q3", "y"), edge("q2", "asks", "q1")]
    typed("graph", "apply", json.dumps([*ops, edge("q2", "needs", "ghost")]))
    typed("branch", "create", "what-if")
    typed("notes", "add", "On the branch", "--branch", "what-if")
    typed("graph", "apply", json.dumps([node("q1", "Redis", "closed")]), "--branch", "what-if")
    typed("graph", "apply", json.dumps([{"op": "node_delete", "id": "q3"}]), "--branch", "what-if")
    typed("graph", "apply", json.dumps([node("q1", "In the process")]))
    typed("history", "tag-create", "before-merge")
    typed("graph", "merge", "what-if", "main")
    return cli


def test_a_conflict_is_listed_shown_and_resolved_by_commands(shop: Cli) -> None:
    listed = shop("graph", "conflicts", "main", "-w", "shop", "--status", "open").json["conflicts"]
    assert [one["key"] for one in listed] == ["q1"]
    name = listed[0]["conflict_id"]
    shown = shop("graph", "conflict-show", name, "-w", "shop").json["conflict"]
    assert (shown["from"]["title"], shown["into"]["title"]) == ("Redis", "In the process")
    assert shop("graph", "conflict-resolve", name, "use_from", "-w", "shop").json["applied"] is True
    again = shop("graph", "merge", "what-if", "main", "-w", "shop").json
    assert (again["merged"], again["conflict_ids"]) == (0, [])
    nodes = shop("graph", "query", "-w", "shop").json["nodes"]
    assert [one["title"] for one in nodes if one["id"] == "q1"] == ["Redis"]


def test_notes_are_merged_and_the_history_is_reset_by_commands(shop: Cli) -> None:
    assert shop("notes", "diff", "main", "what-if", "-w", "shop").json["entries"][0]["content"] == "On the branch"
    assert shop("notes", "merge", "what-if", "main", "-w", "shop").json["merged"] == 1
    assert shop("notes", "merge", "what-if", "main", "-w", "shop").json["merged"] == 0
    shop("history", "reset", "before-merge", "-w", "shop").json  # noqa: B018
    messages = [one["message"] for one in shop("history", "log", "-w", "shop").json["commits"]]
    assert messages[0] == "Rotation moved"
    assert shop("history", "reflog", "-w", "shop").json["entries"][0]["message"] == "reset to before-merge"


TABLES = [
    (["notes", "show"], ["seq", "written", "branch", "title", "content"]),
    (["notes", "show", "what-if"], ["seq", "written", "branch", "title", "content"]),
    (["notes", "diff", "main", "what-if"], ["seq", "written", "branch", "content"]),
    (["notes", "docs"], ["doc", "entries", "last"]),
    (["history", "log"], ["seq", "written", "message", "content"]),
    (["history", "reflog"], ["written", "doc", "from", "to", "message"]),
    (["history", "tag-list"], ["name", "seq", "branch", "doc", "tagged"]),
    (["branch", "list"], ["name", "base", "at"]),
    (["graph", "query"], ["id", "type", "status", "title"]),
    (["graph", "query", "--include-deleted", "--branch", "what-if"], ["id", "type", "status", "title", "deleted"]),
    (["graph", "validate"], ["code", "edge", "message"]),
    (["graph", "diff", "main", "what-if"], ["change", "kind", "key", "type", "status", "title"]),
    (["graph", "conflicts", "main"], ["conflict_id", "kind", "key", "status", "found"]),
]


@pytest.mark.parametrize(("words", "header"), TABLES, ids=lambda it: " ".join(it) if it[0].islower() else "")
@pytest.mark.parametrize("width", [80, 200])
def test_every_list_is_a_table_that_fits_the_terminal(
    shop: Cli, words: list[str], header: list[str], width: int
) -> None:
    answer = shop(*words, "-w", "shop").json
    lines = as_table(words, answer, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert header in [line.split() for line in lines]


def test_a_long_content_is_one_line(shop: Cli) -> None:
    lines = as_table(["notes", "show"], shop("notes", "show", "-w", "shop").json, width=80).splitlines()
    row = next(line for line in lines if "The proxy" in line)
    assert row.endswith("…")
    assert re.match(r" +\d+  \d{4}-\d\d-\d\d \d\d:\d\d  main ", row)


def test_edges_and_nodes_have_separate_tables(shop: Cli) -> None:
    shown = shop("graph", "query", "-w", "shop", "--table").out
    assert "\nnodes:\nid  type" in shown
    assert re.search(r"\nedges:\nfrom  rel   to .*\nq2    asks  q1 ", shown)
    changes = shop("graph", "diff", "main", "what-if", "-w", "shop", "--table").out
    assert re.search(r"^changed +node +q1 +question +closed +Redis$", changes, re.MULTILINE)


def test_a_conflict_is_shown_side_by_side(shop: Cli) -> None:
    name = shop("graph", "conflicts", "main", "-w", "shop").json["conflicts"][0]["conflict_id"]
    conflict = shop("graph", "conflict-show", name, "-w", "shop").json
    lines = as_table(["graph", "conflict-show"], conflict, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert ["field", "base", "from", "into"] in [line.split() for line in lines]
    assert any(re.match(r"title +Where should sessions.*… +Redis +In the process$", line) for line in lines)


def test_a_page_shows_the_command_for_the_next_one(shop: Cli) -> None:
    lines = shop("notes", "show", "-w", "shop", "--limit", "1", "--table").out.splitlines()
    seq = shop("notes", "show", "-w", "shop", "--limit", "1").json["pagination"]["next_cursor"]
    assert lines[-1] == f"1 shown; more with --cursor {seq}"
    older = shop("notes", "show", "-w", "shop", "--limit", "1", "--cursor", str(seq)).json
    assert older["entries"][0]["content"].startswith("The proxy")


def test_a_single_entry_is_shown_as_names_and_values(shop: Cli) -> None:
    shown = shop("notes", "add", "two\nlines", "-w", "shop", "--title", "T", "--table").out
    assert re.search(r"^title +T$", shown, re.MULTILINE)
    assert re.search(r"^written +\d{4}-\d\d-\d\d \d\d:\d\d$", shown, re.MULTILINE)
    assert shown.endswith("\n\ntwo\nlines\n")
    assert re.search(r"^base_branch +main$", shop("branch", "create", "b", "-w", "shop", "--table").out, re.MULTILINE)
    merged = shop("notes", "merge", "what-if", "main", "-w", "shop", "--table").out
    assert "shown" not in merged


def test_an_empty_list_is_described_as_empty(shop: Cli) -> None:
    assert shop("branch", "list", "-w", "elsewhere", "--table").out.endswith("\n(nothing)\n")
    assert shop("notes", "show", "-w", "shop", "--doc", "trace", "--table").out.endswith("\n(nothing)\n\n0 shown\n")


def test_proposals_of_an_answer_are_commands(shop: Cli) -> None:
    shop("task", "create", "task", "Rotate the keys", "-w", "shop").json  # noqa: B018
    shop("task", "decompose", "TASK-001", '[{"title": "Write the test"}]', "-w", "shop").json  # noqa: B018
    shown = shop("task", "radar", "TASK-001", "-w", "shop", "--table").out
    assert re.search(r"^  next:\n    moss task \w+ --workspace shop --target TASK-001 ", shown, re.MULTILINE)
    assert re.search(r"^STEP-001 +s:0 +Write the test +no +no +-$", shown, re.MULTILINE)


def test_a_hit_in_notes_and_nodes_names_its_place(shop: Cli) -> None:
    lines = shop("search", "cron", "--table").out.splitlines()
    assert lines[0].split()[:6] == ["workspace", "type", "branch", "title", "snippet", "id"]
    assert re.match(r"shop +note +main +Rotation moved +The cron job is gone\. +\d+ ", lines[1])


@pytest.mark.parametrize("width", [0, 40])
def test_free_form_json_is_shown_unchanged(width: int) -> None:
    shown = as_table(["notes", "add"], {"entry": {"seq": 1, "meta": {"a": False, "b": 1}, "content": "x"}}, width=width)
    assert '{"a": false, "b": 1}' in shown


def test_texts_with_commas_are_not_joined_by_commas() -> None:
    shown = as_table(["task", "radar"], {"radar": {"verify": ["fast, and small", "tested"], "blockers": ["b", "c"]}})
    assert "- fast, and small\n" in shown
    assert "- tested\n" in shown
    assert "b, c" in shown


def test_a_link_to_a_missing_card_is_refused(cli: Cli) -> None:
    assert cli("think", "card", '{"id": "here", "title": "T"}', "-w", "shop").code == 0
    refused = cli("think", "add-evidence", "seen", "-w", "shop", "--supports", "NOPE")
    assert refused.code != 0
    assert refused.err.startswith("[NOT_FOUND]")
    assert "'here'" in refused.err
    assert len(cli("think", "query", "-w", "shop").json["cards"]) == 1
    assert cli("think", "add-update", "not so", "-w", "shop", "--supersedes", "here").code == 0
    [old] = cli("think", "query", "-w", "shop", "--ids", "here").json["cards"]
    assert old["status"] == "superseded"


def test_the_history_of_a_card_is_read_by_its_id(cli: Cli) -> None:
    cli("think", "card", '{"id": "q", "type": "question", "title": "Who?"}', "-w", "shop")
    cli("think", "set-status", "q", "closed", "-w", "shop", "--reason", "nobody")
    found = cli("graph", "history", "q", "-w", "shop").json["versions"]
    assert [(one["status"], one["changed"]) for one in found] == [
        ("closed", ["status"]), ("open", ["type", "status", "title"]),
    ]  # fmt: skip
    assert "q: open → closed: nobody" in cli("trace", "hydrate", "-w", "shop", "--table").out


def test_conflicts_of_the_checkout_are_listed_by_default(shop: Cli) -> None:
    named = shop("graph", "conflicts", "main", "-w", "shop").json
    assert named["conflicts"]
    assert shop("graph", "conflicts", "-w", "shop").json == named
    shop("branch", "checkout", "what-if", "-w", "shop")
    assert shop("graph", "conflicts", "-w", "shop").json["into"] == "what-if"
    assert shop("graph", "conflicts", "-w", "nowhere").err.startswith("[NOT_FOUND]")


def test_a_conflict_is_resolved_with_content(shop: Cli) -> None:
    [conflict] = shop("graph", "conflicts", "-w", "shop").json["conflicts"]
    known = ("graph", "conflict-resolve", conflict["conflict_id"], "use_content", "-w", "shop")
    assert shop(*known, "--content", '{"title": "both"}').json["applied"] is True
    assert shop("graph", "query", "--ids", conflict["key"], "-w", "shop").json["nodes"][0]["title"] == "both"


def test_a_claim_takes_the_target_first_like_every_task_command(shop: Cli) -> None:
    for title in ("One", "Two"):
        shop("task", "create", "task", title, "-w", "shop").json  # noqa: B018
    assert shop("task", "claim", "TASK-002", "--agent", "me", "-w", "shop").json["id"] == "TASK-002"
    assert shop("task", "claim", "--agent", "me", "-w", "shop").json["id"] == "TASK-001"
    refused = shop("task", "claim", "TASK-002", "-w", "shop")
    assert (refused.code, "--agent is needed" in refused.err) == (2, True)


def test_done_without_steps_mentions_complete(shop: Cli) -> None:
    shop("task", "create", "task", "Small", "-w", "shop").json  # noqa: B018
    refused = shop("task", "done", "TASK-001", "-w", "shop")
    assert "moss task complete closes it" in refused.err
    assert "try: moss task complete --workspace shop --target TASK-001" in refused.err


def test_a_radar_fits_a_screen_of_80_by_24() -> None:
    steps = [
        {"step_id": f"STEP-{n}", "path": f"s:{n}", "title": f"{n} " + "long title " * 20, "done": n < 5,
         "blocked": n == 7, "checkpoints": {}}
        for n in range(60)
    ]  # fmt: skip
    call = {"tool": "tasks_done", "arguments": {"workspace": "shop", "target": "TASK-001", "step_id": "STEP-5"}}
    radar = {
        "now": "TASK-001 A: s:5 " + "do it " * 60, "why": "first open step; 5 of 60 steps are done",
        "verify": ["it works " * 30] * 9, "blockers": ["s:7 waits " * 20] * 9, "next": {**call, "reason": "why " * 99},
    }  # fmt: skip
    target = {"id": "TASK-001", "kind": "task", "title": "A" * 300, "status": "ACTIVE", "priority": "high"}
    answer = {"workspace": "shop", "target": target, "chosen": "focus", "focus": "TASK-001", "radar": radar,
              "steps": steps, "truncated": False}  # fmt: skip
    found = find_command(["task", "radar"])
    assert found is not None
    operation = found[0].operation
    lines = table_of(answer, operation.answers, view=operation.cli.table, width=80, reading=True).splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert any("moss task done" in line for line in lines)
    assert re.fullmatch(r"and \d+ more; `moss task show` has all", lines[-1])
