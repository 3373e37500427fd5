"""`moss versions`, `diff`, `revert`, `rename` and `restore`, typed for capsules and for artifacts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.terminal import on_terminal

if TYPE_CHECKING:
    from support.cli_typist import Cli

RED, GREEN, CYAN, BOLD, END = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"


@pytest.fixture
def changed(cli: Cli, auth: dict[str, Any]) -> Cli:
    """Store three versions of `auth`: the first, one with an appended line, one with title and tags."""
    assert auth["version"] == 1
    cli("append", "auth", "--section", "Decisions", "--content", "- rotate")
    assert cli("update", "auth", "--title", "Sign-in", "--tags", "a,b").json["version"] == 3
    return cli


@pytest.fixture
def finding(cli: Cli) -> Cli:
    """Store two versions of the artifact `x`."""
    cli("artifact", "store", "--kind", "k", "--name", "x", "--data", '{"n": 1, "list": [1, 2]}')
    cli("artifact", "store", "--kind", "k", "--name", "x", "--data", '{"n": 2, "list": [1, 2]}', "--mode", "replace",
        "--text", "seen\n")  # fmt: skip
    return cli


def diff(cli: Cli, *words: str) -> list[str]:
    outcome = cli("diff", *words)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.splitlines()


# -- versions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [["versions", "auth"], ["capsule", "versions", "auth"], ["versions", "--name", "auth", "--type", "capsule"]],
)
def test_versions_are_listed_by_name(changed: Cli, words: list[str]) -> None:
    answer = changed(*words).json
    assert [(one["version"], one["change"]) for one in answer["versions"]] == [
        (3, "title, tags"), (2, "Decisions +1 line"), (1, "stored"),
    ]  # fmt: skip


@pytest.mark.parametrize("words", [["artifact", "versions", "x"], ["versions", "x", "--type", "artifact"]])
def test_versions_of_an_artifact_are_listed_in_its_group_or_by_type(finding: Cli, words: list[str]) -> None:
    answer = finding(*words).json
    assert (answer["type"], answer["current"]) == ("artifact", 2)


def test_a_group_command_takes_no_type(finding: Cli) -> None:
    refused = finding("artifact", "versions", "x", "--type", "capsule")
    assert (refused.code, refused.out) == (2, "")
    assert "--type" in refused.err
    assert "--type" not in finding("artifact", "versions", "--help").out
    assert "one of capsule, artifact; if left out: capsule\n" in finding("versions", "--help").out


def test_a_table_of_versions_shows_time_author_and_change(changed: Cli) -> None:
    lines = changed("versions", "auth", "--table").out.splitlines()
    header = next(place for place, line in enumerate(lines) if line.startswith("version "))
    assert lines[header].split() == ["version", "written", "tool", "by", "chars", "change"]
    assert lines[header + 1].endswith("  title, tags")
    assert "capsule_append" in lines[header + 2]


def test_an_old_version_is_fetched_by_number_or_time(changed: Cli) -> None:
    assert "rotate" not in changed("fetch", "auth", "--version", "1", "--text").out
    assert "rotate" in changed("fetch", "auth", "--version", "2", "--text").out
    assert changed("fetch", "auth", "--as-of", "2999-01-01").json["version"] == 3
    assert changed("fetch", "auth", "--as-of", "32000000000").json["version"] == 3
    refused = changed("fetch", "auth", "--as-of", "1700000000")
    assert refused.code == 1
    assert "moss versions" in refused.err


# -- revert --------------------------------------------------------------------------------------------------------


def test_revert_undoes_the_last_change(changed: Cli) -> None:
    answer = changed("revert", "auth").json
    assert (answer["version"], answer["reverted_to"], answer["changed"]) == (4, 2, True)
    assert changed("fetch", "auth").json["title"] == "auth"


def test_revert_goes_to_the_named_version(changed: Cli) -> None:
    assert changed("revert", "auth", "--version", "1").json["reverted_to"] == 1
    assert "rotate" not in changed("fetch", "auth", "--text").out


@pytest.mark.parametrize("words", [["artifact", "revert", "x"], ["revert", "--type", "artifact", "default/x"]])
def test_an_artifact_is_reverted_in_its_group_or_by_type(finding: Cli, words: list[str]) -> None:
    assert finding(*words).json["version"] == 3
    assert finding("artifact", "fetch", "x").json["data"]["n"] == 1


def test_revert_of_a_first_version_or_of_nothing_is_refused(cli: Cli, auth: dict[str, Any]) -> None:
    assert auth["version"] == 1
    refused = cli("revert", "auth")
    assert refused.code == 1
    assert refused.err.startswith("[NOT_FOUND] version 1 of this capsule is its first")
    assert cli("revert", "nobody").code == 1
    assert cli("revert", "auth", "--version", "7").err.startswith("[NOT_FOUND] this capsule has no version 7")


def test_revert_undoes_no_concurrent_change(changed: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from moss_memory.store import Store

    real = Store.call

    def call(store: Store, tool: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
        if tool == "moss_revert":
            real(store, "capsule_update", {"name": "auth", "phase": "written meanwhile"})
        return real(store, tool, arguments, **more)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Store, "call", call)
        refused = changed("revert", "auth")
    assert refused.err.startswith("[VERSION_MISMATCH]")
    assert changed("fetch", "auth").json["phase"] == "written meanwhile"


# -- diff ----------------------------------------------------------------------------------------------------------


def test_a_diff_shows_the_last_change(changed: Cli) -> None:
    first, second, *lines = diff(changed, "auth")
    assert first.startswith("--- default/auth version 2 (")
    assert second.startswith("+++ default/auth version 3 (")
    assert lines == ["@@ -1 +1,2 @@", "-title: auth", "+title: Sign-in", "+tags: a, b"]


def test_a_diff_shows_the_text_line_by_line(changed: Cli) -> None:
    lines = diff(changed, "auth", "--version", "1", "--to", "2")
    assert [line for line in lines if line[0] in "+-" and not line.startswith(("---", "+++"))] == ["+", "+- rotate"]
    assert lines[2].startswith("@@ -")
    whole = diff(changed, "auth", "--version", "1")
    assert whole[0].endswith("metadata")
    assert lines[2:] == whole[-len(lines) + 2 :]


def test_a_diff_to_a_version_compares_it_with_the_one_before(changed: Cli) -> None:
    assert diff(changed, "auth", "--to", "2") == diff(changed, "auth", "--version", "1", "--to", "2")


def test_a_backward_diff_removes_added_lines(changed: Cli) -> None:
    lines = diff(changed, "auth", "--version", "2", "--to", "1")
    assert "-- rotate" in lines


@pytest.mark.parametrize("words", [["artifact", "diff", "x"], ["diff", "x", "--type", "artifact"]])
def test_a_diff_of_an_artifact_shows_its_data_and_its_text(finding: Cli, words: list[str]) -> None:
    lines = finding(*words).out.splitlines()
    assert lines[0].endswith(" data")
    assert lines[3:6] == [" {", '-  "n": 1,', '+  "n": 2,']
    assert lines[-2:] == ["@@ -0,0 +1 @@", "+seen"]


def test_a_text_without_a_line_end_is_marked_as_in_every_diff(cli: Cli) -> None:
    for text in ("one", "one\n"):
        cli("store", "--name", "a", "--mode", "replace", "--allow-thin", stdin=text)
    assert diff(cli, "a")[2:] == ["@@ -1 +1 @@", "-one", "\\ No newline at end of file", "+one"]


def test_equal_versions_have_an_empty_diff(changed: Cli) -> None:
    changed("update", "auth", "--title", "Sign-in")
    outcome = changed("diff", "auth")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "moss: there is no difference between versions 3 and 4\n"


def test_a_diff_of_a_deleted_capsule_still_shows(changed: Cli) -> None:
    before = diff(changed, "auth")
    changed("delete", "auth")
    assert diff(changed, "auth") == before


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nobody"], 1, "[NOT_FOUND] capsule not found"),
        (["auth", "--version", "9"], 1, "[NOT_FOUND] this capsule has no version 9; it has versions 1 to 3"),
        (["auth", "--to", "1"], 1, "[NOT_FOUND] version 1 of this capsule is its first"),
        (["auth", "--version", "x"], 2, "moss: --version needs a whole number"),
        (["auth", "--type", "task"], 1, "[INVALID_REQUEST]"),
        ([], 1, "[INVALID_REQUEST] --id or --name is needed"),
        (["auth", "other"], 2, "moss: unexpected word 'other'"),
    ],
)
def test_a_diff_of_a_missing_version_is_refused(changed: Cli, words: list[str], code: int, said: str) -> None:
    refused = changed("diff", *words)
    assert (refused.code, refused.out) == (code, "")
    assert refused.err.startswith(said)


def test_a_terminal_gets_colours(changed: Cli) -> None:
    changed.environment.pop("NO_COLOR", None)
    code, shown = on_terminal(changed, "diff", "auth")
    assert code == 0
    lines = shown.splitlines()
    assert lines[0].startswith(f"{BOLD}--- ")
    assert lines[2:] == [
        f"{CYAN}@@ -1 +1,2 @@{END}",
        f"{RED}-title: auth{END}",
        f"{GREEN}+title: Sign-in{END}",
        f"{GREEN}+tags: a, b{END}",
    ]


@pytest.mark.parametrize("wish", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_disabled(changed: Cli, wish: dict[str, str]) -> None:
    changed.environment.update(wish)
    assert "\x1b" not in on_terminal(changed, "diff", "auth")[1]


def test_stored_text_in_a_diff_cannot_control_a_terminal(cli: Cli) -> None:
    for text in ("\x1b[2Jone\r\n", "\x1b[2Jtwo\r\n"):
        cli("store", "--name", "a", "--mode", "replace", "--allow-thin", stdin=text)
    code, shown = on_terminal(cli, "diff", "a")
    assert code == 0
    assert "\x1b[2J" not in shown
    assert "two" in shown
    assert "+\x1b[2Jtwo\r\n" in cli("diff", "a").out, "in a pipe it is the text itself"


# -- rename and restore --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["auth", "login"], {"moss_capsule": "login", "moss_workspace": "default"}),
        (["auth", "shop/login"], {"moss_capsule": "login", "moss_workspace": "shop"}),
        (["auth", "--new-name", "a/b"], {"moss_capsule": "a/b", "moss_workspace": "default"}),
        (["auth", "--new-workspace", "shop"], {"moss_capsule": "auth", "moss_workspace": "shop"}),
    ],
)
def test_rename_takes_the_new_name_as_a_word_or_an_option(
    cli: Cli, auth: dict[str, Any], words: list[str], key: dict[str, str]
) -> None:
    answer = cli("rename", *words).json
    assert answer.pop("created_workspace", False) == (key["moss_workspace"] != "default")
    assert answer == {"id": auth["id"], "version": 2, "fetch_key": key}


def test_rename_without_a_new_name_or_with_two_is_refused(cli: Cli, auth: dict[str, Any]) -> None:
    assert auth["version"] == 1
    assert cli("rename", "auth").err.startswith("[INVALID_REQUEST] --new-name or --new-workspace is needed")
    assert cli("rename", "auth", "b", "c").code == 2
    assert cli("rename", "auth", "b", "--new-name", "c").code == 2


def test_an_artifact_is_renamed_and_restored_in_its_group(finding: Cli) -> None:
    assert finding("artifact", "rename", "x", "plan/y").json["fetch_key"]["moss_artifact"] == "y"
    finding("artifact", "delete", "plan/y")
    assert finding("artifact", "restore", "plan/y").json["restored"] is True


def test_a_capsule_is_restored_by_its_name(cli: Cli, auth: dict[str, Any]) -> None:
    cli("delete", "auth")
    refused = cli("fetch", "auth")
    assert f"try: moss restore --id {auth['id']}" in refused.err
    assert cli("restore", "auth").json["id"] == auth["id"]
    cli("delete", "auth")
    assert cli("restore", "--filters", '{"workspace": "default"}').json == {
        "restored_count": 1, "skipped": [], "workspace": "default",
    }  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [["bulk-delete"], ["bulk-update", "--set-phase", "x"], ["artifact", "bulk-delete"], ["artifact", "bulk-update",
     "--set-phase", "x"]],
)  # fmt: skip
def test_a_bulk_change_has_a_dry_run(changed: Cli, finding: Cli, words: list[str]) -> None:
    answer = changed(*words, "--workspace", "default", "--dry-run").json
    assert answer["dry_run"] is True
    assert len(answer["ids"]) == 1
    assert finding("artifact", "fetch", "x").json["version"] == changed("fetch", "auth").json["version"] - 1


@pytest.mark.parametrize("words", [["purge"], ["purge", "--type", "artifact"]])
def test_a_purge_has_a_dry_run(changed: Cli, finding: Cli, words: list[str]) -> None:
    changed("delete", "auth")
    finding("artifact", "delete", "x")
    assert changed(*words, "--dry-run").json["purged"] == 1
    assert changed(*words).json["purged"] == 1


def test_an_erased_entry_is_gone_and_its_copies_are_removed_on_request(changed: Cli, finding: Cli) -> None:
    export = changed("export").json["path"]
    assert changed("erase", "auth", "--version", "1").json["removed"]["versions"] == 1
    assert changed("erase", "auth", "--dry-run", "--copies").json["copies"] == [export]
    assert changed("erase", "auth").json["copies"] == [export]
    assert changed("fetch", "auth").code == 1
    assert finding("artifact", "erase", "default/x", "--copies").json["copies"] == []
    assert finding("erase", "nothing").err.startswith("[NOT_FOUND]")
    finding("task", "create", "-w", "shop", "--kind", "task", "--title", "secret")
    assert finding("task", "erase", "-w", "shop", "TASK-001", "--dry-run").json["type"] == "task"
    assert finding("task", "erase", "-w", "shop", "--target", "TASK-001").json["type"] == "task"


def test_a_record_is_erased_by_its_id_as_a_word(finding: Cli) -> None:
    body = '{"decision": "use the quokka", "rationale": "it smiles", "timestamp": "2026-01-01T00:00:00Z"}'
    told = finding("record", "submit", "neotoma:store_agent_decision:v1", "--body", body).json["payload_id"]
    assert finding("erase", "--type", "record", told, "--dry-run").json["removed"]["rows"] > 0
    assert finding("record", "erase", told).json["removed"]["rows"] > 0
    assert finding("record", "find").json["records"] == []


@pytest.mark.parametrize("family", ["capsule", "artifact", "reasoning", "task", "record"])
def test_every_family_can_be_purged_also_if_nothing_is_deleted(finding: Cli, family: str) -> None:
    assert finding("purge", "--type", family).json.items() >= {"purged": 0, "erased": True}.items()
    tried = {"purged": 0, "erased": False, "dry_run": True, "ids": []}
    assert finding("purge", "--type", family, "--dry-run").json.items() >= tried.items()


@pytest.mark.parametrize("folder", ["exports/all", "saved"])
def test_backups_and_exported_folders_are_removed_on_request(
    changed: Cli, finding: Cli, home: str, folder: str
) -> None:
    place = Path(home) / folder
    changed("export", "--all", str(place))
    changed("backup", str(place.parent / "saved.db"))
    (place / "mine.jsonl").write_text("not an export")
    named = changed("erase", "auth", "--dry-run").json["copies"]
    capsule = [path for path in named if path.endswith(".md")]
    assert len(capsule) == 1
    assert {str(place / "manifest.json"), str(place / "mine.jsonl"), str(place.parent / "saved.db")} <= set(named)
    assert changed("erase", "auth", "--copies").json["copies"] == [str(place / "mine.jsonl")]
    assert sorted(path.name for path in place.iterdir()) == ["mine.jsonl"]
    assert not (place.parent / "saved.db").exists()
