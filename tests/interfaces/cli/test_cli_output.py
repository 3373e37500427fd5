"""Output of commands, also if it cannot be written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.terminal import as_table, on_terminal
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def shell(cli: Cli, line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell line in which `moss` is the command under test."""
    moss = f"moss() {{ '{sys.executable}' -m moss_memory.cli.main \"$@\"; }}; "
    return subprocess.run(
        ["bash", "-c", moss + line], env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=False
    )


@pytest.mark.usefixtures("auth")
def test_an_answer_is_one_line_of_json_in_a_pipe_and_text_for_reading_on_a_terminal(cli: Cli) -> None:
    assert cli("fetch", "--name", "auth").out.count("\n") == 1
    code, shown = on_terminal(cli, "fetch", "--name", "auth")
    assert code == 0
    assert "\nname  " in shown
    assert "\n## Objective\n" in shown
    assert '"id"' not in shown
    code, shown = on_terminal(cli, "fetch", "--name", "auth", "--json")
    assert '{\n  "id": "' in shown
    assert cli("fetch", "auth", "--json", "--table").code == 2


def test_store_on_a_terminal_shows_how_to_end_the_text(cli: Cli) -> None:
    code, shown = on_terminal(cli, "store", "--allow-thin", typed=b"a thought\n\x04")
    assert code == 0
    assert "end with Ctrl-D" in shown
    assert cli("latest", "--include-text").json["item"]["capsule_text"] == "a thought\n"


@pytest.mark.usefixtures("auth")
def test_update_on_a_terminal_asks_for_nothing(cli: Cli) -> None:
    code, _ = on_terminal(cli, "update", "--name", "auth", "--title", "New")
    assert code == 0


def test_without_a_command_a_terminal_shows_the_overview(cli: Cli) -> None:
    code, shown = on_terminal(cli)
    assert code == 0
    assert "Every day (moss COMMAND --help explains one)" in shown


@pytest.mark.usefixtures("auth")
def test_long_work_shows_progress_on_a_terminal_only(cli: Cli) -> None:
    _, shown = on_terminal(cli, "export", "--path", "a.jsonl")
    assert "export: 1 of 1" in shown
    assert cli("export", "--path", "b.jsonl").err == ""


@pytest.mark.usefixtures("auth")
def test_a_reader_that_leaves_early_causes_no_noise(cli: Cli) -> None:
    done = shell(cli, 'moss list | true; echo "${PIPESTATUS[0]}"')
    assert done.stderr == b""
    assert done.stdout == b"0\n"


@pytest.mark.usefixtures("auth")
@pytest.mark.parametrize("redirect", [">&-", *(["> /dev/full"] if os.path.exists("/dev/full") else [])])
def test_an_answer_that_cannot_be_written_is_a_failure_without_a_traceback(cli: Cli, redirect: str) -> None:
    done = shell(cli, f"moss fetch --name auth {redirect}")
    assert done.returncode == 1
    assert done.stderr.startswith(b"moss: the answer could not be written: ")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_never_become_files_of_the_store(cli: Cli, closed: str) -> None:
    shell(cli, f"moss store --allow-thin --name a --capsule-text x {closed}")
    assert cli("fetch", "--name", "a").json["capsule_text"] == "x"
    with open(os.path.join(cli.home, "moss.lock"), "rb") as lock:
        assert b"fetch_key" not in lock.read(), "the answer was written to the lock file"


@pytest.mark.usefixtures("auth")
def test_a_table_aligns_names_and_shows_the_count(cli: Cli, capsule: str) -> None:
    cli("store", "--name", "a-longer-name", "--title", "Second", stdin=capsule)
    lines = cli("list", "--table", "--limit", "1").out.splitlines()
    columns = [
        "name",
        "workspace",
        "title",
        "chars",
        "updated",
        "id",
        "tokens_estimate",
        "tags",
        "created_at",
        "version",
    ]
    assert lines[0].split() == columns
    assert lines[1].startswith("a-longer-name  default    Second")
    assert lines[-1] == "1 of 2; more with --offset 1"


