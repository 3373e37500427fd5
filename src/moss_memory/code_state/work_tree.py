"""Repository, branch and commit of a folder, read from files; cached as long as these files stay the same."""

from __future__ import annotations

import os
import time

from .repository_files import is_object_id, read_file, read_line
from .repository_id import local_path, origin_id, read_git_config, root_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Signature = tuple[int, int, int, int] | None

NAME_MAX_CHARS = 255
_DISCOVERY_S = 1.0
"""The lifetime of a cached location of a repository."""
_MAX_CACHED = 32
PACKED_REFS_BYTES = 32 << 20
"""A larger file is not read."""
_DEEPEST_REF = 5
"""The maximum length of a chain of symbolic references."""
_REF_MAX_CHARS = 1_000
_MOST_CLONES = 5
"""The maximum length of a chain of clones, each with the path of the next as its `origin`."""


class CodeState:
    """The repository, branch and commit of a change; unknown parts are empty."""

    __slots__ = ("aliases", "branch", "commit", "repository", "repository_id")

    def __init__(
        self,
        repository: str,
        repository_id: str = "",
        branch: str = "",
        commit: str = "",
        aliases: tuple[str, ...] = (),
    ) -> None:
        self.repository = repository
        self.repository_id = repository_id
        self.branch = branch
        self.commit = commit
        self.aliases = aliases
        """Further ids that this repository had or could have had; known of the present one only, never stored."""

    def shares_id(self, other: CodeState) -> bool:
        """Return True if both are of one repository by an id; if one has none, by name."""
        own_ids, other_ids = self.ids, other.ids
        return bool(own_ids & other_ids) if own_ids and other_ids else self.repository == other.repository

    def is_same_repository(self, other: CodeState) -> bool:
        """Return True if both are of one repository: by id, or by name if their ids cannot be compared.

        A repository that was given an `origin` has another kind of id from then on.
        """
        own_id, other_id = self.repository_id, other.repository_id
        if own_id and own_id == other_id:
            return True
        if own_id and other_id and own_id.partition("-")[0] == other_id.partition("-")[0]:
            return self.shares_id(other)
        return self.repository == other.repository or self.shares_id(other)

    @property
    def ids(self) -> set[str]:
        return {key for key in (self.repository_id, *self.aliases) if key}

    def to_response(self) -> dict[str, str]:
        """Return the known parts, as `saved_in` has them."""
        parts = {"repository": self.repository, "branch": self.branch, "commit": self.commit}
        return {name: value for name, value in parts.items() if value}

    def in_file(self) -> dict[str, str]:
        """Return the known parts, as files of capsules have them."""
        return {**self.to_response(), "repository_id": self.repository_id}


