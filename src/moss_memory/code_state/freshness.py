"""Compare the files that a text names with those at the commit at which it was saved."""

from __future__ import annotations

from . import comparison
from .git_process import TOO_LONG, Git, GitError
from .paths_in_text import paths_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .work_tree import CodeState, WorkTree

FRESH, DRIFTED, ORPHANED, UNKNOWN = "fresh", "drifted", "orphaned", "unknown"
STATES = (ORPHANED, DRIFTED, UNKNOWN, FRESH)
"""The worst first."""
NO_COMMIT = "no commit is known at which it was saved"
OTHER_REPOSITORY = "it was saved in another repository"
NO_REPOSITORY = "this process does not run in a git repository"
TURNED_OFF = "the setting record_code is off"


class Freshness:
    __slots__ = ("changed", "commits", "kept", "missing", "paths", "state", "why")

    def __init__(self, state: str, *, commits: int | None = None, paths: int = 0, why: str = "") -> None:
        self.state = state
        self.commits = commits
        self.changed: list[str] = []
        self.missing: list[str] = []
        self.kept: list[str] = []
        """The compared files that did not change."""
        self.paths = paths
        """The number of files that the text names."""
        self.why = why

    @property
    def changed_share(self) -> float:
        return (len(self.changed) + len(self.missing)) / self.paths if self.paths else 0.0

    def to_response(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"state": self.state, "commits": self.commits}
        fields |= {"changed": self.changed, "missing": self.missing}
        return {**fields, "why": self.why} if self.why else fields


def unknown(why: str) -> Freshness:
    return Freshness(UNKNOWN, why=why)


def freshness_of(tree: WorkTree, saved: CodeState, text: str) -> Freshness:
    """Compare the files that a text names between its saved commit and the present one."""
    return freshness_of_all(tree, [(saved, text)])[0]


def freshness_of_all(
    tree: WorkTree, texts: list[tuple[CodeState | None, str]], check: Callable[[], None] | None = None
) -> list[Freshness]:
    """Compare many texts, with one process for all files and one for each saved commit."""
    present = tree.state()
    results = [_without_comparison(present, saved) for saved, _ in texts]
    git = Git(tree.folder)
    paths_by_commit: dict[str, set[str]] = {}
    paths_by_index: dict[int, list[str]] = {}
    for index, (saved, text) in enumerate(texts):
        if results[index] is None and saved is not None and present is not None:
            if check is not None and index % 100 == 0:
                check()
            paths_by_index[index] = paths_in(text, tree.main)
            for commit in (saved.commit, present.commit):
                paths_by_commit.setdefault(commit, set()).update(paths_by_index[index])
    try:
        comparison.load_files(git, tree, paths_by_commit)
    except GitError as error:
        return [unknown(str(error)) if result is None else result for result in results]
    failed = ""
    for index, paths in paths_by_index.items():
        saved = texts[index][0]
        assert saved is not None
        assert present is not None
        if failed:
            results[index] = unknown(failed)
            continue
        since = comparison.distance(git, tree, present.commit, saved.commit, saved.branch)
        failed = since.why if since.why == TOO_LONG else ""
        results[index] = unknown(since.why) if since.why else _compare(tree, saved.commit, present.commit, paths, since)
    return [unknown(NO_COMMIT) if result is None else result for result in results]


def compare_files(tree: WorkTree, saved: CodeState, text: str) -> Freshness:
    """Compare as `freshness_of` does, but look at the files also if the commit is the present one."""
    result = freshness_of(tree, saved, text)
    present = tree.state()
    if result.state == FRESH and present is not None and saved.commit == present.commit:
        try:
            paths = paths_in(text, tree.main)
            comparison.load_files(Git(tree.folder), tree, {present.commit: set(paths)})
        except GitError as error:
            return unknown(str(error))
        return _compare(tree, saved.commit, present.commit, paths, comparison.CommitDistance(0))
    return result


def _without_comparison(present: CodeState | None, saved: CodeState | None) -> Freshness | None:
    """Return a result that needs no comparison, None if one is needed."""
    if present is None:
        return unknown(NO_REPOSITORY)
    if saved is None:
        return unknown(NO_COMMIT)
    if not saved.is_same_repository(present):
        return unknown(OTHER_REPOSITORY)
    if not saved.commit or not present.commit:
        return unknown(NO_COMMIT if not saved.commit else "the present commit cannot be read")
    return Freshness(FRESH, commits=0) if saved.commit == present.commit else None


def _compare(tree: WorkTree, saved: str, head: str, paths: list[str], since: comparison.CommitDistance) -> Freshness:
    result = Freshness(FRESH, commits=since.commits)
    for path in paths:
        before, after = comparison.file_of(tree, saved, path), comparison.file_of(tree, head, path)
        if before is None and after is None:
            continue
        result.paths += 1
        if after is None:
            result.missing.append(path)
        elif before != after:
            result.changed.append(path)
        else:
            result.kept.append(path)
    if result.paths and len(result.missing) == result.paths:
        result.state = ORPHANED
    elif result.changed or result.missing:
        result.state = DRIFTED
    return result