@pytest.mark.usefixtures("auth")
def test_a_table_shows_a_single_capsule_with_its_text_last(cli: Cli, capsule: str) -> None:
    shown = cli("fetch", "--name", "auth", "--table").out
    assert re.search(r"^name +auth$", shown, re.MULTILINE)
    assert shown.endswith(capsule)
    assert "_norm" not in shown
    assert "fetch_key" not in shown
    assert re.search(r"^workspace +default$", cli("store", "--table", stdin=capsule + "x").out, re.MULTILINE)
    assert re.search(r"^workspace +shop$", cli("store", "--workspace", "shop", "--name", "b", "--table",
                                               stdin=capsule).out, re.MULTILINE)  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["inventory"],
        ["latest"],
        ["search", "tokens"],
        ["fetch-many", "--item", "auth", "--item", "nope"],
        ["compose", "--item", "auth"],
        ["export"],
        ["bulk-delete", "--tag", "x"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("auth")
def test_every_kind_of_answer_can_be_a_table(cli: Cli, words: list[str]) -> None:
    outcome = cli(*words, "--table")
    assert outcome.code == 0
    assert outcome.out.strip()
    assert not outcome.out.startswith("{")


def test_stored_text_in_a_table_cannot_control_the_terminal() -> None:
    row: dict[str, Any] = {"name": "a\x1b]0;owned\x07", "title": "b\x9b31m", "capsule_chars": 1}
    shown = as_table(["list"], {"items": [row]}) + as_table(["artifact", "fetch"], {"text": "\x1b[2J"})
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)


@pytest.mark.usefixtures("auth")
def test_a_table_of_hits_shows_the_matching_words(cli: Cli) -> None:
    for words in (["search"], ["capsule", "search"]):
        header, row = cli(*words, "cookie", "--table").out.splitlines()[:2]
        assert header.startswith("name  workspace")
        assert row.startswith("auth  default")
        assert "cookie" in row


def test_the_latest_capsule_of_an_empty_store_is_nothing(cli: Cli) -> None:
    assert cli("latest", "--table").out == "(nothing)\n"


def test_wide_characters_take_two_columns() -> None:
    items = [{"name": "東京", "title": "x"}, {"name": "abcd", "title": "y"}]
    rows = as_table(["list"], {"items": items}).splitlines()[1:3]
    assert [line.index(end) for line, end in zip(rows, "xy", strict=True)] == [4, 6]


@pytest.mark.parametrize("width", [40, 60])
def test_a_table_fits_a_narrow_terminal(width: int) -> None:
    items = [{"name": "n" * 50, "workspace": "w" * 50, "title": "t" * 50}]
    assert max(map(len, as_table(["list"], {"items": items}, width=width).splitlines())) <= width


def a_row(**more: Any) -> dict[str, Any]:
    return {"id": ULID, "name": "n" * 30, "workspace": "w" * 20, "title": "t" * 70, "capsule_chars": 12_000,
            "updated_at": 1_800_000_000, **more}  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("more", [{}, {"deleted_at": 1_800_000_000}], ids=["active", "deleted"])
def test_ids_times_and_numbers_are_shown_whole_or_omitted(width: int, more: dict[str, Any]) -> None:
    header, row, *_ = as_table(["list"], {"items": [a_row(**more)]}, width=width).splitlines()
    assert max(len(header), len(row)) <= width
    times = re.findall(r"[\d-]{3,}[^ ]* ?\S*", row)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d|12000|" + ULID, found.strip()) for found in times)
    assert header.split()[0] == "name"
    assert ("id" in header.split()) is bool(more)
    assert (ULID in row) is bool(more)


def test_a_deleted_row_shows_when_it_was_deleted_and_its_id() -> None:
    items = [a_row(name="a", deleted_at=1_800_000_000), a_row(name="b")]
    header, row, other = as_table(["list"], {"items": items}, width=60).splitlines()[:3]
    assert header.split() == ["name", "deleted", "id"]
    assert row.endswith(ULID)
    assert other.split() == ["b", "-", ULID]


