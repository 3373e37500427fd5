"""What the shells offer: commands, options, and after an option only what it can be given."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from moss_memory.surfaces.cli.commands import completion
from support.patience import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shipped_completion_is_not_stale(cli: Cli, shell: str) -> None:
    fresh = completion.script(shell)
    assert cli("completion", shell).out == fresh, "run python -m moss_memory.surfaces.cli.commands.completion"


def offered(cli: Cli, *typed: str) -> set[str]:
    """What bash offers for the last word."""
    words = " ".join(f"'{word}'" for word in typed)
    line = (
        f"{completion.script('bash')}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _moss; echo ${{COMPREPLY[*]}}"
    )
    done = subprocess.run(
        ["bash", "-c", line], env=cli.environment, capture_output=True, timeout=PATIENCE_S, check=True
    )
    assert done.stderr == b""
    return set(done.stdout.decode().split())


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["moss", "sto"], {"store"}),
        (["moss", "fetch", "--na"], {"--name"}),
        (["moss", "fetch", "--no"], {"--no-include-text"}),
        (["moss", "capsule", "bulk"], {"bulk-delete", "bulk-update"}),
        (["moss", "capsule", "store", "--mo"], {"--mode"}),
        (["moss", "import", "--mode", "re"], {"replace", "rename"}),
        (["moss", "store", "--mode", "=", "re"], {"replace"}),
        (["moss", "store", "--mode", "="], {"error", "replace"}),
        (["moss", "completion", "z"], {"zsh"}),
        (["moss", "help", "comp"], {"compose", "completion"}),
        (["moss", "search", "--types", "caps"], {"capsule"}),
        (["moss", "mcp", "--toolsets", "re"], {"reasoning", "record"}),
        (["moss", "tour", "--"], {"--help"}),
        (["moss", "fetch", "--workspace", ""], set()),
        (["moss", "list", "--limit", ""], set()),
        (["moss", "capsule", "fetch", "--name", "--"], set()),
        (["moss", "store", "--allow-thin", "--fi"], {"--file"}),
        (["moss", "his"], {"history"}),
        (["moss", "graph", "con"], {"conflicts", "conflict-show", "conflict-resolve"}),
        (["moss", "graph", "dr"], {"draw"}),
        (["moss", "graph", "conflict-resolve", "CONFLICT-1", "use"], {"use_from", "use_into"}),
        (["moss", "graph", "conflict-resolve", "--resolution", "use_f"], {"use_from"}),
        (["moss", "notes", "show", "--re"], {"--ref"}),
        (["moss", "notes", "show", "-w", ""], set()),
        (["moss", "branch", "checkout", "--bra"], {"--branch"}),
        (["moss", "task", "done", "--path", "not"], set()),
    ],
)
def test_bash_completes(cli: Cli, typed: list[str], expected: set[str]) -> None:
    assert offered(cli, *typed) == expected


@pytest.mark.parametrize("typed", [
    ["store", "--file"], ["import", "--path"], ["import"], ["backup"], ["notes", "add", "--file"],
    ["graph", "draw", "--output"], ["graph", "draw", "-o"],
])  # fmt: skip
def test_bash_offers_files_where_a_file_is_wanted(cli: Cli, tmp_path: Path, typed: list[str]) -> None:
    (tmp_path / "work" / "notes.md").write_text("")
    assert offered(cli, "moss", *typed, "not") == {"notes.md"}


def test_fish_tells_the_commands_of_two_families_apart() -> None:
    script = completion.script("fish")
    assert "__fish_seen_subcommand_from" not in script
    conditions = set(re.findall(r"-n '__moss_on ([^']*)' -l capsule-text", script))
    assert conditions == {'store "capsule store"', 'update "capsule update"'}


def test_fish_offers_what_an_option_can_be_given_and_nothing_else() -> None:
    lines = completion.script("fish").splitlines()
    mode = next(line for line in lines if "__moss_on store " in line and "-l mode " in line)
    assert " -x -a 'error replace'" in mode
    workspace = next(line for line in lines if "__moss_on fetch " in line and "-l workspace " in line)
    assert " -s w -x -d " in workspace
    assert any("__moss_on help' -a " in line and " store" in line for line in lines)
