"""Capsules on the command line: arguments, answers and exit codes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def test_a_capsule_stored_from_stdin_is_fetched_by_name_and_by_id(cli: Cli, capsule: str) -> None:
    stored = cli("store", "--name=auth", "--workspace=shop", "--title=Auth", "--tags=a,b", stdin=capsule).json
    assert stored["fetch_key"] == {"moss_capsule": "auth", "moss_workspace": "shop"}
    by_name = cli("fetch", "--workspace", "shop", "--name", "AUTH").json
    by_id = cli("capsule", "fetch", stored["id"]).json
    assert by_name == by_id
    assert by_name["capsule_text"] == capsule
    assert by_name["tags"] == ["a", "b"]


def test_a_text_beyond_ascii_is_returned_unchanged_in_any_locale(cli: Cli, capsule: str) -> None:
    text = capsule + "Grüße, 東京 \U0001f33f\r\n"
    cli.environment["LC_ALL"] = "C"
    cli.process("store", "--name", "auth", stdin=text.encode()).json  # noqa: B018 - ends well
    assert cli.process("fetch", "--name", "auth").json["capsule_text"] == text


def test_every_other_command_of_the_family_works(cli: Cli, auth: dict[str, Any], capsule: str) -> None:
    cli("store", "--name", "db", "--run-id", "r1", stdin=capsule).json  # noqa: B018
    appended = cli("append", "--name", "auth", "--section", "Next actions", "--content", "- go").json
    assert appended["replaced"] is True
    assert cli("append", auth["id"], "--section", "Decisions", stdin="- piped\n").json["replaced"] is False
    assert [one["name"] for one in cli("list").json["items"]] == ["auth", "db"]
    assert cli("inventory", "--run-id", "r1").json["pagination"]["total"] == 1
    assert cli("latest", "--include-text").json["item"]["name"] == "auth"
    assert len(cli("fetch-many", "--item", "auth", "--item", "default/db").json["items"]) == 2
    assert cli("compose", "--item", "auth", "--item", "db", "--format", "json").json["parts_count"] == 2
    assert cli("bulk-update", "--run-id", "r1", "--set-phase", "done").json["updated"] == 1
    assert cli("bulk-delete", "--run-id", "r1").json["deleted"] == 1
    assert cli("delete", "--name", "auth").json == {
        "deleted": True, "id": auth["id"], "workspace": "default",
    }  # fmt: skip
    assert cli("restore", auth["id"]).json["restored"] is True
    assert cli("purge", "--older-than", "0d", "--type", "capsule").json["purged"] == 1


def test_search_works_at_the_top_level_and_in_the_family(cli: Cli, auth: dict[str, Any]) -> None:
    for words in (["search"], ["capsule", "search"]):
        found = cli(*words, "refresh", "tokens").json
        assert [one["id"] for one in found["items"]] == [auth["id"]]


def test_an_export_can_be_imported_and_a_person_may_raise_its_limit(
    cli: Cli, auth: dict[str, Any], tmp_path: Path
) -> None:
    exported = cli("export", "--path", "backup.jsonl").json
    assert exported["count"] == 1
    cli("delete", "--name", "auth")
    cli("purge")
    config = os.path.join(cli.home, "config.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"import_max_bytes": 10}, file)
    refused = cli("import", "backup.jsonl")
    assert refused.code == 1
    assert refused.err.startswith("[FILE_TOO_LARGE] ")
    assert cli("import", "backup.jsonl", "--max-bytes", "100000").json["imported"] == 1


def test_a_refused_import_names_the_conflicting_lines(cli: Cli, auth: dict[str, Any]) -> None:
    cli("export", "--path", "a.jsonl").json  # noqa: B018
    lines = cli("import", "a.jsonl").err.splitlines()
    assert lines[0].startswith("[CONFLICT] ")
    assert lines[1].startswith("  line 2: [")


def test_home_on_the_command_line_takes_effect_at_any_position(cli: Cli, capsule: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    cli("store", "--name", "there", "--home", other, stdin=capsule).json  # noqa: B018
    assert cli("--home", other, "list").json["pagination"]["total"] == 1
    assert cli(f"--home={other}", "config").json["home"] == other
    assert not os.path.exists(cli.home)


def test_update_clears_tags_with_an_empty_list(cli: Cli, auth: dict[str, Any]) -> None:
    cli("update", "--name", "auth", "--tags", "a").json  # noqa: B018
    assert cli("fetch", "--name", "auth").json["tags"] == ["a"]
    cli("update", auth["id"], "--tags", "").json  # noqa: B018
    assert cli("fetch", "--name", "auth").json["tags"] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["fetch", "--name", "nope"], "NOT_FOUND"),
        (["fetch", ULID, "--name", "auth"], "AMBIGUOUS_ADDRESSING"),
        (["fetch", ULID, "--workspace", "shop"], "AMBIGUOUS_ADDRESSING"),
        (["fetch"], "INVALID_REQUEST"),
        (["list", "--limit", "0"], "INVALID_REQUEST"),
        (["list", "--limit", "99999999999999999999"], "INVALID_REQUEST"),
        (["store", "--name", "auth", "--mode", "maybe", "--capsule-text", "x"], "INVALID_REQUEST"),
        (["store", "--name", "auth", "--allow-thin", "--capsule-text", "x"], "NAME_ALREADY_EXISTS"),
        (["store", "--capsule-text", "x" * 12_001], "CAPSULE_TOO_LARGE"),
        (["store", "--file", "no-such-file"], "INVALID_REQUEST"),
        (["store", "--file", "."], "INVALID_REQUEST"),
        (["compose", "--items", "{}"], "INVALID_REQUEST"),
        (["compose", "--item", "nope"], "NOT_FOUND"),
        (["import", "--path", "../x.jsonl"], "INVALID_REQUEST"),
    ],
)
def test_an_error_of_a_tool_is_one_code_on_stderr_and_exit_1(
    cli: Cli, auth: dict[str, Any], words: list[str], code: str
) -> None:
    outcome = cli(*words)
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith(f"[{code}] ")


def test_the_refusal_of_a_thin_capsule_names_missing_sections_and_the_next_command(cli: Cli) -> None:
    outcome = cli(
        "store", "--name", "a b", stdin="## Objective\nx\n## Status\nx\n## Next steps\nx\n## Open questions\nx\n"
    )
    first, second = outcome.err.splitlines()
    assert first == "[CAPSULE_TOO_THIN] capsule missing required sections: [Decisions, Key locations]"
    assert second.startswith("try: moss store --name 'a b' < FILE  # ")


def test_a_refusal_shows_the_next_command_to_type(cli: Cli) -> None:
    lines = cli("fetch", "--workspace", "it's", "--name", "x").err.splitlines()
    assert lines[1].startswith("""try: moss list --workspace 'it'"'"'s'""")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lst"], "did you mean list?"),
        (["capsule", "stor"], "did you mean capsule store?"),
        (["list", "--limti", "1"], "did you mean --limit?"),
        (["--frobnicate"], "unknown option --frobnicate"),
        (["--home"], "--home needs"),
        (["import"], "--path is needed"),
        (["search"], "--query is needed"),
        (
            ["purge", "--type", "nothing"],
            "there is no type 'nothing'; known: capsule, artifact, reasoning, task, record",
        ),
        (["store", "--file", "x", "--capsule-text", "y"], "both give the text"),
        (["completion"], "known: bash, zsh, fish"),
        (["completion", "tcsh"], "known: bash, zsh, fish"),
        (["help", "nothing-like-it"], "unknown command"),
        (["doctor", "now"], "unexpected word 'now'"),
        ([""], "unknown command ''"),
        (["fetch", "b\udcff"], "word 2 of the command line is not valid UTF-8: b\\udcff"),
        (["store", "--name", "bad\udcff", "--capsule-text", "x"], "not valid UTF-8"),
        (["--home", "\udcff", "list"], "not valid UTF-8"),
    ],
)
def test_a_usage_error_is_reported_and_exits_2(cli: Cli, words: list[str], says: str) -> None:
    outcome = cli(*words)
    assert outcome.code == 2
    assert outcome.out == ""
    assert says in outcome.err
    assert not os.path.exists(cli.home)


def test_a_bug_is_reported_without_its_cause_unless_requested(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("the secret cause")

    monkeypatch.setattr("moss_memory.cli.commands.tool.find_command", broken)
    quiet = cli("list")
    assert quiet.code == 1
    assert quiet.err.startswith("[INTERNAL] ")
    assert "MOSS_DEBUG=1" in quiet.err
    assert "secret" not in quiet.err
    monkeypatch.setenv("MOSS_DEBUG", "1")
    assert "the secret cause" in cli("list").err
