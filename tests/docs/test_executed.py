"""The commands of the README and the tutorial produce the shown output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from moss_memory.registry.catalog import CORE
from support.terminal_bash import bash_on_terminal
from support.timeouts import TIMEOUT_S

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(path: Path, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(path.read_text(encoding="utf-8")) if kind == language]


def _run(command: list[str], folder: Path, script: str) -> str:
    environment = {**os.environ, "MOSS_HOME": str(folder / "home"), "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, input=script, env=environment, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _shell_of_the_readme() -> str:
    return next(block for block in _blocks(ROOT / "README.md", "sh") if "moss save" in block)


def test_the_first_commands_of_the_readme_work_as_typed(tmp_path: Path) -> None:
    printed = _run(["bash", "-e"], tmp_path, _shell_of_the_readme())
    assert '"moss_capsule":"auth"' in printed.replace(" ", "")
    assert "refresh tokens in Redis" in printed
    assert "<b>refresh</b>" in printed


def test_the_python_code_of_the_readme_prints_the_capsule_saved_in_the_shell(tmp_path: Path) -> None:
    _run(["bash", "-e"], tmp_path, _shell_of_the_readme())
    (python,) = _blocks(ROOT / "README.md", "python")
    assert "add a test for replayed tokens" in _run([sys.executable, "-"], tmp_path, python)


NOT_TYPED = {
    "make run": "it installs packages from the network and then serves until Ctrl-C; the tour and the demonstration "
    "have tests of their own, and the second line is the environment of this test",
}
"""Prefixes of README blocks that no test runs, with the reason."""


def test_every_block_of_the_readme_works_on_a_terminal(tmp_path: Path) -> None:
    blocks = FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    skipped = [next((start for start in NOT_TYPED if body.startswith(start)), "") for _, body in blocks]
    assert sorted(filter(None, skipped)) == sorted(NOT_TYPED), "a block is gone, or written twice"
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    environment = {"HOME": str(tmp_path / "user"), "PATH": f"{BIN}:{os.defpath}", "TERM": "xterm", "LANG": "C.UTF-8"}
    (tmp_path / "user").mkdir()
    screens = []
    for (language, body), start in zip(blocks, skipped, strict=True):
        if not start:
            script = body if language == "sh" else f"python - <<'END'\n{body}END\n"
            code, shown = bash_on_terminal(script, folder, environment)
            assert (language in ("sh", "python"), code) == (True, 0), shown
            screens.append(shown)
    first, connected, python = screens
    assert first.startswith("Saved default/auth, version 1.\n")
    assert "The workspace of this repository is now shop" in connected
    assert (tmp_path / "user" / ".claude.json").read_text().count(str(BIN / "moss")) == 1
    assert "- add a test for replayed tokens" in python
    short = str(tmp_path)  # a path of pytest can be wider than a terminal
    assert [line for line in "".join(screens).splitlines() if len(line) > 80 and short not in line] == []


def test_the_tutorial_works_as_typed_from_top_to_bottom(tmp_path: Path) -> None:
    blocks = _blocks(ROOT / "docs" / "tutorial.md", "sh")
    script = "\n".join(block for block in blocks if "mktemp" not in block)
    printed = _run(["bash", "-e"], tmp_path, script)
    assert '"replaced":true' in printed.replace(" ", "")
    assert '"parts_count":2' in printed.replace(" ", "")
    assert '"purged":' in printed.replace(" ", "")


def test_the_refusal_in_the_tutorial_is_the_printed_one(tmp_path: Path) -> None:
    (console,) = _blocks(ROOT / "docs" / "tutorial.md", "console")
    command, expected = console.strip().removeprefix("$ ").split("\n", 1)
    environment = {**os.environ, "MOSS_HOME": str(tmp_path), "PATH": f"{BIN}:{os.environ['PATH']}"}
    assert bash_on_terminal(command, tmp_path, environment) == (1, f"{expected}\n")


def test_the_terminal_output_in_the_readme_and_the_tutorial_is_exact(tmp_path: Path) -> None:
    tutorial = ROOT / "docs" / "tutorial.md"
    home = str(tmp_path / "home")
    environment = {**os.environ, "MOSS_HOME": home, "HOME": home, "PATH": f"{BIN}:{os.environ['PATH']}"}
    code, shown = bash_on_terminal(_shell_of_the_readme(), tmp_path, environment)
    assert code == 0, shown
    assert shown.startswith("Saved default/auth, version 1.\n")
    assert 'Added to "Next actions" of default/auth, version 2.' in shown
    steps = [block for block in _blocks(tutorial, "sh") if "mktemp" not in block and "moss purge" not in block]
    code, shown = bash_on_terminal("\n".join(steps), tmp_path, environment)
    assert code == 0, shown
    for answer in _blocks(tutorial, "text"):
        assert answer in shown
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_the_questions_on_the_page_of_search_by_meaning_have_the_shown_answers(tmp_path: Path) -> None:
    script = "\n".join(_blocks(ROOT / "docs" / "how-to" / "search-by-meaning.md", "sh"))
    printed = [json.loads(line) for line in _run(["bash", "-e"], tmp_path, script).splitlines()]
    found = [answer["items"][0]["title"] for answer in printed if "items" in answer]
    assert found == ["sessions", "backups", "sessions"]
    assert printed[-1] == {"indexed": 0, "pending": 0}


def test_a_key_is_refused_and_found_as_documented(tmp_path: Path) -> None:
    script = "\n".join(_blocks(ROOT / "docs" / "how-to" / "keep-secrets-out.md", "sh"))
    refused, stored, *report = _run(["bash", "-e"], tmp_path, script).splitlines()
    assert refused == "refused"
    assert json.loads(stored)["version"] == 1
    assert any("line 1, column 12, looks like a credential (aws-access-key)" in line for line in report)
    assert not list(tmp_path.rglob("note.md")), "the example left its file"
    assert not list(tmp_path.rglob("moss.db")), "the example left a key in a store"


def test_erased_text_is_gone_as_documented(tmp_path: Path) -> None:
    script = "\n".join(_blocks(ROOT / "docs" / "how-to" / "take-something-out.md", "sh"))
    _, counted, done, said = _run(["bash", "-e"], tmp_path, script).splitlines()
    told = _blocks(ROOT / "docs" / "how-to" / "take-something-out.md", "json")
    assert json.loads(counted) == json.loads(told[0])
    assert json.loads(done)["complete"] is True
    assert said == "nowhere any more"


@pytest.mark.parametrize("page", ["back-up.md", "move.md"])
def test_every_moss_command_in_a_how_to_exists(page: str, tmp_path: Path) -> None:
    text = "\n".join(_blocks(ROOT / "docs" / "how-to" / page, "sh"))
    commands = set(re.findall(r"^moss ([a-z-]+)", text, re.MULTILINE))
    assert commands
    for command in commands:
        assert "usage" in _run([str(BIN / "moss"), command, "--help"], tmp_path, "").lower()


def test_the_core_on_the_page_is_the_listed_core() -> None:
    page = (ROOT / "docs" / "how-to" / "connect.md").read_text(encoding="utf-8")
    table = page.partition("| to | tools |")[2].partition("\n\n")[0]
    told = re.findall(r"`(\w+_\w+)`", table)
    assert sorted(told) == sorted(CORE)


@pytest.mark.parametrize("page", ["two-machines.md", "memory-in-the-repository.md"])
def test_the_pages_about_sync_work_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "t")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "t@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    printed = _run(["bash", "-e"], tmp_path, "\n".join(_blocks(ROOT / "docs" / "how-to" / page, "sh")))
    if page == "two-machines.md":
        assert '"address": "shop/auth"' in printed
        assert '"reverted_to": 2' in printed
        laptop = next((tmp_path / "laptop").glob("capsules/shop/auth.md")).read_text()
        assert "PostgreSQL" in laptop
    else:
        assert "short sessions" in printed
        assert '"taken": 1' in printed
