"""Language of errors and help: options and commands for people, and quoted input unchanged."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.cli.args.command_names import command_names
from moss_memory.cli.commands import help as help_command
from moss_memory.cli.render.cli_words import to_cli_words
from moss_memory.registry import catalog

if TYPE_CHECKING:
    from moss_memory.registry.operation import Operation
    from support.cli_typist import Cli


def tool(name: str) -> Operation:
    found = catalog.find(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("capsule_fetch", "gone; shown with `include_deleted`", "gone; shown with --include-deleted"),
        ("capsule_store", 'or store with `mode: "replace"`', "or store with --mode replace"),
        ("artifact_store", "store with `expected_version: 3`", "store with --expected-version 3"),
        ("capsule_store", "to `capsule_text`; `allow_thin: true` stores", "to --capsule-text; --allow-thin stores"),
        ("capsule_append", "no headers; use `capsule_update`", "no headers; use moss update"),
        ("branchmind_init", "see `branchmind_graph_conflict_show`", "see moss graph conflict-show"),
        ("capsule_list", "`limit` is 0; ask for at least 1", "--limit is 0; ask for at least 1"),
        ("capsule_fetch", "`id` or `name` is needed", "--id or --name is needed"),
        ("capsule_compose", "`items[2].id` and `store_as.name`", "--items[2].id and --store-as.name"),
    ],
)  # fmt: skip
def test_a_refusal_names_options_and_commands(name: str, said: str, expected: str) -> None:
    assert to_cli_words(said, tool(name)) == expected


@pytest.mark.parametrize(
    "said",
    [
        'exists in workspace "shop"; choose another name',
        "listed under `allowed_paths` in the configuration",
        "limit and allow_thin without a mark",
        "see `moss doctor`, or write `a NOT b`",
        "`capsule_vanish` is no tool",
    ],
)
def test_plain_words_settings_and_paths_stay_unchanged(said: str) -> None:
    assert to_cli_words(said, tool("capsule_store")) == said


def test_input_of_the_caller_is_quoted_unchanged(cli: Cli) -> None:
    for name in ("my include_text", "a `name`", "`capsule_list`"):
        first = cli("fetch", "--name", name).err.splitlines()[0]
        assert first == f"[NOT_FOUND] capsule not found: default/{name}"


@pytest.mark.usefixtures("auth")
def test_refusals_name_options(cli: Cli) -> None:
    assert cli("list", "--limit", "0").err == "[INVALID_REQUEST] --limit is 0; ask for at least 1\n"
    assert "--mode replace" in cli("store", "--name", "auth", "--allow-thin", "--capsule-text", "x").err
    thin = cli("store", stdin="thin").err.splitlines()[1]
    assert thin == "try: moss store < FILE  # with the missing headers added; --allow-thin stores it as it is"


@pytest.mark.parametrize("words", [["--help"], *([*one, "--help"] for one in (["capsule"], ["latest"], ["delete"]))])
def test_help_names_options_and_commands(cli: Cli, words: list[str]) -> None:
    shown = cli(*words).out
    arguments = {name for one in catalog.operations() for name in one.parameters if "_" in name}
    tools = {one.name for one in catalog.operations()}
    assert not (arguments | tools) & set(re.findall(r"[a-z]+(?:_[a-z]+)+", shown))


def test_refusals_for_programs_and_agents_name_arguments(cli: Cli) -> None:
    from moss_memory import MossError, open_store

    with open_store(cli.home) as store, pytest.raises(MossError, match=r"^\[INVALID_REQUEST\] `limit` is 0"):
        store.call("capsule_list", {"limit": 0})


def test_an_import_from_the_current_folder_is_refused_with_the_right_path(cli: Cli, auth: dict[str, Any]) -> None:
    cli("export", "--path", "x.jsonl").json  # noqa: B018
    exports = os.path.join(cli.home, "exports")
    os.rename(os.path.join(exports, "x.jsonl"), "x.jsonl")
    for path in ("./x.jsonl", "x.jsonl"):
        told = cli("import", path, "--mode", "replace").err.splitlines()[-1]
        assert told == f"try: cp {path} {exports}/ && moss import x.jsonl  # imports are read from that folder"
    os.rmdir(exports)
    assert f"try: mkdir -p -m 700 {exports} && cp ./x.jsonl" in cli("import", "./x.jsonl").err


def test_an_import_of_a_missing_file_names_the_import_folder(cli: Cli, auth: dict[str, Any]) -> None:
    exports = os.path.join(cli.home, "exports")
    assert f"moss: imports are read from {exports}" in cli("import", "nope.jsonl").err
    cli("export").json  # noqa: B018
    assert cli("import", "nope.jsonl").err.endswith(f"try: ls {exports}  # a bare file name means one of these\n")


def test_every_help_fits_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(help_command, "width", lambda: 80)
    pages = [help_command.overview(), *(help_command.family_help(name) for name in help_command.group_names())]
    for name in command_names():
        found = help_command.find_any(name)
        assert found is not None, name
        pages.append(help_command.command_help(found))
    assert len(pages) > 150
    assert [line for page in pages for line in page.splitlines() if len(line) > 80] == []
