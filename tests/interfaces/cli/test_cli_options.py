"""Command options: one for every argument of every tool, and no others."""

from __future__ import annotations

import json
import shlex
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.cli.args.argument_names import SENTENCES
from moss_memory.cli.args.built_in_commands import BUILT_IN
from moss_memory.cli.args.command import Command, find_command
from moss_memory.cli.args.command_names import command_names, words_of
from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.commands.help import find_any
from moss_memory.registry import catalog
from moss_memory.registry.cli_traits import cli_function
from support.of_every import of_every

if TYPE_CHECKING:
    from moss_memory.cli.args.command_declaration import BuiltIn
    from moss_memory.registry.operation import Operation
    from support.cli_typist import Cli

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
OPERATIONS = catalog.operations()
EVERY_ARGUMENT = [(one, name) for one in OPERATIONS for name in one.parameters]


def command_of(tool: str) -> Command:
    found = find_command(words_of(tool).split())
    assert found is not None
    return found[0]


def sample(name: str, schema: dict[str, Any]) -> tuple[list[str], Any]:
    """Return a value of the schema, as words after the option and as the parsed argument."""
    kind = schema["type"]
    if isinstance(kind, list):
        kind = "array" if "array" in kind else "string"
    if name in SENTENCES:
        return ["a, b"], ["a, b"]
    if kind == "array":
        strings = schema["items"]["type"] == "string"
        return (["a,b"], ["a", "b"]) if strings else (['[{"name": "x"}]'], [{"name": "x"}])
    words: dict[str, tuple[list[str], Any]] = {
        "string": (["-- a value"], "-- a value"),
        "integer": (["-7"], -7),
        "number": (["1.5"], 1.5),
        "boolean": ([], True),
        "object": (['{"name": "x"}'], {"name": "x"}),
    }
    return words[kind]


@of_every(EVERY_ARGUMENT)
def test_every_argument_of_every_tool_is_an_option(operation: Operation, name: str) -> None:
    words, value = sample(name, operation.parameters[name])
    request = command_of(operation.name).parse(["--" + name.replace("_", "-"), *words])
    assert request.arguments == {**command_of(operation.name).defaults, name: value}


@of_every(OPERATIONS)
def test_a_tool_is_found_under_its_short_name_and_under_its_family(operation: Operation) -> None:
    family, _, verb = operation.name.partition("_")
    long = find_command([family, verb.replace("_", "-"), "--x"])
    assert long is not None
    assert long[0].operation is operation
    assert long[1] == ["--x"]
    assert command_of(operation.name).operation is operation


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_help_that_shows_every_option_and_an_example(name: str, cli: Cli) -> None:
    shown = cli(*name.split(), "--help")
    command = find_any(name)
    assert command is not None
    assert shown.code == 0
    assert shown.err == ""
    for option in command.options.values():
        assert option.flag + (" " if option.kind != "boolean" else "") in shown.out
        assert option.description or "enum" in option.schema, f"{option.flag} of {name} has no description"
    assert f"example: {command.operation.example}" in shown.out
    assert shown.out == cli("help", *name.split()).out


@pytest.mark.parametrize("described", [*OPERATIONS, *BUILT_IN.values()], ids=lambda one: one.name)
def test_every_example_is_a_command_that_parses(described: Any, cli: Cli) -> None:
    words = shlex.split(described.example.partition(" < ")[0].partition(" > ")[0])
    for word in words:
        if word.startswith("@"):
            Path(word[1:]).write_text("{}")  # in the test's own folder
    assert words[0] == "moss"
    found = find_command(words[1:])
    command = find_any(described.name) if found is None else found[0]
    assert command is not None
    assert command.operation is described
    request = command.parse(words[1 + len(described.name.split()) :] if found is None else found[1])
    if "help" not in words:
        command.require(request)


@of_every(OPERATIONS)
def test_no_tool_hides_an_option_of_its_command(operation: Operation) -> None:
    assert not set(operation.parameters) & {"home", "table", "help", "file", "older_than", "item"}
    if operation.name.endswith(("_import", "_purge", "_fetch", "_latest", "_compose")):
        assert not set(operation.parameters) & {"type", "max_bytes", "text"}


