"""Stores changed at random behind Moss's back: no call on them hangs or fails with an undocumented code."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from soak.trial import Trial

STORES = 2_000
AT_ONCE = 50
"""The number of stores per process: one that hangs costs only the others of its process."""
LIMIT_S = 1_200.0
FIRST = 1_000_000
"""The first seed; the test suite uses others."""


def crafted_stores(folder: Path) -> Trial:
    """Try stores until their number is reached or time is up."""
    deadline = time.monotonic() + LIMIT_S
    failed, tried = 0, 0
    note = ""
    for first in range(FIRST, FIRST + STORES, AT_ONCE):
        if time.monotonic() > deadline:
            note = "time was up"
            break
        words = [sys.executable, "-m", "support.crafted_stores", str(folder), str(first), str(AT_ONCE)]
        done = subprocess.run(words, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
        tried += AT_ONCE
        wrong = {line.partition(":")[0] for line in done.stdout.splitlines()}
        failed += len(wrong) or bool(done.returncode)
        if wrong or done.returncode:
            print(done.stdout[:2_000] or done.stderr[-2_000:], file=sys.stderr)
    return Trial(tried, failed, note)