def test_numbers_are_aligned_to_the_right() -> None:
    items = [a_row(capsule_chars=7), a_row(capsule_chars=12_000)]
    header, short, long = as_table(["list"], {"items": items}).splitlines()[:3]
    assert short.index(" 7 ") + 2 == long.index("12000") + 5 == header.index("chars") + 5


def test_artifacts_have_the_columns_of_their_kind() -> None:
    item = {"id": ULID, "workspace": "default", "name": "run-1", "kind": "finding", "data": {}, "version": 3,
            "run_id": "r1", "expires_at": None, "updated_at": 1_800_000_000}  # fmt: skip
    header, row = as_table(["artifact", "list"], {"items": [item]}).splitlines()[:2]
    assert header.split() == ["kind", "name", "workspace", "version", "run_id", "updated", "id"]
    assert row.split()[:5] == ["finding", "run-1", "default", "3", "r1"]


@pytest.mark.parametrize("width", [60, 80])
def test_a_hit_at_the_end_of_a_snippet_is_shown_whole_and_without_tags(width: int) -> None:
    snippet = "before &amp; around " * 12 + "the <b>refresh&lt;T&gt;</b> of <b>tokens</b> " + "after " * 20
    fetch = {"tool": "capsule_fetch", "arguments": {"workspace": "default", "name": "auth"}}
    item = {"type": "capsule", "fetch": fetch, "title": "t" * 40, "snippet": snippet, "score": 1.0}  # fmt: skip
    header, row = as_table(["search"], {"items": [item]}, width=width).splitlines()[:2]
    assert "refresh<T>" in row
    assert "<b>" not in row
    assert "&amp;" not in row
    assert max(len(header), len(row)) <= width


@pytest.mark.parametrize("columns", [60, 80])
def test_help_and_the_doctor_fit_the_terminal(cli: Cli, columns: int) -> None:
    for words in (["--help"], ["store", "--help"], ["bulk-update", "--help"], ["doctor", "--table"]):
        _, shown = on_terminal(cli, *words, columns=columns)
        long = [line for line in shown.splitlines() if len(line) > columns and not line.startswith("example: ")]
        assert not [line for line in long if " " in line[22:columns]], words


def test_invisible_characters_are_visible_in_json_and_on_a_terminal_and_exact_in_a_pipe(cli: Cli) -> None:
    hidden = "\u3164\U000e0100\ufe00\u034f\u200b\U000e0041"
    text = f"a{hidden}b \u2764\ufe0f"
    cli("store", "--name", "odd", "--allow-thin", stdin=text).json  # noqa: B018
    piped = cli("fetch", "odd")
    assert piped.json["capsule_text"] == text
    assert not set(piped.out) & set(hidden)
    assert cli("fetch", "odd", "--text").out == text
    for words in (["fetch", "odd"], ["fetch", "odd", "--text"], ["fetch", "odd", "--json"]):
        shown = on_terminal(cli, *words)[1]
        assert not set(shown) & set(hidden)
        assert "\u2764\ufe0f" in shown


def test_json_and_warnings_cannot_control_a_terminal(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x\x7f\x85\x9b31m\u200e\u202e\u2066\u061c y \u00e9 \U0001f33f"
    cli("store", "--name", "odd", "--allow-thin", stdin=text).json  # noqa: B018
    _, read = on_terminal(cli, "fetch", "odd")
    assert not set(read) & set("\x1b\x7f\x85\x9b\u200e\u202e\u2066\u061c")
    code, shown = on_terminal(cli, "fetch", "odd", "--json")
    assert code == 0
    assert json.loads(shown)["capsule_text"] == text
    assert not set(shown) & set("\x7f\x85\x9b\u200e\u202e\u2066\u061c")
    assert "\u00e9 \U0001f33f" in shown
    folder = tmp_path / "evil\x1b[31m\x9b\u202e"
    (folder / ".moss").mkdir(parents=True)
    (folder / ".moss" / "config.json").write_text('{"unheard_of": 1}')
    monkeypatch.chdir(folder)
    code, shown = on_terminal(cli, "list", "--json")
    assert "unheard_of" in shown
    assert not set(shown) & set("\x1b\x9b\u202e")
