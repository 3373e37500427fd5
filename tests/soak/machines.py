"""Random changes on two machines that share a git repository, on both engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from soak.trial import Trial

TESTS = Path(__file__).parent.parent
TEST = "sync/test_two_machines.py"
RUNS_OF_ENGINE = 3
"""The number of seeds of the test: 60 turns, and twice 500."""


def random_turns(folder: Path) -> Trial:
    """Assert that both machines end with equal content, no text is lost, and a second sync changes nothing."""
    failed = 0
    for engine in ("sqlite", "postgres"):
        words = ["--thorough", f"--engine={engine}", f"--basetemp={folder / engine}", str(TESTS / TEST)]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--tb=short", *words],
            cwd=TESTS.parent, capture_output=True, text=True, check=False,
        )  # fmt: skip
        found = done.stdout.count("\nFAILED") + done.stdout.count("\nERROR")
        failed += found or bool(done.returncode)
        if done.returncode:
            print(done.stdout[-4_000:], file=sys.stderr)
    return Trial(2 * RUNS_OF_ENGINE, failed, "each with at most 500 turns")
