"""A worker that crashes in the middle of a step, for the demonstration."""

from __future__ import annotations

import os
from pathlib import Path

from moss_memory import open_store

from .client import Artifacts
from .kinds import StepResult
from .recovery import Edit, apply_edit, begin_step

EDITS = [Edit("token.py", "rotate = True\n"), Edit("session.py", "ttl_s = 900\n"), Edit("replay.py", "seen = {}\n")]
EXIT_CODE = 9


def die_in_the_middle(home: str, root: str) -> None:
    """Make and record one edit, make the second, and exit before it is recorded."""
    artifacts = Artifacts(open_store(home))
    progress = begin_step(artifacts, "run-1", "apply")
    recorded: StepResult = {**progress.data, "actions": [apply_edit(EDITS[0], Path(root))]}
    artifacts.update(progress, recorded)
    apply_edit(EDITS[1], Path(root))
    os._exit(EXIT_CODE)
