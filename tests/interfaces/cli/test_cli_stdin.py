"""Text from stdin: read if it is available, and no waiting otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.cli.args import stdin
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli


def text_of(cli: Cli) -> str:
    text: str = cli("fetch", "--name", "auth").json["capsule_text"]
    return text


@pytest.mark.usefixtures("auth")
def test_update_takes_its_text_from_a_file_and_from_a_pipe(cli: Cli, capsule: str, tmp_path: Path) -> None:
    cli("update", "--name", "auth", stdin=capsule + "one\n").json  # noqa: B018
    assert text_of(cli) == capsule + "one\n"
    cli.process("update", "--name", "auth", "--title", "T", stdin=(capsule + "two\n").encode()).json  # noqa: B018
    assert text_of(cli) == capsule + "two\n"
    file = tmp_path / "new.md"
    file.write_text(capsule + "three\n", encoding="utf-8-sig")
    cli("update", "--name", "auth", "--file", str(file)).json  # noqa: B018
    assert text_of(cli) == capsule + "three\n"


@pytest.mark.usefixtures("auth")
def test_update_of_a_title_does_not_wait_for_a_silent_pipe(cli: Cli, capsule: str) -> None:
    reader, writer = os.pipe()
    outcome = cli.process("update", "--name", "auth", "--title", "New", stdin=reader)
    os.close(writer)
    os.close(reader)
    assert outcome.code == 0
    assert "silent" in outcome.err
    assert cli("fetch", "--name", "auth").json["title"] == "New"
    assert text_of(cli) == capsule


@pytest.mark.usefixtures("auth")
@pytest.mark.parametrize("redirect", ["< /dev/null", "<&-"])
def test_update_without_stdin_changes_only_the_given_options(cli: Cli, capsule: str, redirect: str) -> None:
    line = f'"$0" -m moss_memory.cli.main update --name auth --title New {redirect}'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable], env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert cli("fetch", "--name", "auth").json["title"] == "New"
    assert text_of(cli) == capsule


REPORT_READS = """
import os, sys
from moss_memory.cli.main import main
from moss_memory.cli.args import stdin
def report_read(fd, size, read=os.read):
    if fd == 0:
        os.write(2, b"reads\\n")
    return read(fd, size)
os.read = report_read
stdin.PIPE_TIMEOUT_S = 0
sys.exit(main())
"""
"""A program that runs `moss` without a timeout for optional input and reports each read of stdin."""


@pytest.mark.usefixtures("auth")
def test_update_with_only_a_name_waits_for_the_writer_of_its_pipe(cli: Cli, capsule: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", REPORT_READS, "update", "--name", "auth"],
        env=cli.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"reads\n"
    process.communicate((capsule + "late\n").encode(), timeout=TIMEOUT_S)
    assert text_of(cli) == capsule + "late\n"


@pytest.mark.parametrize("words", [["store"], ["update", "--name", "auth"]])
@pytest.mark.usefixtures("auth")
def test_text_that_is_not_utf_8_is_refused(cli: Cli, words: list[str]) -> None:
    outcome = cli(*words, stdin=b"## Objective \xff\xfe")
    assert outcome.code == 1
    assert outcome.err.startswith("[INVALID_REQUEST] stdin is not valid UTF-8")


def test_more_than_eight_mebibytes_are_refused_unread(cli: Cli) -> None:
    outcome = cli("store", stdin=b"x" * (stdin.TEXT_MAX_BYTES + 1))
    assert outcome.code == 1
    assert outcome.err.startswith("[INVALID_REQUEST] stdin holds more than")


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_text_is_refused(cli: Cli, content: bytes) -> None:
    outcome = cli("store", "--name", "x", stdin=content)
    assert outcome.code == 1
    assert outcome.err.startswith("[INVALID_REQUEST] ")


def test_items_can_come_from_stdin(cli: Cli, auth: dict[str, Any]) -> None:
    found = cli("fetch-many", "--items", "@-", stdin='[{"name": "auth"}]').json
    assert [one["id"] for one in found["items"]] == [auth["id"]]


def test_the_data_of_an_artifact_comes_from_stdin_or_a_file(cli: Cli, tmp_path: Path) -> None:
    assert cli("artifact", "store", "--kind", "k", "--name", "a", stdin='{"n": 1}').code == 0
    file = tmp_path / "data.json"
    file.write_text('{"n": 2}', encoding="utf-8")
    assert cli("artifact", "store", "--kind", "k", "--name", "b", "--file", str(file)).code == 0
    assert json.loads(cli("artifact", "fetch", "a").out)["data"] == {"n": 1}
    assert json.loads(cli("artifact", "fetch", "b").out)["data"] == {"n": 2}


def test_data_that_is_not_json_is_refused(cli: Cli) -> None:
    outcome = cli("artifact", "store", "--kind", "k", stdin="nope")
    assert outcome.code == 1
    assert outcome.err.startswith("[INVALID_REQUEST] the data is not valid JSON")
