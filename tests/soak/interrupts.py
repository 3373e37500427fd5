"""Calls that are interrupted by signals at random times."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from soak.trial import Trial
from support.interrupts import STORM
from support.python_process import run

INTERRUPTS, A_PROCESS = 20_000, 500


def interrupted_calls(folder: Path) -> Trial:
    """Assert that after each interrupt every process can write at once, and no file is open or half written."""
    interrupted = finished = failed = 0
    for number in range(INTERRUPTS // A_PROCESS):
        try:
            outcomes = json.loads(run(STORM, folder / str(number), A_PROCESS, number))
        except (AssertionError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"process {number}: {error}")
            continue
        interrupted += outcomes["interrupted"]
        finished += outcomes["finished"]
    return Trial(INTERRUPTS, failed, f"{interrupted:,} interrupted, {finished:,} finished before")
