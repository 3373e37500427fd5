"""`--text` prints exactly the stored text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from support.cli_typist import Cli


@pytest.mark.parametrize("end", ["", "\n", "\r\n", " \n\n"])
def test_a_text_is_piped_out_and_back_byte_for_byte(cli: Cli, capsule: str, end: str) -> None:
    text = capsule.rstrip("\n") + "\nGrüße \U0001f33f \x9b" + end
    stored = cli("store", "--name", "auth", stdin=text).json
    printed = cli("fetch", "auth", "--text").out
    assert printed.encode() == text.encode()
    again = cli("store", "--name", "auth", "--mode", "replace", stdin=printed).json
    assert again["id"] == stored["id"]
    assert cli("fetch", "auth").json["capsule_text"] == text


@pytest.mark.usefixtures("auth")
def test_the_latest_and_a_bundle_are_printed_as_text(cli: Cli, capsule: str) -> None:
    assert cli("latest", "--text").out == capsule
    assert cli("compose", "auth", "--text").out == f"## auth\n\n{capsule}"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["fetch", "auth", "--text", "--table"], 2, "--text and --table"),
        (["fetch", "auth", "--text", "--no-include-text"], 2, "--text prints the text"),
        (["compose", "auth", "--text", "--format", "json"], 2, "--text prints the text"),
        (["list", "--text"], 2, "unknown option --text"),
        (["latest", "--workspace", "empty", "--text"], 1, "[NOT_FOUND] there is nothing yet"),
        (["fetch", "nope", "--text"], 1, "[NOT_FOUND] "),
    ],
)
def test_a_missing_text_is_refused_and_nothing_is_printed(
    cli: Cli, auth: dict[str, Any], words: list[str], code: int, says: str
) -> None:
    outcome = cli(*words)
    assert outcome.code == code
    assert outcome.out == ""
    assert says in outcome.err
