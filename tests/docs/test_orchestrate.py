"""The code of the how-tos for orchestrators runs and has the documented results."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from moss_memory import open_store
from support.timeouts import TIMEOUT_S

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
EXAMPLES = ROOT / "docs" / "examples"
PYTHON_PAGE = ROOT / "docs" / "how-to" / "orchestrate-python.md"
JAVASCRIPT_PAGE = ROOT / "docs" / "how-to" / "orchestrate-javascript.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NODE_OLDEST = 20


def _blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    return [found for found in FENCE.findall(page.read_text(encoding="utf-8")) if found[0] in languages]


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "MOSS_HOME": str(folder / "home"), "PATH": f"{BIN}:{os.environ['PATH']}"}


def _start(script: str, folder: Path, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", "-e", "-c", script],
        env=_environment(folder),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _run(script: str, folder: Path, cwd: Path) -> str:
    process = _start(script, folder, cwd)
    stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, f"{script}\n{stdout}\n{stderr}"
    return stdout


@pytest.fixture(scope="session")
def node() -> str:
    """Return a recent Node, installed if possible, never skipped."""
    if shutil.which("node") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "--yes", "--quiet", "nodejs"], capture_output=True, check=False)
    found = shutil.which("node")
    if found is None:
        pytest.fail(f"node is missing; install Node {NODE_OLDEST} or newer to run the JavaScript example")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < NODE_OLDEST:
        pytest.fail(f"{found} is {version}; the JavaScript example needs Node {NODE_OLDEST} or newer")
    return found


@pytest.mark.parametrize(
    ("page", "language", "sources"),
    [(PYTHON_PAGE, "python", "orchestrator/*.py"), (JAVASCRIPT_PAGE, "js", "javascript/*.mjs")],
    ids=["python", "javascript"],
)
def test_every_code_block_of_a_how_to_is_part_of_the_running_example(page: Path, language: str, sources: str) -> None:
    files = [path.read_text(encoding="utf-8") for path in EXAMPLES.glob(sources)]
    shown = [body for _, body in _blocks(page, language)]
    assert len(shown) >= 9
    for body in shown:
        method = indent(body, "    " if language == "python" else "  ")
        assert any(body in file or method in file for file in files), f"no example holds this:\n{body}"


@pytest.fixture(scope="module")
def printed_by_python(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Run the Python example as documented, from the root of the checkout, and return its output."""
    (command,) = [body for _, body in _blocks(PYTHON_PAGE, "sh") if "-m orchestrator" in body]
    return _run(command, tmp_path_factory.mktemp("python"), ROOT).splitlines()


def test_twenty_workers_in_threads_and_in_processes_lose_nothing(printed_by_python: list[str]) -> None:
    assert printed_by_python[:2] == ["threads stored 20", "processes stored 20"]


def test_fan_in_keeps_the_most_relevant_mention_of_each_file_first(printed_by_python: list[str]) -> None:
    expected = "found 21 files, first src/session.py where tokens are rotated"
    assert printed_by_python[2:4] == [f"run-1 {expected}", f"run-2 {expected}"]


def test_a_model_gets_all_findings_in_one_text(printed_by_python: list[str]) -> None:
    assert printed_by_python[4] == "stitcher reads 20 findings"


def test_a_step_continues_where_its_killed_worker_stopped(printed_by_python: list[str]) -> None:
    assert printed_by_python[5:7] == [
        "worker ended with 9 after recording 1 action",
        "step is OK with 3 actions, version 5",
    ]


def test_an_outdated_worker_cannot_write_and_gets_a_recovery(printed_by_python: list[str]) -> None:
    told = "the old worker is told VERSION_MISMATCH {'expected': 2, 'actual': 5} and to call artifact_fetch"
    assert printed_by_python[7] == told


def test_a_dead_letter_counts_its_retries_and_is_routed_by_its_data(printed_by_python: list[str]) -> None:
    assert printed_by_python[8:10] == [
        "buried again, retries 3",
        "resumed at verify-r2 {'plan_file': 'plans/auth.md'}",
    ]


def test_failures_are_kept_longer_than_successes(printed_by_python: list[str]) -> None:
    assert printed_by_python[10:12] == ["a success is kept 604800 seconds", "a failure is kept 2592000 seconds"]


def test_a_verifier_sees_changes_since_its_last_round(printed_by_python: list[str]) -> None:
    assert printed_by_python[12:] == ["resolved since round 1: ['I-1']"]


@pytest.fixture(scope="module")
def javascript_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("javascript")


