"""`python -m orchestrator [home]`: all of it once, on a throw-away store unless a home is given."""

from __future__ import annotations

import os
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

from moss_memory import MossError, open_store

from .client import Artifacts
from .crash import EDITS, die_in_the_middle
from .explorers import context_for_the_stitcher, fan_in, fan_out_in_processes, fan_out_in_threads
from .kinds import DlqEntry, RunRecord, VerifierOutput
from .records import resolved_since, store_round, store_run_record
from .recovery import begin_step, bury, resume, run_step


def explorers(artifacts: Artifacts, home: str) -> None:
    print("threads stored", len(fan_out_in_threads(artifacts, "run-1")))
    print("processes stored", len(fan_out_in_processes(home, "run-2")))
    for run_id in ("run-1", "run-2"):
        files = fan_in(artifacts, run_id)
        print(run_id, "found", len(files), "files, first", files[0]["path"], files[0]["summary"])
    print("stitcher reads", context_for_the_stitcher(artifacts, "run-1").count("## explorer-finding"), "findings")


def recovery(artifacts: Artifacts, home: str, root: str) -> None:
    worker = get_context("spawn").Process(target=die_in_the_middle, args=(home, root))
    worker.start()
    worker.join()
    left = begin_step(artifacts, "run-1", "apply")
    print("worker ended with", worker.exitcode, "after recording", len(left.data["actions"]), "action")
    done = run_step(artifacts, "run-1", "apply", EDITS, Path(root))
    print("step is", done.data["status"], "with", len(done.data["actions"]), "actions, version", done.version)
    try:
        artifacts.update(left, left.data)
    except MossError as error:
        print("the old worker is told", error.code, error.details, "and to call", (error.recovery or {})["tool"])


def dead_letters(artifacts: Artifacts) -> None:
    entry: DlqEntry = {
        "workflow": "feat", "task": "add user auth", "failed_step": "verify-r2",
        "inputs": {"plan_file": "plans/auth.md"}, "retry_count": 2, "last_error": "THRASHING",
        "relevant_files": ["src/auth.ts"],
    }  # fmt: skip
    bury(artifacts, "run-3", entry)
    print("buried again, retries", bury(artifacts, "run-3", entry).data["retry_count"])
    resume(artifacts, "run-3", {"feat": lambda found: print("resumed at", found["failed_step"], found["inputs"])})


def records(artifacts: Artifacts) -> None:
    record: RunRecord = {
        "run_id": "run-1", "status": "OK", "workflow": "feat", "args": {"task": "add user auth"}, "repo_hash": "4f2a",
        "config": {"rounds": 2, "retries": 3, "timeout_ms": 60_000}, "steps": [],
        "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:05:00Z",
    }  # fmt: skip
    print("a success is kept", store_run_record(artifacts, record).ttl_seconds, "seconds")
    failed: RunRecord = {**record, "run_id": "run-3", "status": "FAILED"}
    print("a failure is kept", store_run_record(artifacts, failed).ttl_seconds, "seconds")


def verifier(artifacts: Artifacts) -> None:
    first: VerifierOutput = {
        "verdict": "concerns", "summary": "two things to mend",
        "issues": [
            {"id": "I-1", "file": "token.py", "line": 4, "category": "bug", "message": "reuse", "severity": "error"},
            {"id": "I-2", "file": "replay.py", "category": "test", "message": "untested", "severity": "warning"},
        ],
    }  # fmt: skip
    store_round(artifacts, "run-1", 1, first)
    second: VerifierOutput = {**first, "issues": first["issues"][1:]}
    print("resolved since round 1:", [issue["id"] for issue in resolved_since(artifacts, "run-1", 1, second)])


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        home = sys.argv[1] if len(sys.argv) > 1 else os.path.join(scratch, "home")
        with open_store(home) as store:
            artifacts = Artifacts(store)
            explorers(artifacts, home)
            recovery(artifacts, home, scratch)
            dead_letters(artifacts)
            records(artifacts)
            verifier(artifacts)


if __name__ == "__main__":
    main()
