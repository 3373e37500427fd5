"""Compare files between a saved commit and the present one: two git processes, and a cache within the process."""

from __future__ import annotations

import os

from .git_process import GitError, tree_entries
from .repository_files import is_object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .git_process import Git
    from .work_tree import WorkTree

_MAX_CACHED = 2_000
_DIRECTORY = b"40000"
_SUBMODULE = b"160000"
REWRITTEN = "the commit is no longer in the history of its branch; it was rebased, amended or dropped"

File = tuple[bytes, bytes]
"""Mode and object id."""


class CommitDistance:
    """The number of commits since a saved one; `why` is the reason if it is unknown."""

    __slots__ = ("commits", "why")

    def __init__(self, commits: int | None, why: str = "") -> None:
        self.commits = commits
        self.why = why


_distances: dict[tuple[str, str, str], CommitDistance] = {}
_files: dict[tuple[str, str], dict[str, File | None]] = {}
"""The requested files by repository and commit; an object never changes."""


def distance(git: Git, tree: WorkTree, head: str, saved: str, branch: str) -> CommitDistance:
    """Return how many commits of the present branch came after a saved one."""
    tip = tree.branch_commit(branch) if branch else ""
    key = (tree.common, f"{saved}..{head}", tip)
    commit_distance = _distances.get(key)
    if commit_distance is None:
        try:
            commit_distance = _count(git, head, saved, tip)
        except GitError as error:
            return CommitDistance(None, str(error))  # another attempt may succeed
        if len(_distances) >= _MAX_CACHED:
            _distances.clear()
        _distances[key] = commit_distance
    return commit_distance


def _count(git: Git, head: str, saved: str, tip: str) -> CommitDistance:
    if not tip or tip == head:
        numbers = git.run("rev-list", "--count", "--left-right", f"{saved}...{head}", "--").split()
        left, right = (int(number) for number in numbers)
        return CommitDistance(None, REWRITTEN) if left else CommitDistance(right)
    # Both branches, without the history of the saved commit: it is in the history of one of them if one of these
    # commits, or a tip, descends from it.
    lines = git.run("rev-list", "--parents", head, tip, f"^{saved}", "--").decode("ascii").splitlines()
    parents = {commit: parent_ids for commit, *parent_ids in map(str.split, lines)}
    if saved not in (head, tip) and not any(saved in parent_ids for parent_ids in parents.values()):
        return CommitDistance(None, REWRITTEN)
    visited, following = set(), [head]
    while following:
        commit = following.pop()
        if commit in parents and commit not in visited:
            visited.add(commit)
            following += parents[commit]
    return CommitDistance(len(visited))


def load_files(git: Git, tree: WorkTree, wanted: dict[str, set[str]]) -> None:
    """Read the entries of all paths in all commits with one process, for `file_of`."""
    if len(_files) >= _MAX_CACHED:
        _files.clear()
    folders: dict[tuple[str, str], list[str]] = {}
    for commit, paths in wanted.items():
        files_by_path = _files.setdefault((tree.common, commit), {})
        for path in sorted(paths - files_by_path.keys()):
            folders.setdefault((commit, os.path.dirname(path)), []).append(path)
    if not folders:
        return
    object_names = b"".join([f"{commit}:{folder}\n".encode("utf-8", "surrogateescape") for commit, folder in folders])
    answer = git.run("cat-file", "--batch", stdin=object_names)
    offset = 0
    for (commit, _), inside in folders.items():
        end = answer.index(b"\n", offset)
        head, offset = answer[offset:end].split(b" "), end + 1
        entries: dict[bytes, File] = {}
        if len(head) == 3 and head[-1].isdigit() and is_object_id(head[0].decode("ascii", "replace")):
            size = int(head[2])
            if head[1] == b"tree":
                content = answer[offset : offset + size]
                entries = {name: (mode, key) for mode, name, key in tree_entries(content, len(commit) // 2)}
            offset += size + 1
        files_by_path = _files[tree.common, commit]
        for path in inside:
            entry = entries.get(os.path.basename(path).encode("utf-8", "surrogateescape"))
            files_by_path[path] = None if entry is None or entry[0] in (_DIRECTORY, _SUBMODULE) else entry


def file_of(tree: WorkTree, commit: str, path: str) -> File | None:
    """Return a file of a commit, None if it is not there; `load_files` has read it."""
    return _files[tree.common, commit].get(path)