@pytest.fixture(scope="module")
def reported_by_javascript(node: str, javascript_home: Path) -> dict[str, Any]:
    """Run the JavaScript example as documented, from the root of the checkout, and return its report."""
    (command,) = [body for _, body in _blocks(JAVASCRIPT_PAGE, "sh")]
    assert command.startswith("node ")
    report: dict[str, Any] = json.loads(_run(command.replace("node", node, 1), javascript_home, ROOT))
    return report


def test_javascript_fans_out_and_in_over_mcp(reported_by_javascript: dict[str, Any]) -> None:
    files = reported_by_javascript["files"]
    assert reported_by_javascript["stored"] == 20
    assert files[0] == {"path": "src/session.ts", "relevance": "high", "summary": "where tokens are rotated"}
    assert len(files) == len({file["path"] for file in files}) == 21
    assert reported_by_javascript["context"].count("## explorer-finding: code-explorer (run-1-area-") == 20


def test_javascript_continues_where_a_worker_stopped(reported_by_javascript: dict[str, Any]) -> None:
    step = reported_by_javascript["step"]
    assert step["status"] == "OK"
    assert [action["action_id"] for action in step["actions"]] == ["token.ts", "session.ts", "replay.ts"]
    assert [action["op"] for action in step["actions"]] == ["create", "edit", "create"]


def test_javascript_remembers_rounds_and_resumes_dead_letters(reported_by_javascript: dict[str, Any]) -> None:
    assert [issue["id"] for issue in reported_by_javascript["resolved"]] == ["I-1"]
    assert reported_by_javascript["resumed"] == "verify-r2 with plans/auth.md"


def test_of_two_javascript_writers_one_wins_and_the_other_recovers(reported_by_javascript: dict[str, Any]) -> None:
    race = reported_by_javascript["race"]
    assert race["refused"].startswith("[VERSION_MISMATCH] counters/builds is at version 2, not 1")
    assert race["details"] == {"expected": 1, "actual": 2}
    assert (race["count"], race["version"]) == (2, 3)


@pytest.mark.usefixtures("reported_by_javascript")
def test_python_reads_data_stored_by_javascript(javascript_home: Path) -> None:
    with open_store(str(javascript_home / "home")) as store:
        findings = store.artifact_list(run_id="run-1", kind="explorer-finding", limit=100)["items"]
        records = store.artifact_list(workspace="runs")["items"]
        assert len(findings) == 20
        assert {item["ttl_seconds"] for item in findings} == {3600}
        assert {item["name"]: item["ttl_seconds"] for item in records} == {"run-1": 604_800, "run-2": 2_592_000}
        assert store.artifact_list(workspace="dlq")["items"] == []


def _shell_pieces() -> list[tuple[str, str]]:
    """Return the how-to's shell blocks after the example, in order."""
    return [piece for piece in _blocks(PYTHON_PAGE, "sh", "console") if "-m orchestrator" not in piece[1]]


def test_the_shell_commands_of_the_how_to_have_the_shown_answers(tmp_path: Path) -> None:
    answers, refusals = [], 0
    for language, body in _shell_pieces():
        if language == "sh":
            answers += [json.loads(line) for line in _run(body, tmp_path, tmp_path).splitlines()]
            continue
        command, expected = body.removeprefix("$ ").split("\n", 1)
        process = _start(command, tmp_path, tmp_path)
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, stdout, stderr) == (1, "", expected)
        refusals += 1
    assert refusals == 1
    assert answers[1]["items"][0]["data"]["files"][0]["summary"] == "where tokens are rotated"
    assert [answer["version"] for answer in answers[2:]] == [1, 2, 2, 3]


def test_of_two_concurrent_terminals_one_succeeds_and_the_other_gets_a_command_to_type(tmp_path: Path) -> None:
    (first,) = [body for _, body in _shell_pieces() if body.count("\n") == 1 and "expected-version" not in body]
    (command,) = [body for kind, body in _shell_pieces() if kind == "sh" and "--expected-version 1" in body]
    _run(first, tmp_path, tmp_path)
    terminals = [_start(command, tmp_path, tmp_path) for _ in range(2)]
    said = [terminal.communicate(timeout=TIMEOUT_S) for terminal in terminals]
    assert sorted(terminal.returncode for terminal in terminals) == [0, 1]
    refusal = next(stderr for stdout, stderr in said if not stdout)
    assert refusal.startswith("[VERSION_MISMATCH] counters/builds is at version 2, not 1")
    advice = refusal.splitlines()[1].removeprefix("try: ")
    shown = json.loads(_run(advice, tmp_path, tmp_path))
    assert (shown["version"], shown["data"]) == (2, {"count": 1})
