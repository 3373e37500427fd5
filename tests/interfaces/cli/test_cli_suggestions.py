"""Suggestions for mistyped commands: similar words, words of other tools, and misplaced words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from moss_memory.cli.args.did_you_mean import suggest_word

if TYPE_CHECKING:
    from support.cli_typist import Cli


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["get", "x"], "did you mean fetch?"),
        (["show"], "did you mean fetch, notes show or task show?"),
        (["cat"], "did you mean fetch?"),
        (["history", "auth"], "the versions of a capsule: moss versions auth"),
        (["add"], "did you mean store, token add or notes add?"),
        (["put"], "did you mean store?"),
        (["status"], "did you mean where or branch status?"),
        (["create"], "did you mean store, branch create or task create?"),
        (["commit"], "did you mean store or history commit?"),
        (["checkout", "main"], "did you mean branch checkout?"),
        (["merge", "a", "b"], "did you mean notes merge, graph merge or branch merge?"),
        (["branches"], "did you mean branch?"),
        (["branchmind_graph_query"], "did you mean graph query?"),
        (["branch", "rm", "x"], "did you mean branch delete?"),
        (["branch", "switch", "x"], "did you mean branch checkout?"),
        (["notes", "create", "x"], "did you mean notes add?"),
        (["graph", "plot"], "did you mean graph draw?"),
        (["graph", "resolve", "x"], "did you mean graph conflict-resolve?"),
        (["history", "tag", "x"], "did you mean history tag-create?"),
        (["help", "draw"], "did you mean graph draw?"),
        (["branch", "list", "shop"], "did you mean --workspace shop?"),
        (["graph", "diff", "a", "b", "--types", "x"], "`moss graph query --types` has it"),
        (["notes", "add", "two", "words", "-w", "shop"], "unexpected word 'words' after 'two'; quote a text"),
        (["branch", "create", "a", "b", "-w", "shop"], "unexpected word 'b' after 'a'"),
        (["record", "entities", "--type", "release"], "did you mean --entity-type?"),
        (["record", "timeline", "--type", "release"], "did you mean --event-type or --entity-type?"),
        (["record", "entities", "release"], "did you mean --entity-type release?"),
        (["rm"], "did you mean delete?"),
        (["remove"], "did you mean delete?"),
        (["find"], "did you mean search or record find?"),
        (["ls"], "did you mean list?"),
        (["capsule", "get"], "did you mean capsule fetch?"),
        (["help", "rm"], "did you mean delete?"),
        (["stroe"], "did you mean store?"),
        (["store", "capsule.md"], "did you mean --file capsule.md?"),
        (["update", "auth", "capsule.md"], "did you mean --file capsule.md?"),
        (["list", "shop"], "did you mean --workspace shop?"),
        (["list", "--tag", "x"], "`moss inventory --tag` has it"),
        (["search", "x", "--tag", "y"], "`moss capsule search --tag` has it"),
        (["search", "x", "--type", "capsule"], "did you mean --types?"),
        (["delete", "--tag", "x"], "`moss bulk-delete --tag` has it"),
        (["compose"], "at least one NAME or WORKSPACE/NAME is needed"),
        (["fetch-many"], "at least one NAME or WORKSPACE/NAME is needed"),
    ],
)
def test_a_mistake_is_answered_with_a_suggestion(cli: Cli, words: list[str], says: str) -> None:
    outcome = cli(*words)
    assert outcome.code == 2
    assert says in outcome.err


@pytest.mark.parametrize(
    "words", [["append", "auth", "--content", "- x"], ["adopt"], ["task", "done"], ["workspace", "rename", "a"]]
)
def test_a_missing_argument_is_reported_with_an_example(cli: Cli, words: list[str]) -> None:
    refused = cli(*words)
    assert refused.code == 2
    needed, example, help_page = refused.err.splitlines()
    assert " needed by `moss " in needed
    assert example.startswith(f"for example: moss {words[0]} ")
    assert help_page.endswith("--help")


def test_the_version_is_printed_for_an_option_and_for_a_word(cli: Cli) -> None:
    assert cli("version").out == cli("--version").out != ""


@pytest.mark.parametrize("word", ["frob", "toad", "mop", "--tag"])
def test_a_word_similar_to_no_command_has_no_suggestion(word: str) -> None:
    assert suggest_word(word, ["fetch", "tour", "mcp", "doctor", "--table"]) == ""


@pytest.mark.parametrize("type", ["capsule", "artifact", "reasoning", "note", "trace", "node"])
def test_every_family_with_soft_deletion_can_be_purged(cli: Cli, type: str) -> None:
    assert cli("purge", "--type", type, "--dry-run").json["purged"] == 0
    assert cli("purge", "--type", type, "--older-than", "7d").json["purged"] == 0


@pytest.mark.parametrize(("type", "why"), [("task", "gone at once"), ("record", "not deleted softly")])
def test_purging_a_family_without_soft_deletion_is_refused(cli: Cli, type: str, why: str) -> None:
    told = cli("purge", "--type", type).json
    assert told["purged"] == 0
    assert why in told["message"]


@pytest.mark.usefixtures("auth")
def test_only_the_type_option_sets_the_type_of_a_purge(cli: Cli) -> None:
    cli("delete", "auth").json  # noqa: B018
    assert cli("purge", "--workspace", "a --type nothing").json["purged"] == 0
    assert cli("purge", "--workspace", "--type").json["purged"] == 0
    assert cli("purge", "--type=nothing").code == 2
    assert cli("capsule", "purge", "--type", "artifact").code == 2
    assert cli("purge", "--type=capsule").json["purged"] == 1


@pytest.mark.usefixtures("auth")
def test_capsules_are_addressed_by_positional_names(cli: Cli, capsule: str) -> None:
    cli("store", "--workspace", "shop", "--name", "db", stdin=capsule).json  # noqa: B018
    assert cli("fetch", "auth").json["name"] == "auth"
    assert cli("fetch", "shop/DB").json["workspace"] == "shop"
    assert cli("fetch", "db", "--workspace", "shop").json["name"] == "db"
    assert [one["name"] for one in cli("fetch-many", "auth", "shop/db").json["items"]] == ["auth", "db"]
    assert cli("compose", "auth", "shop/db").json["parts_count"] == 2
    assert cli("append", "shop/db", "--section", "Next actions", "--content", "- go").json["replaced"] is True
    assert cli("update", "auth", "--title", "New").code == 0
    assert cli("delete", "auth").json["deleted"] is True
    assert cli("fetch", "auth").err.startswith("[NOT_FOUND] ")
