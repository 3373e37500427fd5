"""`make clients`: run external clients against Moss and print a table; exit with 1 if one fails.

They are installed beside these files at the first run, some hundreds of megabytes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from clients import bundle, conformance, inspector, langgraph_tests, peers, programs
from clients.node import NotHere

LINES: dict[str, Callable[[Path], tuple[int, list[str]]]] = {
    "conformance 2025-11-25": lambda folder: conformance.run("2025-11-25", folder),
    "conformance 2026-07-28": lambda folder: conformance.run("2026-07-28", folder),
    "Inspector over stdio": lambda folder: inspector.run("stdio", folder),
    "Inspector over HTTP": lambda folder: inspector.run("http", folder),
    "MCPB bundle": bundle.run,
    "Claude Code": programs.claude_code,
    "Claude Code's tool search": programs.tool_search,
    "Codex": programs.codex,
    "Gemini CLI": programs.gemini,
    "moss connect, stdio": programs.by_moss_connect,
    "hooks": programs.session_start_hooks,
    "session in a repository": programs.session_in_a_repository,
    "plugin": programs.plugin,
    "server-memory adopted": peers.server_memory,
    "basic-memory adopted": peers.basic_memory,
    "memory-keeper adopted": peers.memory_keeper,
    "task-master adopted": peers.task_master,
    "beads adopted": peers.beads,
    "LangGraph's store tests": langgraph_tests.run,
}


def main() -> int:
    """Run the requested checks and print the table; return 1 if one failed, else 0."""
    parser = argparse.ArgumentParser(prog="make clients", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(LINES), help="run only these")
    print(f"{'client':<26} {'passed':>8} {'failed':>8}", flush=True)
    all_failed = 0
    for name in parser.parse_args().only or LINES:
        try:
            passed, failed = _run(LINES[name])
        except NotHere as why:
            print(f"{name:<26} {'-':>8} {'-':>8}", f"cannot run here: {why}", sep="\n    ", flush=True)
            continue
        print(f"{name:<26} {passed:>8} {len(failed):>8}", *failed, sep="\n    ", flush=True)
        all_failed += len(failed)
    print("\nnot offered by Moss, so not counted:")
    reasons: dict[str, list[str]] = {}
    for what, reason in conformance.NOT_OFFERED.items():
        reasons.setdefault(reason, []).append(what.rstrip("-"))
    for reason, names in reasons.items():
        print(f"  {reason}: {', '.join(names)}")
    return 1 if all_failed else 0


def _run(line: Callable[[Path], tuple[int, list[str]]]) -> tuple[int, list[str]]:
    with tempfile.TemporaryDirectory(prefix="moss-clients-") as folder:
        try:
            return line(Path(folder).resolve())
        except NotHere:
            raise
        except Exception as error:
            traceback.print_exc()
            return 0, [f"{type(error).__name__}: {error}"]


if __name__ == "__main__":
    sys.exit(main())
