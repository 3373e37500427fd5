"""`moss export --all`, `moss export -` and `moss import FOLDER` on the command line."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from interfaces.cli.terminal import on_terminal
from support.cli_typist import CAPSULE
from support.moved_store import files_of

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli

SHOWN = (
    ("inventory", "--include-deleted"), ("artifact", "list"), ("record", "find"), ("record", "timeline"),
    ("task", "radar", "TASK-001", "-w", "shop"), ("graph", "query", "-w", "shop"), ("notes", "show", "-w", "shop"),
)  # fmt: skip


def work(cli: Cli) -> None:
    """Store an entry of every family."""
    cli("store", "--name", "auth", "-w", "shop", stdin=CAPSULE).json  # noqa: B018
    cli("artifact", "store", "--kind", "k", "--name", "plan", "--data", '{"a": 1}').json  # noqa: B018
    cli("task", "create", "task", "Sign in", "-w", "shop").json  # noqa: B018
    cli("notes", "add", "a note", "-w", "shop").json  # noqa: B018


def test_everything_moves_to_another_home_and_exports_to_an_equal_folder(cli: Cli, tmp_path: Path) -> None:
    work(cli)
    told = cli("export", "--all", "out", "--with-history").json
    assert told["folder"] == str(tmp_path / "work" / "out")
    assert (told["counts"]["capsules"], told["counts"]["artifacts"]) == (1, 1)
    new = str(tmp_path / "new")
    assert cli("--home", new, "import", "out").json["imported"] == told["counts"]
    for words in SHOWN:
        assert cli(*words, "--home", new).json == cli(*words).json, words
    cli("--home", new, "export", "--all", "again", "--with-history").json  # noqa: B018
    assert files_of("again") == files_of("out")


def test_collisions_are_reported_by_file_and_resolved_by_mode(cli: Cli, auth: dict[str, Any]) -> None:
    cli("export", "--all", "out").json  # noqa: B018
    assert cli("import", "out").json["unchanged"] == 1
    cli("update", "auth", "--title", "Changed").json  # noqa: B018
    refused = cli("import", "out")
    assert refused.code == 1
    assert refused.err.startswith("[CONFLICT] ")
    assert "--mode rename keeps both" in refused.err
    assert "  capsules/default/auth.md: [ID_COLLISION]" in refused.err
    assert cli("import", "out", "--mode", "rename").json["imported"]["capsules"] == 1
    assert cli("fetch", "auth-1").code == 0


def test_capsules_stream_to_stdout_as_lines_that_import_reads(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> None:
    cli("store", "--name", "other", "-w", "else", "--allow-thin", stdin="x\x9b\x7f\u202e").json  # noqa: B018
    lines = cli("export", "-").out
    assert [json.loads(line).get("name_raw") for line in lines.splitlines()] == [None, "auth", "other"]
    assert len(cli("export", "-", "--workspace", "else").out.splitlines()) == 2
    new = tmp_path / "new"
    (new / "exports").mkdir(parents=True, mode=0o700)
    (new / "exports" / "piped.jsonl").write_text(lines, encoding="utf-8")
    assert cli("--home", str(new), "import", "piped.jsonl").json["imported"] == 2
    code, shown = on_terminal(cli, "export", "-", "-w", "else")
    assert code == 0
    assert json.loads(shown.splitlines()[1])["capsule_text"] == "x\x9b\x7f\u202e"
    assert not {"\x9b", "\x7f", "\u202e"} & set(shown)


def test_a_reader_that_stops_early_is_no_failure(cli: Cli) -> None:
    for name in range(40):
        cli("store", "--name", f"n{name}", "--allow-thin", stdin="long " * 2000).json  # noqa: B018
    process = cli.start("export", "-")
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait() == 0


def test_invalid_move_arguments_are_reported(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> None:
    os.mkdir("out")
    for words, said in (
        (("export", "out"), "--all out"),
        (("export", "--all"), "needs the folder"),
        (("export", "--all", "-"), "needs the folder"),
        (("export", "--with-history", "x.jsonl"), "--all"),
        (("export", "--all", "out", "-w", "shop"), "--workspace"),
        (("export", "-", "--table"), "--table"),
    ):
        refused = cli(*words)
        assert refused.code == 2, words
        assert said in refused.err, words
    assert os.listdir("out") == []
    os.symlink("out", "link")
    for words in (("export", "--all", "link"), ("import", "link")):
        refused = cli(*words)
        assert refused.code == 1
        assert "symbolic link" in refused.err
    assert cli("import", "out").err.startswith("[INVALID_REQUEST] there is no manifest.json and no Markdown file in ")


def test_a_file_above_the_limit_needs_an_option(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> None:
    os.makedirs(cli.home, exist_ok=True)
    (tmp_path / "home" / "config.json").write_text('{"import_max_bytes": 300}')
    told = cli("export", "--all", "out").json
    largest = max(map(len, files_of("out").values()))
    assert (
        f"--max-bytes {max(len(one) for name, one in files_of('out').items() if name != 'manifest.json')}"
        in told["warning"]
    )
    new = tmp_path / "new"
    new.mkdir()
    (new / "config.json").write_text('{"import_max_bytes": 300}')
    refused = cli("--home", str(new), "import", "out")
    assert refused.err.startswith("[FILE_TOO_LARGE] ")
    assert cli("--home", str(new), "import", "out", "--max-bytes", str(largest)).json["imported"]["capsules"] == 1


def test_the_answers_of_both_are_tables_for_people(cli: Cli, auth: dict[str, Any]) -> None:
    assert "capsules   1\n" in cli("export", "--all", "out", "--table").out
    os.makedirs("hand")
    with open("hand/idea.md", "w", encoding="utf-8") as file:
        file.write("---\nlayout: post\n---\nan idea")
    shown = cli("import", "hand", "--table").out
    assert "capsules   1\n" in shown
    assert "UNKNOWN_FIELD" in shown


def test_readable_parts_of_a_damaged_store_are_salvaged(cli: Cli, auth: dict[str, Any]) -> None:
    told = cli("export", "--salvage", "saved").json
    assert (told["counts"]["capsules"], told["unreadable"], told["lost"]) == (1, 0, [])
    assert "unreadable  0\n" in cli("export", "--salvage", "saved", "--table").out
    assert cli("export", "--salvage").code == 2
    assert cli("--home", "none", "export", "--salvage", "saved").err.startswith("[NOT_FOUND] ")


def test_windows_paths_to_a_parent_folder_are_refused_everywhere(cli: Cli, auth: dict[str, Any]) -> None:
    for words in (
        ("export", "--all", "..\\out"), ("export", "--salvage", "..\\out"), ("import", "..\\out"),
        ("export", "--path", "..\\x.jsonl"), ("backup", "..\\x.db"), ("restore-backup", "\\\\host\\x.db"),
        ("record", "migrate", "a\\..\\b"), ("store", "--name", "n", "--file", "..\\x.md"),
        ("graph", "draw", "-w", "w", "--output", "..\\x.svg"),
    ):  # fmt: skip
        refused = cli(*words)
        assert refused.err.startswith("[INVALID_REQUEST] "), (words, refused.err)
        assert refused.code == 1
    assert os.listdir(".") == []


def test_a_missing_folder_is_reported(cli: Cli) -> None:
    refused = cli("import", "gone")
    assert refused.err.startswith("[INVALID_REQUEST] gone is not there; give a folder that"), refused.err
    assert refused.code == 1
