"""Calls interrupted at a given step, and checks of the store afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from _thread import start_new_thread
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import moss_memory
from moss_memory.errors import MossError
from moss_memory.storage.sqlite.lock import WriteLock
from support.direct_store import rows
from support.python_process import start
from support.store_truth import capsule, check_truth, open_at
from support.timeouts import TIMEOUT_S, wait_until

SOURCE = os.path.dirname(moss_memory.__file__)
LOCKING = tuple(
    os.path.join(SOURCE, "storage", "sqlite", f"{name}.py")
    for name in ("engine", "lock", "readers", "transaction", "waiter")
)
"""The modules in which every opcode is interrupted."""
PYTHON_LOCKS = {"IdSource.__call__"}
"""Functions with a `with` over a lock that is written in C.

A trace function can raise between the end of the block and the release of the lock. No signal handler can: it runs only
after the call that releases the lock.
"""

# Writes what it is told to write, without waiting for the lock unless it is told to wait.
PROBE = """
import sys
from moss_memory.errors import MossError
from support.quick_stores import make_stores
from support.store_truth import capsule, open_at
make_stores(quickly=True)
with open_at(sys.argv[1]) as store:
    print("ready", flush=True)
    for name in sys.stdin:
        try:
            patient = name.startswith("patient")
            store.call("capsule_store", {"name": name.strip(), "capsule_text": capsule()}, wait=patient)
            print("written", flush=True)
        except MossError as error:
            print(error, flush=True)
"""


class Steps:
    """A trace function that raises `KeyboardInterrupt` at one step: a line of Moss, or an opcode of `LOCKING`."""

    def __init__(self, at: int, *, opcodes: bool) -> None:
        self.left = at
        self._opcodes = opcodes
        self._event = "opcode" if opcodes else "line"

    @property
    def has_raised(self) -> bool:
        return self.left <= 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if not (name in LOCKING if self._opcodes else name.startswith(SOURCE)):
            return None
        if frame.f_code.co_qualname in PYTHON_LOCKS:
            return None
        frame.f_trace_opcodes = self._opcodes
        return self._step

    def _step(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == self._event:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._step


def interrupted(call: Callable[[], object], at: int, *, opcodes: bool) -> tuple[bool, BaseException | None]:
    """Make a call, interrupted at a step; return whether it has that step, and the error that it raised."""
    steps = Steps(at, opcodes=opcodes)
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None  # an interrupt in a finalizer cannot be raised
    before = sys.gettrace()  # that of coverage, which would measure nothing more in this process
    sys.settrace(steps)
    try:
        call()
    except (KeyboardInterrupt, MossError) as error:
        return steps.has_raised, error
    finally:
        sys.settrace(before)
        sys.unraisablehook = hook
    return steps.has_raised, None


class Shop:
    """A store whose calls are interrupted, and another process that must be able to write after each of them."""

    def __init__(self, home: Path, *, waits: bool = False) -> None:
        self.home = home
        self.waits = waits
        """Whether calls wait for the lock: the thread of an abandoned wait acquires the lock once more."""
        self.store = open_at(home)
        self.engine: Any = self.store._engine
        self.count = 0
        self.after_call: list[Callable[[], object]] = []
        self.put("first")
        self.store.call("capsule_list", {})
        (home / "exports").mkdir(mode=0o700, exist_ok=True)
        self.process = start(PROBE, home)
        assert self._hear() == "ready"
        self.check()
        self.files = open_files(home)

    def put(self, name: str) -> None:
        self.store.call("capsule_store", {"name": name, "capsule_text": capsule()}, wait=self.waits)

    def _hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def problems(self) -> list[str]:
        """Return everything that an interrupted call has left: locks, transactions, readers in use."""
        self.count += 1
        assert self.process.stdin is not None
        print("patient" if self.waits else "quick", self.count, file=self.process.stdin, flush=True)
        found = [f"another process: {said}"] if (said := self._hear()) != "written" else []
        for place in ("this thread", "another thread"):
            try:
                if place == "this thread":
                    self.put(f"{place} {self.count}")
                else:
                    in_thread(lambda: self.put(f"another thread {self.count}"))
            except MossError as error:
                found.append(f"{place}: {error}")
        if self.engine._writer.in_transaction:
            found.append("a transaction is open")
        return found

    def finish(self) -> None:
        """Release everything that the preparation of a call has acquired."""
        for step in self.after_call:
            step()
        self.after_call.clear()

    def check(self) -> None:
        assert self.problems() == []

    def check_nothing_is_open(self) -> None:
        """Assert that an interrupted call, forgotten by now, has left no reader in use and no file open."""
        assert not self.engine.readers.count_in_use()
        # The thread of a waiter that gave up ends once it gets the lock.
        wait_until(lambda: not open_files(self.home) - self.files, "a file is left open")

    def close(self) -> None:
        self.store.close()
        self.process.communicate(timeout=TIMEOUT_S)


def in_thread(call: Callable[[], object]) -> None:
    """Make a call in a new thread; raise its error here."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except MossError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def open_files(folder: Path) -> Counter[str]:
    """Return the files of a store that this process has open, with their numbers of descriptors."""
    found: Counter[str] = Counter()
    for number in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            continue  # the one by which they are listed
        if path.startswith(os.path.join(folder, "moss.")):
            found[os.path.basename(path)] += 1
    return found


