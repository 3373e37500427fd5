"""Other memories, written by their own programs and then adopted: rows are counted, and found by a plain query."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clients.node import CACHE, NotHere, environment, installed, node, reason_in

QUESTION = "how often is a failed payment tried again?"
FACT = "A failed payment is tried three times, then parked"
FIRST = 5
"""The number of search results to check: a task is also found through its plan and other tasks."""
MOSS = str(Path(sys.executable).with_name("moss"))


def server_memory(folder: Path) -> tuple[int, list[str]]:
    """Write entities, an observation and a relation through its own tools."""
    program = installed("@modelcontextprotocol/server-memory", "latest") / "dist" / "index.js"
    written = folder / "memory.jsonl"
    entities = [
        {"name": "checkout-service", "entityType": "service", "observations": [FACT]},
        {"name": "Lena_Hart", "entityType": "person", "observations": ["Owns the checkout"]},
    ]
    relation = {"from": "Lena_Hart", "to": "checkout-service", "relationType": "owns"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": entities}),
        ("create_relations", {"relations": [relation]}),
    ]
    _call_tools([node(), str(program)], calls, folder, MEMORY_FILE_PATH=str(written))
    return _adopted("server-memory", written, folder, {"nodes": 2, "edges": 1})


def memory_keeper(folder: Path) -> tuple[int, list[str]]:
    """Write a session with two items, a link between them and an entry in the journal."""
    program = installed("mcp-memory-keeper", "latest") / "dist" / "index.js"
    calls = [
        ("context_session_start", {"name": "checkout"}),
        ("context_save", {"key": "retries", "value": FACT, "category": "decision", "priority": "high"}),
        ("context_save", {"key": "orders", "value": "Orders live in Postgres 17", "category": "note"}),
        ("context_link", {"sourceKey": "retries", "targetKey": "orders", "relationship": "related_to"}),
        ("context_journal_entry", {"entry": "The bank answers within two seconds"}),
    ]
    _call_tools([node(), str(program)], calls, folder, DATA_DIR=str(folder / "data"))
    return _adopted("memory-keeper", folder / "data", folder, {"nodes": 2, "edges": 1, "notes": 1})


def basic_memory(folder: Path) -> tuple[int, list[str]]:
    """Write two notes, one of which links to the other."""
    program = _basic_memory()
    notes = {
        "Checkout service": "# Checkout service\n\n- [fact] Orders live in Postgres 17 #storage\n",
        "Retry policy": f"# Retry policy\n\n- [decision] {FACT} #payments\n\n- part_of [[Checkout service]]\n",
    }
    place = folder / "notes"
    own = {"HOME": str(folder), "BASIC_MEMORY_HOME": str(place), "BASIC_MEMORY_CONFIG_DIR": str(folder / "settings")}
    for title, content in notes.items():
        written = [program, "tool", "write-note", "--title", title, "--folder", "checkout", "--content", content]
        _ran(written, folder, **own)
    return _adopted("basic-memory", place, folder, {"capsules": 2, "nodes": 2, "edges": 1})


def task_master(folder: Path) -> tuple[int, list[str]]:
    """Write two tasks, one with a subtask, one that depends on the other."""
    installed("task-master-ai", "latest")
    program = CACHE / "task-master-ai" / "latest" / "node_modules" / ".bin" / "task-master"
    project = folder / "project"
    tasks = project / ".taskmaster" / "tasks" / "tasks.json"
    tasks.parent.mkdir(parents=True)
    tasks.write_text('{"master": {"tasks": [], "metadata": {}}}')  # only a model or a person begins this file
    lines = [
        ["init", "-y", "--no-git", "--no-aliases", "--skip-install"],
        ["add-task", "--title=Retry payments", f"--description={FACT}"],
        ["add-task", "--title=Park what fails", "--description=After the third try"],
        ["add-subtask", "--parent=1", "--title=Count the tries", "--description=In the order"],
        ["add-dependency", "--id=2", "--depends-on=1"],
    ]
    for line in lines:
        _ran([str(program), *line], project, HOME=str(folder))
    return _adopted("task-master", project, folder, {"plans": 1, "tasks": 2})


def beads(folder: Path) -> tuple[int, list[str]]:
    """Write two issues, exported as its own backup is."""
    program = installed("@beads/bd", "latest") / "bin" / "bd"  # which its package downloads from GitHub
    issues = folder / "issues.jsonl"
    _ran([str(program), "init", "--quiet", "--prefix", "shop"], folder, HOME=str(folder))
    for title, more in (("Retry payments", ["-d", FACT]), ("Park what fails", ["-d", "After the third try"])):
        _ran([str(program), "create", title, *more], folder, HOME=str(folder))
    _ran([str(program), "export", "--all", "-o", str(issues)], folder, HOME=str(folder))
    return _adopted("beads", issues, folder, {"plans": 1, "tasks": 2})


def _adopted(source: str, path: Path, folder: Path, counts: dict[str, int]) -> tuple[int, list[str]]:
    """Assert that the rows are counted, adopted, found, and not adopted twice, and that the source is unchanged."""
    before = _files(path)
    tried = _moss(folder, "adopt", source, str(path), "-w", "shop", "--dry-run")
    taken = _moss(folder, "adopt", source, str(path), "-w", "shop")
    again = _moss(folder, "adopt", source, str(path), "-w", "shop")
    found = _moss(folder, "search", QUESTION)
    checks: dict[str, bool] = {
        f"--dry-run counts {tried['taken']}, not {counts}": tried["taken"] == counts,
        f"took {taken['taken']}, not {counts}": taken["taken"] == counts,
        f"skipped {taken['skipped']}": not taken["skipped"],
        f"took again {again['taken']}": again["taken"] == {},
        f"found {json.dumps(found)[:300]}": "three times" in json.dumps(found["items"][:FIRST]),
        "the source was changed": _files(path) == before,
    }
    return sum(checks.values()), [said for said, holds in checks.items() if not holds]


def _files(path: Path) -> dict[str, bytes]:
    found = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {str(one): one.read_bytes() for one in found}


def _moss(folder: Path, *words: str) -> Any:
    done = _ran([MOSS, *words, "--json"], folder, HOME=str(folder), MOSS_HOME=str(folder / "moss"))
    return json.loads(done)


def _ran(command: list[str], folder: Path, **more: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=300, input=""
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)[:200]}: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout


def _call_tools(command: list[str], calls: list[tuple[str, dict[str, Any]]], folder: Path, **more: str) -> None:
    """Call a server's tools in sequence, each after the previous answer."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "moss", "version": "1"}}
    process = subprocess.Popen(
        command, cwd=folder, env=environment(HOME=str(folder), **more), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        ask = _asking(process)
        ask("initialize", hello)
        for name, arguments in calls:
            answer = ask("tools/call", {"name": name, "arguments": arguments})
            if "error" in answer or answer["result"].get("isError"):
                raise RuntimeError(f"{name}: {json.dumps(answer)[:400]}")
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.terminate()
        process.wait(timeout=30)


def _asking(process: subprocess.Popen[str]) -> Callable[[str, dict[str, Any]], Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    number = 0

    def ask(method: str, params: dict[str, Any]) -> Any:
        nonlocal number
        number += 1
        stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        stdin.flush()
        for line in stdout:
            answer = json.loads(line) if line.startswith("{") else {}
            if answer.get("id") == number:
                return answer
        raise RuntimeError(f"no answer to {method}")

    return ask


def _basic_memory() -> str:
    """Return its command in a separate environment, because it needs a newer Python than Moss."""
    folder = CACHE / "basic-memory"
    if not (folder / "installed").exists():
        subprocess.run([_python("3.12"), "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "basic-memory"]
        done = subprocess.run(pip, capture_output=True, text=True)
        if done.returncode:
            raise NotHere(f"basic-memory cannot be installed: {reason_in(done.stderr)}")
        (folder / "installed").touch()
    return os.path.join(folder, "bin", "basic-memory")


def _python(least: str) -> str:
    """Return a Python of at least that version that starts: this one, one on the path, or one beside this one."""
    named = [shutil.which(f"python3.{minor}") for minor in (14, 13, 12)]
    beside = sorted(Path(sys.base_prefix).resolve().parent.glob("*3.*/bin/python3"), reverse=True)
    asked = f"import sys; sys.exit(sys.version_info < {tuple(map(int, least.split('.')))})"
    for candidate in (sys.executable, *filter(None, named), *map(str, beside)):
        if subprocess.run([candidate, "-c", asked], capture_output=True).returncode == 0:
            return candidate
    raise NotHere(f"needs Python {least}, and none was found")
