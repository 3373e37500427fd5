"""`make soak`: long trials of what storage promises, as a table; ends with 1 when anything failed.

A line is a function that gets an empty folder and returns a `Trial`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from soak import callers, crashes, writers
from soak.trial import Trial

LINES: dict[str, Callable[[Path], Trial]] = {
    "writes by 32 processes at once": writers.thirty_two_at_once,
    "holders and waiters killed": writers.killed_in_line,
    "writers killed": crashes.killed_writers,
    "power cuts": crashes.power_cuts,
    "fuzzed calls": callers.fuzzed_calls,
    "links swapped": callers.swapped_links,
}


def main() -> int:
    """Runs what was asked for and prints the table; 0 when nothing failed, else 1."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(LINES), help="run only these")
    print(f"{'what':<40} {'tried':>10} {'failed':>8} {'took':>8}", flush=True)
    failed = 0
    for what in parser.parse_args().only or LINES:
        began = time.monotonic()
        trial = _run(LINES[what])
        took_s = time.monotonic() - began
        print(f"{what:<40} {trial.tried:>10,} {trial.failed:>8,} {took_s:>6,.0f} s  {trial.note}".rstrip(), flush=True)
        failed += trial.failed
    return 1 if failed else 0


def _run(line: Callable[[Path], Trial]) -> Trial:
    with tempfile.TemporaryDirectory(prefix="moss-soak-") as folder:
        try:
            return line(Path(folder).resolve())
        except Exception as error:
            traceback.print_exc()
            return Trial(1, 1, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main())
