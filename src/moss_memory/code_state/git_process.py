"""Run git commands so that nothing in a repository can make git run a program, within a time limit.

The environment is built anew, so no setting of the caller's reaches git. `PATH` is empty, so git finds no program to
run, not even itself. Every setting of the repository that names a program is overridden, and the repository has to pass
git's check of its owner.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_S = 1.0
"""For all processes of a call."""
TOO_LONG = "it took too long"
_NULL_DEVICE = os.devnull
_ENVIRONMENT = {
    "PATH": "/nonexistent",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_EXEC_PATH": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": _NULL_DEVICE,
    "GIT_CONFIG_GLOBAL": _NULL_DEVICE,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": _NULL_DEVICE,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # an older git fetches missing objects in spite of the variable above
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/nonexistent",
    "GIT_SSH_COMMAND": "/nonexistent",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "",
    "GIT_EDITOR": "/nonexistent",
    "GIT_FLUSH": "1",
}
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/nonexistent", "core.pager=", "core.sshCommand=/nonexistent",
    "core.alternateRefsCommand=", "core.askPass=", "credential.helper=", "diff.external=", "protocol.allow=never",
    "core.attributesFile=/dev/null", "core.useReplaceRefs=false", "gc.auto=0", "maintenance.auto=false",
)  # fmt: skip
_FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin", "/bin")
"""Folders in which git is searched besides the user's `PATH`."""


class GitError(Exception):
    """The failure of a git command, with a short reason."""


def find_git() -> str:
    """Return the path of git; raise `GitError` if there is none. Folders of `PATH` that are relative do not count."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), *_FOLDERS]
    for folder in folders:
        path = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise GitError("git is not installed")


class Git:
    """The git commands of one work tree, with a common time limit."""

    def __init__(self, folder: str, limit_s: float = LIMIT_S) -> None:
        self._folder = folder
        self._until_s = time.monotonic() + limit_s
        self.started = 0
        """The number of processes that were started."""

    def run(self, *args: str, stdin: bytes = b"") -> bytes:
        """Return the output of one command; raise `GitError` if it fails or takes too long."""
        import subprocess  # only a comparison needs it

        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise GitError(TOO_LONG)
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        command = [find_git(), "--no-pager", "--no-replace-objects", "-C", self._folder, *settings, *args]
        self.started += 1
        try:
            process = subprocess.run(
                command, input=stdin, capture_output=True, env=_ENVIRONMENT, timeout=left_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise GitError(TOO_LONG) from None
        except OSError:
            raise GitError("git cannot be started") from None
        if process.returncode != 0:
            raise GitError(_reason(process.stderr))
        return process.stdout


def _reason(message: bytes) -> str:
    if b"dubious ownership" in message or b"safe.directory" in message or b"unsafe repository" in message:
        return "git refuses the repository, because another user owns it"
    if any(sign in message for sign in (b"bad object", b"bad revision", b"Invalid symmetric", b"missing", b"promisor")):
        return "the commit is not in this clone"
    return "git cannot read the repository"


def tree_entries(tree: bytes, id_bytes: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield mode, name and object id of each entry of a tree object."""
    offset = 0
    while offset < len(tree):
        end = tree.index(b"\0", offset)
        mode, _, name = tree[offset:end].partition(b" ")
        offset = end + 1 + id_bytes
        yield mode, name, tree[end + 1 : offset]