def test_an_option_takes_its_value_after_a_space_or_an_equals_sign() -> None:
    command = command_of("capsule_fetch")
    assert command.parse(["--name", "a b"]).arguments == command.parse(["--name=a b"]).arguments
    assert command.parse(["--name=a=b"]).arguments == {"name": "a=b"}
    assert command.parse(["--name", "--table"]).arguments == {"name": "--table"}


@pytest.mark.parametrize(
    ("words", "tags"),
    [
        (["--tags", "a,b"], ["a", "b"]),
        (["--tags", "a", "--tags", "b,c"], ["a", "b", "c"]),
        (["--tags", ""], []),
        (["--tags="], []),
        (["--tags", '["with, comma", "b"]'], ["with, comma", "b"]),
        (["--tags", "[wip]"], ["[wip]"]),
    ],
)
def test_a_list_is_given_by_commas_by_repetition_or_as_json(words: list[str], tags: list[str]) -> None:
    assert command_of("capsule_store").parse(words).arguments == {"tags": tags}


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["--include-text"], True),
        (["--no-include-text"], False),
        (["--include-text=false"], False),
        (["--include_text=true"], True),
        (["--include-text", "false"], False),
        (["--include-text", "true"], True),
        (["--include-text", "--include-deleted=false"], True),
    ],
)
def test_a_flag_can_be_set_and_negated(words: list[str], value: bool) -> None:
    assert command_of("capsule_fetch").parse(words).arguments["include_text"] is value


def test_a_flag_consumes_no_other_word() -> None:
    request = command_of("capsule_fetch").parse(["--include-text", "falsehoods"])
    assert request.arguments == {"include_text": True, "name": "falsehoods"}


@pytest.mark.parametrize(
    "tool", ["capsule_fetch", "capsule_update", "capsule_delete", "capsule_append", "capsule_restore"]
)
@pytest.mark.parametrize(
    ("words", "address"),
    [
        (["auth"], {"name": "auth"}),
        (["shop/auth"], {"workspace": "shop", "name": "auth"}),
        (["shop/a/b"], {"workspace": "shop", "name": "a/b"}),
        (["a/b", "--workspace", "shop"], {"workspace": "shop", "name": "a/b"}),
        ([ULID], {"id": ULID}),
        ([ULID[:-1]], {"name": ULID[:-1]}),
        ([ULID[:-1] + "U"], {"name": ULID[:-1] + "U"}),
        ([ULID.lower()], {"name": ULID.lower()}),
        (["--id", "imported-7"], {"id": "imported-7"}),
        ([ULID, "--name", "auth"], {"id": ULID, "name": "auth"}),
    ],
)
def test_a_word_is_a_name_unless_it_is_a_ulid(tool: str, words: list[str], address: dict[str, str]) -> None:
    assert command_of(tool).parse(words).arguments == address


@pytest.mark.parametrize("name", [name for name in command_names() if name not in ("config", "doctor")])
def test_help_lists_only_effective_options(name: str, cli: Cli) -> None:
    shown = cli("help", *name.split()).out
    built_in = find_any(name)
    assert built_in is not None
    common = getattr(built_in.operation, "common_options", ("home", "table", "help"))
    assert ("--home DIR" in shown, "--table " in shown) == ("home" in common, "table" in common)
    assert "default default" not in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 100


def test_help_shows_how_to_disable_default_options(cli: Cli) -> None:
    shown = cli("fetch", "--help").out
    assert "--include-text, --no-include-text  with the full text; on by default" in shown
    assert "instead of workspace" in shown
    assert "instead of workspace" not in cli("restore", "--help").out
    assert "needed, unless they are named as words or with --item" in " ".join(cli("compose", "--help").out.split())
    assert "--file PATH" in cli("store", "--help").out


