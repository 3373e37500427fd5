"""A process that acquires and releases the write lock on command, and reports when it waits and when it has it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from moss_memory.config import load_config
from moss_memory.storage.call import CallContext
from moss_memory.storage.sqlite.lock import Hold, Waiter, WriteLock
from support.python_process import start

# "take" waits for the lock, "go" lets go of it. Killed before the system call of the number that is given, if one is.
USER = """
import os, signal, sys
from moss_memory.errors import MossError
from moss_memory.storage.files import private_files
from moss_memory.storage.sqlite import lock as lock_module
from support.lock_user import watched

home, killed_at = sys.argv[1], int(sys.argv[2])
calls = 0

class Counted:
    def __init__(self, module):
        self.module = module
    def __getattr__(self, name):
        found = getattr(self.module, name)
        if isinstance(found, (int, type)) or not callable(found):
            return found
        def counted(*arguments):
            global calls
            calls += 1
            if calls == killed_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return found(*arguments)
        return counted

lock = watched(home, lambda: print("waits", flush=True))
print("ready", flush=True)
lock_module.os = private_files.os = Counted(os)
lock_module.fcntl = Counted(lock_module.fcntl)
for word in sys.stdin:
    if word.startswith("take"):
        try:
            lock.acquire(float(word.split()[1]))
            print("has it", flush=True)
        except MossError as error:
            print(error.code, flush=True)
    else:
        lock.release()
        print("let go", flush=True)
"""


class SimpleLock:
    """A write lock with at most one hold at a time."""

    def __init__(self, home: object) -> None:
        self.lock = WriteLock(str(home))
        self._held: Hold | None = None

    def acquire(self, timeout_s: float, call: CallContext | None = None) -> None:
        hold = self.lock.new_hold()
        hold.acquire(timeout_s, call)
        self._held = hold

    def release(self) -> None:
        held, self._held = self._held, None
        assert held is not None
        held.release()

    def holder(self) -> dict[str, Any] | None:
        return self.lock.holder()

    def close(self) -> None:
        self.lock.close()


def watched(home: object, waits: Callable[[], object]) -> SimpleLock:
    """Return a lock that reports each wait right before it begins."""
    lock = SimpleLock(home)
    new_waiter = lock.lock.new_waiter

    def new_and_tell() -> Waiter:
        waiter = new_waiter()
        waits()
        return waiter

    lock.lock.new_waiter = new_and_tell  # type: ignore[method-assign]
    return lock


def call(cancelled: Any = None, operation: str = "capsule_store") -> CallContext:
    """Return a call context."""
    return CallContext(
        operation=operation,
        config=load_config(home="/nowhere", cwd="/"),
        clock_ms=lambda: 0,
        new_id=str,
        cancelled=cancelled,
        progress=None,
    )


class LockUser:
    """The process, and commands to it."""

    def __init__(self, home: Path, *, killed_at: int = 0) -> None:
        self.process: subprocess.Popen[str] = start(USER, home, killed_at)
        assert self.hear() == "ready"

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def answers(self) -> int:
        """Return the descriptor of its reports."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def tell(self, *words: object) -> None:
        assert self.process.stdin is not None
        print(*words, file=self.process.stdin, flush=True)

    def hear(self) -> str:
        """Return its next report; an empty one once it is dead."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def hear_in_the_end(self) -> str:
        """Return its next report except "waits", because a waiter that finds a new lock file waits again."""
        while (word := self.hear()) == "waits":
            pass
        return word

    def take(self, timeout_s: float = 60.0) -> str:
        """Make it acquire the lock; return whether it waits or has it."""
        self.tell("take", timeout_s)
        return self.hear()

    def let_go(self) -> None:
        self.tell("go")
        assert self.hear() == "let go"

    def stop(self) -> None:
        """Stop it by SIGSTOP, and wait until it is stopped."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> LockUser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # it died before it read what was told
