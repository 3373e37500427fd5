"""Run trials in sequence and print a table of their attempts and failures."""

from __future__ import annotations

import argparse
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from soak.trial import Trial

Lines = dict[str, Callable[[Path], Trial]]
"""Descriptions of trials, each with a function that gets an empty folder."""


def run_all(lines: Lines, *, program: str, about: str) -> int:
    """Run the requested trials and print the table; return 1 if one failed, else 0."""
    parser = argparse.ArgumentParser(prog=program, description=about)
    parser.add_argument("--only", nargs="+", choices=list(lines), help="run only these")
    print(f"{'what':<40} {'tried':>10} {'failed':>8} {'took':>8}", flush=True)
    failed = 0
    for what in parser.parse_args().only or lines:
        began = time.monotonic()
        trial = _run(lines[what])
        took_s = time.monotonic() - began
        print(f"{what:<40} {trial.tried:>10,} {trial.failed:>8,} {took_s:>6,.0f} s  {trial.note}".rstrip(), flush=True)
        failed += trial.failed
    return 1 if failed else 0


def _run(line: Callable[[Path], Trial]) -> Trial:
    with tempfile.TemporaryDirectory(prefix="moss-trial-") as folder:
        try:
            return line(Path(folder).resolve())
        except Exception as error:
            traceback.print_exc()
            return Trial(1, 1, f"{type(error).__name__}: {error}")
