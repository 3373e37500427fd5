"""A process that takes the write lock and lets go of it as it is told, and tells when it waits and when it has it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from moss_memory.config import load_config
from moss_memory.storage.engine import Call
from moss_memory.storage.sqlite.lock import WriteLock
from support.python_process import start

# "take" waits for the lock, "go" lets go of it. Killed before the system call of the number that is given, if one is.
USER = """
import os, signal, sys
from moss_memory.errors import MossError
from moss_memory.storage.sqlite import line as line_module, lock as lock_module
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
for module in (line_module, lock_module):
    module.os, module.fcntl = Counted(os), Counted(module.fcntl)
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


def watched(home: object, joined: Any) -> WriteLock:
    """A lock that tells when somebody begins to wait for it in line."""
    lock = WriteLock(str(home))
    join = lock._line.join

    def join_and_tell(room: int) -> Any:
        place = join(room)
        joined()
        return place

    lock._line.join = join_and_tell  # type: ignore[method-assign]
    return lock


def call(cancelled: Any = None, operation: str = "capsule_store") -> Call:
    """A caller of the lock."""
    return Call(
        operation=operation,
        config=load_config(home="/nowhere", cwd="/"),
        clock_ms=lambda: 0,
        new_id=str,
        cancelled=cancelled,
        progress=None,
    )


class LockUser:
    """The process, and what can be asked of it."""

    def __init__(self, home: Path, *, killed_at: int = 0) -> None:
        self.process: subprocess.Popen[str] = start(USER, home, killed_at)
        assert self.hear() == "ready"

    @property
    def pid(self) -> int:
        return self.process.pid

    def tell(self, *words: object) -> None:
        assert self.process.stdin is not None
        print(*words, file=self.process.stdin, flush=True)

    def hear(self) -> str:
        """Its next word; nothing once it is dead."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def hear_in_the_end(self) -> str:
        """Its next word but "waits": one who was passed takes a new place in the line."""
        while (word := self.hear()) == "waits":
            pass
        return word

    def take(self, patience_s: float = 60.0) -> str:
        """Tells it to take the lock; whether it waits or has it."""
        self.tell("take", patience_s)
        return self.hear()

    def let_go(self) -> None:
        self.tell("go")
        assert self.hear() == "let go"

    def stop(self) -> None:
        """Stops it as Ctrl-Z does, and waits until it is."""
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
