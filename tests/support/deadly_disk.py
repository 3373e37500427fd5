"""A script that dies at its n-th step on the disk: at a write, a sync, a removal, or a rename."""

from __future__ import annotations

DEADLY = """
import os, signal, sys
import apsw
left = int(sys.argv[1])

def step():
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

class Deadly(apsw.VFS):
    def __init__(self):
        super().__init__("deadly", "unix", makedefault=True)
    def xOpen(self, name, flags):
        return DeadlyFile(name, flags)
    def xDelete(self, name, sync):
        step()
        super().xDelete(name, sync)

class DeadlyFile(apsw.VFSFile):
    def __init__(self, name, flags):
        super().__init__("unix", name, flags)
    def xWrite(self, data, offset):
        step()
        super().xWrite(data, offset)
    def xSync(self, flags):
        step()
        super().xSync(flags)
    def xTruncate(self, size):
        step()
        super().xTruncate(size)

def deadly(function):
    def dies(*values, **named):
        step()
        answer = function(*values, **named)
        step()
        return answer
    return dies

for name in ("rename", "link", "unlink", "rmdir", "mkdir"):
    setattr(os, name, deadly(getattr(os, name)))
disk = Deadly()
"""
"""The beginning of a script; its arguments follow from `sys.argv[2]` on, and it prints `whole` when it finishes."""
