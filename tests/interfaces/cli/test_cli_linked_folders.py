"""Commands refuse file arguments below a symbolic link."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.tools.record.spool import MEMORY_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli

COMMANDS = {
    "export": ("export", "--all", "{}/new"),
    "salvage": ("export", "--salvage", "{}/new"),
    "import": ("import", "{}/out"),
    "backup": ("backup", "{}/new.db"),
    "restore-backup": ("restore-backup", "{}/copy.db"),
    "adopt": ("adopt", "markdown", "{}/notes"),
    "adopt a file": ("adopt", "markdown", "{}/notes/a.md"),
    "migrate": ("record", "migrate", "{}/" + MEMORY_FOLDER),
    "a map": ("record", "migrate", "real/" + MEMORY_FOLDER, "--map", "{}/map.json"),
    "draw": ("graph", "draw", "-w", "default", "-o", "{}/new.svg"),
}


def below(folder: str) -> dict[str, bytes]:
    """Return every file below a folder with its content."""
    found = {}
    for above, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(above, name), "rb") as file:
                found[os.path.join(above, name)] = file.read()
    return found


@pytest.fixture
def real(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> Path:
    """Make a folder `real` with an input for every command, and a link to it."""
    real = tmp_path / "work" / "real"
    for folder in ("notes", os.path.join(MEMORY_FOLDER, "releases")):
        (real / folder).mkdir(parents=True)
    (real / "notes" / "a.md").write_text("a note\n")
    (real / MEMORY_FOLDER / "releases" / "r.json").write_text("{}")
    (real / "map.json").write_text("{}")
    assert cli("export", "--all", "real/out").code == 0
    assert cli("backup", "real/copy.db").code == 0
    os.symlink("real", "link")
    return real


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_above_a_named_file_is_refused_before_any_read_or_write(cli: Cli, real: Path, command: str) -> None:
    before = below("real")
    shown = cli("inventory").json
    outcome = cli(*[word.format("link") for word in COMMANDS[command]])
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("[INVALID_REQUEST] ")
    assert f"leads through a symbolic link; name the real folder, {real}/" in outcome.err
    assert below("real") == before
    assert cli("inventory").json == shown


@pytest.mark.parametrize("command", ["export", "import", "backup", "restore-backup"])
def test_files_in_a_home_behind_a_link_are_accepted(cli: Cli, real: Path, command: str) -> None:
    os.rename(real / "out", os.path.join(cli.home, "out"))
    os.rename(real / "copy.db", os.path.join(cli.home, "copy.db"))
    os.symlink(cli.home, "moss")
    outcome = cli(
        *[word.format("moss") for word in COMMANDS[command]], *(["--mode", "replace"] * (command == "import"))
    )
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)