class WorkTree:
    """A work tree of a repository: its folders, and its present state."""

    __slots__ = ("_origin", "_signatures", "_state", "common", "configured", "folder", "git", "main", "reftable")

    def __init__(self, folder: str, git: str, common: str) -> None:
        self.folder = folder
        self.git = git
        """The folder with its `HEAD`."""
        self.common = common
        """The folder with the files that all work trees share."""
        self.main = ""
        """The main work tree; for a bare repository its own folder."""
        self.reftable = False
        self.configured: Signature = None
        """The configuration that was read."""
        self._origin, work_tree = self._configured()
        self.main = self._main_work_tree(work_tree)
        self._signatures: list[tuple[str, Signature]] = []
        self._state: CodeState | None = None

    def state(self) -> CodeState | None:
        """Return the present state; None if the repository cannot be read any more."""
        if self._state is not None:
            for path, old_signature in self._signatures:
                if signature(path) != old_signature:
                    break
            else:
                return self._state
        self._read()
        return self._state

    def branch_commit(self, branch: str) -> str:
        """Return the commit of a branch, empty if it is not there."""
        return "" if self.reftable else References(self.git, self.common).resolve(f"refs/heads/{branch}")[1]

    def _read(self) -> None:
        head = os.path.join(self.git, "HEAD")
        before = signature(head)
        name = clean_name(os.path.basename(self.main))
        if not name or before is None:
            self._state = None
            return
        refs = References(self.git, self.common)
        branch = commit = ""
        if not self.reftable:
            ref, commit = refs.resolve("HEAD")
            branch = clean_name(ref.removeprefix("refs/heads/")) if ref.startswith("refs/heads/") else ""
        key = self._id(refs.read)
        self._signatures = list(refs.read.items())
        self._state = CodeState(name, key, branch, commit, (root_id(self.common), self._path_id()))

    def _id(self, read: dict[str, Signature]) -> str:
        """Return the id of the repository, and add the files that it depends on to `read`.

        It is the hash of the `origin` URL. If `origin` is a local path, it is the id of the repository at that path, so
        that clones share one id. Without `origin`, it is the id of the root commit, else of the path.
        """
        chain: dict[str, WorkTree] = {}
        tree, path = self, ""
        while len(chain) < _MOST_CLONES:
            chain[tree.common] = tree
            if not tree._origin:
                return tree._own_id()
            path = local_path(tree._origin, tree.main)
            if not path:
                return origin_id(tree._origin, tree.main)
            path = os.path.realpath(path)
            cloned = repository_at(path)
            if cloned is None:
                break
            if cloned.common in chain:  # clones that name each other
                circle = list(chain)[list(chain).index(cloned.common) :]
                return chain[min(circle)]._own_id()
            read[os.path.join(cloned.common, "config")] = cloned.configured
            tree = cloned
        return origin_id(path, "/")

    def _own_id(self) -> str:
        return root_id(self.common) or self._path_id()

    def _path_id(self) -> str:
        return origin_id(os.path.realpath(self.main), "/")

    def _configured(self) -> tuple[str, str]:
        """Return the URL of `origin` and the configured work tree; note how references are stored."""
        config = os.path.join(self.common, "config")
        self.configured = signature(config)
        urls: list[str] = []
        work_tree = ""
        self.reftable = False
        for section, key, value in read_git_config(config):
            if section == "remote.origin" and key == "url":
                urls.append(value)
            elif section == "core" and key == "worktree":
                work_tree = value
            elif section == "extensions" and key == "refstorage":
                self.reftable = value.lower() not in ("files", "")
        return urls[0] if urls else "", work_tree

    def _main_work_tree(self, configured: str) -> str:
        if self.git == self.common:
            return self.folder
        if configured:  # of a submodule, whose repository is inside of another
            return os.path.normpath(os.path.join(self.common, configured))
        if os.path.basename(self.common) == ".git":
            return os.path.dirname(self.common)
        return self.common.removesuffix(".git")


class References:
    """The references of a repository: those of one work tree in `own`, all others in `common`."""

    def __init__(self, own: str, common: str) -> None:
        self._own = own
        self._common = common
        self.read: dict[str, Signature] = {}
        """The files that were read or missed: the answer is the same as long as they are."""

    def resolve(self, name: str) -> tuple[str, str]:
        """Return the last name that a reference leads to and its object id, each empty if it is unknown."""
        for _ in range(_DEEPEST_REF):
            line = self._loose(name)
            if not line.startswith("ref:"):
                return name, line if is_object_id(line) else self._packed(name)
            name = line[4:].strip()
            if not is_reference(name):
                return "", ""
        return "", ""

    def _loose(self, name: str) -> str:
        is_own = name == "HEAD" or name.startswith(("refs/bisect/", "refs/worktree/", "refs/rewritten/"))
        path = os.path.join(self._own if is_own else self._common, name)
        self.read[path] = signature(path)  # before it is read: a change meanwhile is seen later
        return read_line(path)

    def _packed(self, name: str) -> str:
        if name == "HEAD":
            return ""
        path = os.path.join(self._common, "packed-refs")
        self.read[path] = signature(path)
        content = read_file(path, PACKED_REFS_BYTES) or b""
        line_end = b" " + os.fsencode(name) + b"\n"
        position = (content + b"\n").find(line_end)
        begin = content.rfind(b"\n", 0, position) + 1
        commit = content[begin:position].decode("ascii", "replace") if position >= 0 else ""
        return commit if is_object_id(commit) else ""


