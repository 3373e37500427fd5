"""Command groups: names, positional arguments, aliases, and errors about missing arguments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.cli.args.built_in_commands import BUILT_IN
from moss_memory.cli.args.command import Command, find_command
from moss_memory.cli.args.command_names import command_names, words_of
from moss_memory.cli.args.positional import SCOPE
from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.commands.help import group_names
from moss_memory.registry import catalog
from moss_memory.registry.write_tool_index import command_name

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.registry.operation import Operation
    from support.cli_typist import Cli

GROUPED = [
    one
    for one in catalog.operations()
    if " " in words_of(one.name) and not one.name.startswith(("capsule_", "artifact_"))
]
ALIASED = [(one, alias) for one in GROUPED for alias in one.aliases if alias in ("branch", "ref")]


def command(words: str) -> Command:
    found = find_command(words.split())
    assert found is not None
    assert found[1] == []
    return found[0]


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("branchmind_init", "branch init"),
        ("branchmind_status", "branch status"),
        ("branchmind_checkout", "branch checkout"),
        ("branchmind_branch_create", "branch create"),
        ("branchmind_notes_commit", "notes add"),
        ("branchmind_docs_list", "notes docs"),
        ("branchmind_merge", "notes merge"),
        ("branchmind_commit", "history commit"),
        ("branchmind_tag_create", "history tag-create"),
        ("branchmind_graph_merge", "graph merge"),
        ("branchmind_graph_conflict_resolve", "graph conflict-resolve"),
        ("branchmind_think_add_hypothesis", "think add-hypothesis"),
        ("branchmind_context_pack", "think context-pack"),
        ("branchmind_trace_sequential_step", "trace sequential-step"),
        ("tasks_create", "task create"),
        ("artifact_store", "artifact store"),
        ("capsule_store", "store"),
        ("moss_search", "search"),
    ],
)
def test_tool_names_and_group_commands_map_to_each_other(tool: str, words: str) -> None:
    assert words_of(tool) == words
    assert command(words).operation.name == tool


def test_the_command_of_a_new_tool_follows_from_its_name() -> None:
    assert command_name("tasks_a_tool_of_tomorrow") == "task a-tool-of-tomorrow"


@pytest.mark.parametrize("operation", GROUPED, ids=lambda one: one.name)
def test_every_tool_of_a_group_is_found_under_its_words(operation: Operation) -> None:
    assert command(words_of(operation.name)).operation is operation
    assert command(words_of(operation.name).replace("-", "_")).operation is operation


def test_no_two_tools_share_a_command_and_every_named_tool_exists() -> None:
    words = [words_of(one.name) for one in catalog.operations()]
    assert len(set(words)) == len(words)
    assert not {*BUILT_IN} & set(words)


@pytest.mark.parametrize("group", group_names())
def test_a_group_lists_its_commands(cli: Cli, group: str) -> None:
    shown = cli(group, "--help").out
    assert shown == cli(group).out == cli("help", group).out
    for name in command_names():
        if name.startswith(group + " "):
            assert f"  {name} " in shown
    assert "branchmind" not in shown


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("branch create what-if", {"name": "what-if"}),
        ("branch rename what-if redis", {"old": "what-if", "new": "redis"}),
        ("branch rename redis --old what-if", {"old": "what-if", "new": "redis"}),
        ("branch checkout what-if", {"ref": "what-if"}),
        ("notes add hello", {"content": "hello"}),
        ("notes merge what-if main", {"from": "what-if", "into": "main"}),
        ("notes merge main --from what-if", {"from": "what-if", "into": "main"}),
        ("notes export TASK-001", {"target": "TASK-001"}),
        ("history commit text message", {"artifact": "text", "message": "message"}),
        ("history commit text --message message", {"artifact": "text", "message": "message"}),
        ("history commit message", {"message": "message"}),
        ("history reset 12", {"to": "12"}),
        ("history tag-create v1 --from 12 --force", {"name": "v1", "from": "12", "force": True}),
        ("graph diff main what-if", {"from": "main", "to": "what-if"}),
        ("graph conflict-resolve CONFLICT-1 use_from", {"conflict_id": "CONFLICT-1", "resolution": "use_from"}),
        ("graph apply [] --ref b", {"ops": [], "branch": "b"}),
        ("think set-status c1 c2 closed", {"ids": ["c1", "c2"], "status": "closed"}),
        ("think pin c1 c2,c3", {"ids": ["c1", "c2", "c3"]}),
        ("think link a supports b", {"from": "a", "rel": "supports", "to": "b"}),
        ("trace sequential-step hm 1 3 true", {"thought": "hm", "thought_number": 1, "total_thoughts": 3,
                                               "next_thought_needed": True}),
        ("task verify TASK-001 criteria,tests", {"target": "TASK-001", "checkpoints": {"criteria": True,
                                                                                      "tests": True}}),
        ("task decompose TASK-001", {"target": "TASK-001"}),
        ("task focus TASK-001", {"target": "TASK-001"}),
        ("task focus clear", {"action": "clear"}),
        ("task focus set TASK-001", {"action": "set", "target": "TASK-001"}),
        ("graph query what-if", {"branch": "what-if"}),
        ("graph query TASK-001", {"target": "TASK-001"}),
        ("graph query TASK-x", {"branch": "TASK-x"}),
        ("history log what-if", {"ref": "what-if"}),
    ],
)  # fmt: skip
def test_required_arguments_may_be_positional_in_the_order_of_the_signature(
    typed: str, expected: dict[str, Any]
) -> None:
    words = typed.split()
    for request in (command(" ".join(words[:2])).parse([*words[2:], "-w", "shop"]),
                    command(" ".join(words[:2])).parse(["--workspace", "shop", *words[2:]])):  # fmt: skip
        assert request.arguments == {"workspace": "shop", **expected}


def test_the_notes_are_shown_unless_the_trace_is_requested() -> None:
    show = command("notes show")
    assert show.parse([]).arguments == {"doc_kind": "notes"}
    assert show.parse(["--doc-kind", "trace"]).arguments == {"doc_kind": "trace"}


@pytest.mark.parametrize(("operation", "alias"), ALIASED, ids=lambda it: getattr(it, "name", it))
def test_branch_and_ref_are_both_options_if_one_of_them_is(operation: Operation, alias: str) -> None:
    one = command(words_of(operation.name))
    named = operation.aliases[alias]
    for flag in (alias, named):
        assert one.parse([f"--{flag}", "main"]).arguments[named] == "main"
    with pytest.raises(UsageError, match="mean the same; give one of them"):
        one.parse(["--branch", "main", "--ref", "main"])


def test_the_spellings_of_other_programs_are_no_options() -> None:
    options = command("trace sequential-step").options
    assert "thought_number" in options
    assert not [name for name in options if name != name.lower()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--types", "a,b"], ["a", "b"]),
        (["--types", "a", "--types", "b"], ["a", "b"]),
        (["--types", '["a,b"]'], ["a,b"]),
    ],
)
def test_several_values_are_given_by_commas_or_by_repetition(words: list[str], expected: list[str]) -> None:
    assert command("graph query").parse(words).arguments == {"types": expected}


def test_a_sentence_keeps_its_commas() -> None:
    typed = ["TASK-1", "--checks", "12 passed, 1 failed", "--checks", "[x] ruff, mypy"]
    assert command("task evidence").parse(typed).arguments["checks"] == ["12 passed, 1 failed", "[x] ruff, mypy"]


@pytest.mark.parametrize("operation", GROUPED, ids=lambda one: one.name)
def test_missing_arguments_are_named_with_an_example(cli: Cli, operation: Operation) -> None:
    one = command(words_of(operation.name))
    given = (
        "workspace",
        one.text,
        *operation.cli.inferred,
        *one.defaults,
    )  # the workspace has a default, as for capsules
    needed = [name for name in operation.required if name not in given]
    outcome = cli(*words_of(operation.name).split())
    if not needed:
        assert outcome.code in (0, 1)
        return
    assert outcome.code == 2
    assert outcome.out == ""
    first, example, see = outcome.err.splitlines()
    for name in needed:
        assert "--" + name.replace("_", "-") in first
    assert example == f"for example: {operation.example}"
    assert see == f"see: moss {words_of(operation.name)} --help"


def test_groups_use_the_default_workspace_of_capsules(cli: Cli) -> None:
    assert cli("notes", "add", "text").code == 0
    assert [one["workspace"] for one in cli("workspaces").json["workspaces"]] == ["default"]
    assert cli("think", "playbook", "debug").code == 0


def test_the_short_workspace_option_works_in_every_command_with_a_workspace(cli: Cli, capsule: str) -> None:
    cli("store", "-w", "shop", "--name", "auth", stdin=capsule).json  # noqa: B018
    assert cli("fetch", "auth", "-w", "shop").json["workspace"] == "shop"
    assert cli("artifact", "kinds", "-w", "shop").code == 2
    assert "-w, --workspace WORKSPACE" in cli("branch", "list", "--help").out


@pytest.mark.parametrize("one", [command(words_of(one.name)) for one in GROUPED], ids=lambda one: one.words)
def test_help_shows_positional_arguments(cli: Cli, one: Command) -> None:
    shown = " ".join(cli(*one.words.split(), "--help").out.split("\n\n")[0].split())
    assert shown.startswith(f"usage: moss {one.words} ")
    for slot in one.slots:
        assert slot.upper().replace("_", "-") in shown
    assert ("BRANCH" in shown or "TASK-001" in shown) is (one.positional == SCOPE)
    assert ("-w WORKSPACE" in shown) is ("workspace" in one.operation.required)
    assert ("< FILE" in shown) is bool(one.text)


def test_a_text_comes_from_stdin_a_file_or_a_word(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text("from a file")
    cli("notes", "add", "-w", "shop", stdin="from stdin").json  # noqa: B018
    cli("notes", "add", "-", "-w", "shop", stdin="from a dash").json  # noqa: B018
    cli("notes", "add", "-w", "shop", "--file", str(file)).json  # noqa: B018
    cli("notes", "add", "from a word", "-w", "shop", stdin="unread").json  # noqa: B018
    cli("history", "commit", "a message", "-w", "shop", stdin="a commit").json  # noqa: B018
    cli("history", "commit", "another", "-w", "shop", "--file", str(file)).json  # noqa: B018
    entries = cli("notes", "show", "-w", "shop").json["entries"]
    assert [one["content"] for one in entries] == [
        "from stdin", "from a dash", "from a file", "from a word", "a commit", "from a file",
    ]  # fmt: skip
    assert [one.get("title") for one in entries[-2:]] == ["a message", "another"]


def test_operations_come_from_stdin_a_file_or_a_word(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "ops.json"
    for place, given in enumerate((["--ops", f"@{file}"], ["--ops", "@-"], [], [f"@{file}"], ["TEXT"])):
        text = json.dumps([{"op": "node_upsert", "id": f"n{place}", "type": "note"}])
        file.write_text(text)
        words = [text if word == "TEXT" else word for word in given]
        assert cli("graph", "apply", *words, "-w", "shop", stdin=text).json["applied"]["nodes_upserted"] == 1
    assert len(cli("graph", "query", "-w", "shop").json["nodes"]) == 5


def test_operations_that_are_not_json_are_refused(cli: Cli) -> None:
    refused = cli("graph", "apply", "-w", "shop", stdin="nope")
    assert refused.code == 1
    assert refused.err.startswith("[INVALID_REQUEST] the ops is not valid JSON")
    assert cli("graph", "apply", "nope", "-w", "shop").code == 2


def test_a_refusal_names_a_branch_and_not_an_option(cli: Cli) -> None:
    cli("branch", "init", "-w", "shop").json  # noqa: B018
    first = cli("notes", "show", "--doc", "nope", "-w", "shop").err.splitlines()[0]
    assert first == "[NOT_FOUND] branch 'main' has no document 'nope'; it appears at its first write"
    assert cli("graph", "query", "-w", "shop", "--limit", "0").err.startswith("[INVALID_REQUEST] --limit is 0")


def test_the_next_call_is_a_command_that_can_be_typed(cli: Cli) -> None:
    error = cli("notes", "show", "-w", "shop").err.splitlines()
    assert error[1] == "try: moss branch init --workspace shop  # makes its branch `main`"
    assert cli(*error[1].partition("  #")[0].split()[2:]).code == 0
    hidden = "[NOT_FOUND] there is no branch 'mian'; did you mean 'main'?"
    assert cli("notes", "show", "mian", "-w", "shop").err.splitlines()[0] == hidden


@pytest.mark.parametrize("group", ["branch", "notes", "history", "graph", "think", "trace", "task"])
def test_help_speaks_of_options_and_commands(cli: Cli, group: str) -> None:
    import re

    arguments = {name for one in catalog.operations() for name in one.parameters if "_" in name}
    tools = {one.name for one in catalog.operations()}
    for name in [group, *(name for name in command_names() if name.startswith(group + " "))]:
        shown = cli("help", *name.split()).out.partition("\nexample: ")[0]
        assert not (arguments | tools) & set(re.findall(r"[a-z]+(?:_[a-z]+)+", shown)), name