def test_items_are_named_one_by_one_or_as_json_or_in_a_file(tmp_path: Path) -> None:
    command = command_of("capsule_compose")
    expected = [{"name": "a"}, {"workspace": "shop", "name": "b/c"}, {"id": "01X"}, {"id": ULID}]
    one_by_one = ["--item", "a", "--item", "shop/b/c", "--item=id:01X", "--item", ULID]
    file = tmp_path / "items.json"
    file.write_text(json.dumps(expected))
    assert command.parse(one_by_one).arguments["items"] == expected
    assert command.parse(["--items", json.dumps(expected)]).arguments["items"] == expected
    assert command.parse(["--items", f"@{file}"]).arguments["items"] == expected
    assert command.parse(["a", "shop/b/c", "id:01X", ULID]).arguments["items"] == expected
    assert command.parse(["--item", "a", "shop/b/c", "id:01X", ULID]).arguments["items"] == expected


def test_a_word_in_place_of_an_object_is_its_name() -> None:
    assert command_of("capsule_compose").parse(["--store-as", "both"]).arguments == {"store_as": {"name": "both"}}


@pytest.mark.parametrize(("age", "days"), [("7d", 7), ("7", 7), ("2w", 14), ("0d", 0)])
def test_an_age_is_given_in_days_or_weeks(age: str, days: int) -> None:
    assert command_of("capsule_purge").parse(["--older-than", age]).arguments == {"older_than_days": days}


def test_the_words_of_a_query_need_no_quotes() -> None:
    request = command_of("capsule_search").parse(["where", "do", "--limit", "3", "tokens", "live"])
    assert request.arguments == {"limit": 3, "query": "where do tokens live"}


def test_words_after_two_dashes_are_positional() -> None:
    assert command_of("capsule_search").parse(["--", "--limit", "-x"]).arguments == {"query": "--limit -x"}


@pytest.mark.parametrize(
    ("tool", "words", "says"),
    [
        ("capsule_list", ["--limit", "x"], "whole number"),
        ("capsule_list", ["--limit", "1_0"], "whole number"),
        ("capsule_list", ["--limit", " 1"], "whole number"),
        ("capsule_list", ["--limit", ""], "whole number"),
        ("capsule_list", ["--limit", "\u0663"], "whole number"),
        ("capsule_list", ["--limit", "9" * 5000], "whole number"),
        ("capsule_list", ["--limit"], "needs a value"),
        ("capsule_list", ["--limti", "3"], "did you mean --limit?"),
        ("capsule_list", ["-l"], "unknown option -l"),
        ("capsule_list", ["--include-deleted=yes"], "=true or =false"),
        ("capsule_list", ["--no-limit"], "unknown option --no-limit"),
        ("capsule_list", ["extra"], "unexpected word 'extra'"),
        ("capsule_list", ["--workspace", "a", "--workspace", "b"], "given twice"),
        ("capsule_list", ["--home", ""], "name of a folder"),
        ("capsule_fetch", ["auth", "db"], "unexpected word 'db' after 'auth'"),
        ("capsule_fetch", ["auth", "--name", "db"], "name is given twice"),
        ("capsule_restore", [ULID, "--id", "01Y"], "id is given twice"),
        ("capsule_compose", ["--items", "5", "auth"], "given twice"),
        ("capsule_store", ["--file", "a", "--file", "b"], "given twice"),
        ("capsule_compose", ["--items", "[{"], "needs JSON"),
        ("capsule_compose", ["--items", "[" * 100_000], "needs JSON"),
        ("capsule_purge", ["--older-than", "7y"], "7d or 2w"),
        ("capsule_import", ["--max-bytes", "lots"], "whole number"),
    ],
)
def test_invalid_options_are_refused_with_a_reason(tool: str, words: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("?", r"\?")) as refusal:
        command_of(tool).parse(words)
    assert refusal.value.command == words_of(tool)


@pytest.mark.parametrize("built_in", BUILT_IN.values(), ids=lambda one: one.name)
def test_a_command_of_moss_itself_has_a_function_that_takes_its_arguments(built_in: BuiltIn) -> None:
    for given in (built_in.required, built_in.parameters):
        signature(cli_function(built_in.does)).bind(None, **dict.fromkeys(given))
    assert not built_in.table or signature(cli_function(built_in.table)).bind({}, width=80)