def is_reference(name: str) -> bool:
    """Return True if a name is one of a reference that can be a file below the repository."""
    parts = name.split("/")
    return (
        parts[0] == "refs"
        and len(parts) > 2
        and len(name) <= _REF_MAX_CHARS
        and all(part and not part.startswith(".") and not part.endswith(".lock") for part in parts)
        and name.isprintable()
    )


def signature(path: str) -> Signature:
    """Return the identity of a file's content as far as its status shows; None if there is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def clean_name(raw: str) -> str:
    """Return a name without control characters and halves of characters, at most 255 characters."""
    text = raw
    if not raw.isprintable():
        whole = raw.encode("utf-8", "replace").decode()
        text = "".join([character for character in whole if character.isprintable()])
    return text[:NAME_MAX_CHARS].strip()


def find_work_tree(folder: str) -> WorkTree | None:
    """Return the work tree that a folder is in; None if there is none that can be read."""
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            if os.path.isfile(os.path.join(git, "HEAD")):
                return WorkTree(folder, git, git)
        elif os.path.lexists(git):
            return _linked(folder, git)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def repository_at(path: str) -> WorkTree | None:
    """Return the repository that git clones from a path: a work tree, or a bare one; None if there is none."""
    for folder in (path, f"{path}.git"):
        if os.path.lexists(os.path.join(folder, ".git")):
            return find_work_tree(folder)
        if os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects")):
            main = os.path.dirname(folder) if os.path.basename(folder) == ".git" else folder
            return WorkTree(main, folder, folder)
    return None


def _linked(folder: str, link: str) -> WorkTree | None:
    """Return the work tree whose `.git` is a file: a linked one, or a submodule."""
    key, _, target = read_line(link).partition("gitdir:")
    if key or not target.strip():
        return None
    own = os.path.normpath(os.path.join(folder, target.strip()))
    if not os.path.isfile(os.path.join(own, "HEAD")):
        return None
    shared = read_line(os.path.join(own, "commondir"))
    common = os.path.normpath(os.path.join(own, shared)) if shared else own
    return WorkTree(folder, own, common) if os.path.isdir(common) else None


_known: dict[str, tuple[float, Any]] = {}
"""The work tree of each folder, and until when it counts."""


def work_tree_of(folder: str | None = None) -> WorkTree | None:
    """Return the work tree of a folder, or of the current one; None if there is none."""
    try:
        folder = os.path.realpath(folder) if folder is not None else os.getcwd()
    except (OSError, ValueError):
        return None
    now = time.monotonic()
    until, tree = _known.get(folder, (0.0, None))
    if now >= until:
        tree = _same_or_new(tree, find_work_tree(folder))
        if len(_known) >= _MAX_CACHED:
            _known.clear()
        _known[folder] = now + _DISCOVERY_S, tree
    result: WorkTree | None = tree
    return result


def _same_or_new(old: WorkTree | None, new: WorkTree | None) -> WorkTree | None:
    """Return the cached work tree if it is still the current one."""
    if old is None or new is None:
        return new
    same = (old.folder, old.git, old.common, old.configured) == (new.folder, new.git, new.common, new.configured)
    return old if same else new


def repository_name() -> str:
    """Return the repository of the current folder, by the name that all its work trees share; empty if none."""
    state = code_state_of()
    return "" if state is None else state.repository


def code_state_of(folder: str | None = None) -> CodeState | None:
    """Return repository, branch and commit of a folder, or of the current one; None outside of a work tree."""
    tree = work_tree_of(folder)
    return None if tree is None else tree.state()