# The calls that are interrupted: each gets the shop and a number, prepares what it needs, and returns the call.


def storing(shop: Shop, number: int) -> Callable[[], object]:
    arguments = {"name": f"stored {number}", "capsule_text": capsule(), "workspace": "stored"}
    return lambda: shop.store.call("capsule_store", arguments)


def reading(shop: Shop, number: int) -> Callable[[], object]:
    return lambda: shop.store.call("capsule_fetch", {"name": "first"})


def searching(shop: Shop, number: int) -> Callable[[], object]:
    if number == 0:
        shop.store.call("capsule_store", {"capsule_text": capsule("quinces"), "workspace": "searched"})
    return lambda: shop.store.call("capsule_search", {"query": "quinces", "workspace": "searched"})


def importing(shop: Shop, number: int) -> Callable[[], object]:
    lines = [
        {"id": f"i{number}.{part}", "workspace_raw": f"import {number}", "name_raw": f"{part}", "capsule_text": "text"}
        for part in range(3)
    ]
    (shop.home / "exports" / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lambda: shop.store.call("capsule_import", {"path": "in.jsonl"})


def purging(shop: Shop, number: int) -> Callable[[], object]:
    for name in ("one", "two"):
        arguments = {"name": name, "capsule_text": capsule(), "workspace": "purged", "mode": "replace"}
        shop.store.call("capsule_store", arguments)
        shop.store.call("capsule_delete", {"name": name, "workspace": "purged"})
    return lambda: shop.store.call("capsule_purge", {"workspace": "purged"})


def waiting(shop: Shop, number: int) -> Callable[[], object]:
    """Make a store wait for a lock that is released as soon as it waits."""
    other = WriteLock(str(shop.home))
    hold = other.new_hold()
    hold.acquire(TIMEOUT_S)
    lock = shop.engine._lock
    new_waiter = type(lock).new_waiter

    def new_and_release() -> Any:
        waiter = new_waiter(lock)
        start_new_thread(hold.release, ())  # an interrupt in `Thread.start` would break the locks of `threading`
        return waiter

    def finish() -> None:
        lock.__dict__.pop("new_waiter", None)
        hold.release()
        other.close()

    lock.new_waiter = new_and_release
    shop.after_call.append(finish)
    return storing(shop, number + 1_000_000)


CALLS = {"store": storing, "read": reading, "search": searching, "import": importing, "purge": purging, "wait": waiting}


def step_through(home: Path, what: str, *, opcodes: bool = False, stride: int = 1) -> int:
    """Interrupt a call at every step, or at every n-th; return how many interrupts there were."""
    shop = Shop(home, waits=what == "wait")
    CALLS[what](shop, 0)()
    shop.finish()
    shop.files |= open_files(home)
    count, at = 0, 1
    while True:
        has_step, error = interrupted(CALLS[what](shop, at), at, opcodes=opcodes)
        shop.finish()
        assert shop.problems() == [], f"{what}, step {at}"  # with the traceback, which keeps all of its frames alive
        if not has_step:
            assert error is None
            break
        assert error is None or isinstance(error, KeyboardInterrupt), f"{what}, step {at}: {error!r}"
        del error
        shop.check_nothing_is_open()
        count += 1
        at += stride
    shop.close()
    check_truth(home)
    check_whole_or_nothing(home)
    return count


def storm(home: Path, count: int, *, seed: int) -> Counter[str]:
    """Interrupt calls at random times by a signal; return how many were interrupted and how many were not."""
    chance = random.Random(seed)  # noqa: S311
    outcomes: Counter[str] = Counter()
    shop = Shop(home, waits=True)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    for what in CALLS:
        CALLS[what](shop, 0)()
        shop.finish()
    shop.files |= open_files(home)
    for number in range(1, count + 1):
        what = chance.choice(["store", "store", "read", "search", "import", "wait", "purge"])
        call = CALLS[what](shop, number)
        error = interrupted_after(call, chance.random() * (0.02 if what == "purge" else 0.0015) + 1e-6)
        shop.finish()
        outcomes["finished" if error is None else "interrupted"] += 1
        problems = shop.problems()
        assert problems == [], f"{what}, number {number}: {problems}"
        del error
        shop.check_nothing_is_open()
    shop.close()
    check_truth(home)
    check_whole_or_nothing(home)
    return outcomes


def interrupted_after(call: Callable[[], object], delay_s: float) -> KeyboardInterrupt | None:
    """Make a call, interrupted by a signal after a while; return the interrupt, if it came in time."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay_s)
            call()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt as error:
        return error
    return None


# In a process of its own: signals reach only the main thread.
STORM = """
import json, sys
from pathlib import Path
from support.interrupts import storm
from support.quick_stores import make_stores
make_stores(quickly=True)
print(json.dumps(storm(Path(sys.argv[1]), int(sys.argv[2]), seed=int(sys.argv[3]))))
"""


def check_whole_or_nothing(home: Path) -> None:
    """Assert that every import is stored whole or not at all."""
    counted = rows(home, "select workspace_raw, count(*) from capsules where workspace_raw like 'import %' group by 1")
    assert {count for _, count in counted} <= {3}, counted
