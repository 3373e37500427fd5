"""Eight processes write at once: no write is lost, no call fails on a lock, every name is given once."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from support.mcp_server import MOSS, McpServer
from support.python_process import environment, finish, start
from support.store_truth import capsule, check_truth, events, open_at
from support.thorough import complete_or
from support.timeouts import TIMEOUT_S

ROUNDS = complete_or(15, 7)
CONTESTED = complete_or(10, 5)
SERVERS, COMMANDS, LOOPS = 4, 2, 2
WORKERS = SERVERS + COMMANDS + LOOPS

# Each write opens and closes the store: the last one to leave empties and removes the log.
OPEN_AND_CLOSE = """
import json, sys
from support.store_truth import open_at
from moss_memory.errors import MossError
home, plan = sys.argv[1], json.loads(sys.stdin.readline())
answers = []
for tool, arguments in plan:
    with open_at(home) as store:
        try:
            answers.append(store.call(tool, arguments))
        except MossError as error:
            answers.append(error.payload())
print(json.dumps(answers))
"""


def plan_of(worker: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls of one process: own and shared names, lines in one capsule, a replacement, a deletion."""
    plan: list[tuple[str, dict[str, Any]]] = []
    for number in range(ROUNDS):
        own = f"own {worker}.{number}"
        plan.append(("capsule_store", {"name": own, "capsule_text": capsule(f"word{worker}x{number}")}))
        if number < CONTESTED:
            plan.append(("capsule_store", {"name": f"contested {number}", "capsule_text": capsule()}))
        line = {"name": "shared", "section": "Decisions", "content": f"- line {worker}.{number}."}
        plan.append(("capsule_append", line))
        if number % 5 == 0:
            text = capsule(f"replaced{worker}x{number}")
            plan.append(("capsule_store", {"name": own, "capsule_text": text, "mode": "replace"}))
        if number % 5 == 1:
            plan.append(("capsule_delete", {"name": own}))
    return plan


def serve(home: Path, worker: int) -> list[dict[str, Any]]:
    server = McpServer(home)
    try:
        return [server.call(tool, arguments) for tool, arguments in plan_of(worker)]
    finally:
        server.close()


def loop(home: Path, worker: int) -> list[dict[str, Any]]:
    output = finish(start(OPEN_AND_CLOSE, home), json.dumps(plan_of(worker)) + "\n")
    answers: list[dict[str, Any]] = json.loads(output)
    return answers


def command(home: Path, worker: int) -> list[dict[str, Any]]:
    """Run one `moss` process per write, as a shell script would."""
    answers = []
    for tool, arguments in plan_of(worker):
        text = arguments.get("capsule_text", "")
        options = [f"--{name}={value}" for name, value in arguments.items() if name != "capsule_text"]
        done = subprocess.run(
            [sys.executable, "-c", MOSS, tool.removeprefix("capsule_"), *options],
            input=text,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            cwd=home.parent,
            env=environment(MOSS_HOME=str(home)),
        )
        code = re.match(r"\[([A-Z_]+)\]", done.stderr)
        if done.returncode == 1 and code:
            answers.append({"error": {"code": code[1]}})
        else:
            assert done.returncode == 0, done.stderr
            answers.append(json.loads(done.stdout))
    return answers


def run_all(home: Path) -> list[list[dict[str, Any]]]:
    kinds = [serve] * SERVERS + [command] * COMMANDS + [loop] * LOOPS
    with ThreadPoolExecutor(WORKERS) as pool:
        running = [pool.submit(kind, home, worker) for worker, kind in enumerate(kinds)]
        return [future.result() for future in running]


def test_eight_writing_processes_lose_nothing_and_never_meet_a_lock(home: Path) -> None:
    with open_at(home) as store:
        store.call("capsule_store", {"name": "shared", "capsule_text": capsule()})
    answers = run_all(home)
    acknowledged: Counter[str] = Counter(["capsule_store"])
    winners: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for worker, given in enumerate(answers):
        for (tool, arguments), answer in zip(plan_of(worker), given, strict=True):
            if "error" in answer:
                refused[answer["error"]["code"]] += 1
                assert arguments["name"].startswith("contested"), answer
            else:
                acknowledged[tool] += 1
                winners[arguments["name"]] += arguments["name"].startswith("contested")
    assert set(refused) == {"NAME_ALREADY_EXISTS"}
    assert [winners[f"contested {number}"] for number in range(CONTESTED)] == [1] * CONTESTED
    assert Counter(tool for tool, _ in events(home)) == acknowledged
    check_truth(home)
    with open_at(home) as store:
        check_capsules(store.call("capsule_fetch", {"name": "shared"})["capsule_text"], store.call)


def check_capsules(shared: str, call: Any) -> None:
    """Assert that every acknowledged store, replacement, deletion and appended line is stored once."""
    for worker in range(WORKERS):
        for number in range(ROUNDS):
            assert shared.count(f"- line {worker}.{number}.") == 1
            arguments = {"name": f"own {worker}.{number}", "include_deleted": True}
            found = call("capsule_fetch", arguments)
            word = "replaced" if number % 5 == 0 else "word"
            assert f"{word}{worker}x{number}\n" in found["capsule_text"]
            assert ("deleted_at" in found) == (number % 5 == 1)
