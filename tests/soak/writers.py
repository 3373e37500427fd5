"""Many writers at once, and writers that are killed while they hold the lock or wait for it."""

from __future__ import annotations

import os
import random
import select
import subprocess
import time
from pathlib import Path

from soak.trial import Trial
from support.direct_store import rows
from support.many_writers import write_at_once
from support.python_process import start
from support.store_truth import check_truth

WRITERS, WRITES = 32, 2_000
KILLS = 1_000
AT_ONCE = 8
TIMEOUT_S = 900.0

# Takes the lock again and again. Inside, it puts its number into a file, and must find nobody else's there.
TAKE_TURNS = """
import os, sys
from support.lock_user import SimpleLock
home, number = sys.argv[1], sys.argv[2].encode()
lock = SimpleLock(home)
inside = os.open(os.path.join(home, "inside"), os.O_RDWR | os.O_CREAT, 0o600)
while True:
    lock.acquire(60.0)
    os.pwrite(inside, number, 0)
    for _ in range(20):
        if os.pread(inside, 10, 0) != number:
            print("met another", flush=True)
    lock.release()
    print("turn", flush=True)
"""


def thirty_two_at_once(folder: Path) -> Trial:
    """Assert that every write of every process is stored, none was refused, and no waiter starved."""
    home = folder / "home"
    trial = write_at_once(home, writers=WRITERS, writes=WRITES, timeout_s=TIMEOUT_S)
    kept = len(rows(home, "select 1 from capsules"))
    check_truth(home)
    tried = WRITERS * WRITES
    note = f"{trial.waited:,} waited, {len(trial.overtaken):,} overtaken, by at most {max(trial.overtaken, default=0)}"
    if trial.refused:
        note += f", refused: {dict(trial.refused)}"
    return Trial(tried, max(tried - kept, sum(trial.refused.values())), note)


def killed_in_line(folder: Path) -> Trial:
    """Kill one of eight processes after the other at a random moment; assert that the others continue one at a time."""
    chance = random.Random(13)  # noqa: S311
    turns = met = stuck = 0
    home = folder / "home"
    home.mkdir(mode=0o700)
    running = [start(TAKE_TURNS, home, f"{number:010}") for number in range(AT_ONCE)]
    for number in range(KILLS):
        _wait_a_little(chance)
        victim = running.pop(chance.randrange(AT_ONCE))
        victim.kill()
        said = victim.communicate()[0]
        turns += said.count("turn\n")
        met += said.count("met another")
        running.append(start(TAKE_TURNS, home, f"{AT_ONCE + number:010}"))
    for process in running:  # each that is left must get one more turn
        stuck += not _has_another_turn(process)
        process.kill()
        process.communicate()
    return Trial(KILLS, met + stuck, f"{turns:,} turns of those who were killed")


def _has_another_turn(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    answers = process.stdout.fileno()
    while select.select([answers], [], [], 0)[0]:
        os.read(answers, 65_536)  # turns that it had before
    return bool(select.select([answers], [], [], TIMEOUT_S)[0] and os.read(answers, 65_536))


def _wait_a_little(chance: random.Random) -> None:
    moment = time.perf_counter() + chance.random() * 0.02
    while time.perf_counter() < moment:
        pass  # a sleep would end on the scheduler's beat; this ends anywhere in a turn
