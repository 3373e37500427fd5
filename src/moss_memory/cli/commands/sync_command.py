"""`moss sync`: folder and store agree; with `--git` the folder's repository is committed, pulled and pushed."""

from __future__ import annotations

import os

from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import progress_for
from moss_memory.errors import MossError, invalid_request
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.config import Config

_ATTEMPTS = 5
"""The maximum number of attempts if others push at the same time."""
_COUNTS = ("taken", "written", "deleted", "restored", "erased")
_LISTS = ("conflicts", "findings")


def sync(
    home: str | None,
    *,
    folder: str | None = None,
    workspace: list[str] | None = None,
    dry_run: bool = False,
    ours: bool = False,
    theirs: bool = False,
    git: bool = False,
) -> dict[str, Any]:
    """Sync a folder, and its git repository if requested."""
    if ours and theirs:
        raise UsageError("--ours and --theirs contradict each other", command="sync")
    if git and dry_run:
        raise UsageError("--git commits and pushes; a dry run does neither", command="sync")
    config = load_settings(home)
    target, workspaces = (folder, workspace) if folder is not None else _configured(config, workspace)
    progress = progress_for("sync")
    settle = "ours" if ours else "theirs" if theirs else ""
    with Store(config, actor="cli") as store:

        def run() -> dict[str, Any]:
            return store.sync(target, workspaces=workspaces, dry_run=dry_run, settle=settle, progress=progress)

        try:
            return _with_git(target, run) if git else run()
        except KeyboardInterrupt:
            raise MossError("CANCELLED", "interrupted; the next `moss sync` continues") from None
        finally:
            if progress is not None:
                progress.clear()


def _configured(config: Config, workspaces: list[str] | None) -> tuple[str, list[str] | None]:
    """Return the folder of the configuration; that of a repository is for its workspace only."""
    if not config.sync_folder:
        raise UsageError("give a folder, or set one with `moss config set sync_folder FOLDER`", command="sync")
    if config.sources["sync_folder"] == os.path.join(config.home, "config.json"):
        return config.sync_folder, workspaces
    if not config.workspace:
        raise invalid_request(
            f"{config.sources['sync_folder']} sets sync_folder but no workspace; a repository's folder is for one "
            "workspace, so set `workspace` there too"
        )
    return config.sync_folder, workspaces or [config.workspace]


def _with_git(folder: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Pull first, so that the sync sees the changes of both sides and git rarely has to merge; then push."""
    from moss_memory.transfer.sync.git_repository import GitRepository

    repository = GitRepository(os.path.expanduser(folder))
    git_report = {"committed": repository.commit("Change the memory by hand"), "pulled": False, "pushed": False}
    total: dict[str, Any] = {}
    for _ in range(_ATTEMPTS):
        if repository.has_remote:
            repository.pull()
            git_report["pulled"] = True
        total = _add(total, run())
        git_report["committed"] = repository.commit("Sync the memory") or git_report["committed"]
        if not repository.has_remote or repository.push():
            git_report["pushed"] = repository.has_remote
            return {**total, "git": git_report}
    raise MossError("STORAGE_BUSY", "others pushed at the same time; run `moss sync --git` again")


def _add(total: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    summed = {key: total.get(key, 0) + answer[key] for key in _COUNTS}
    joined = {key: total.get(key, []) + answer.get(key, []) for key in _LISTS if total.get(key) or answer.get(key)}
    return {**answer, **summed, **joined}
