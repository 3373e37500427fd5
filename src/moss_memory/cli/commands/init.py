"""`moss init`: create a workspace for the current repository."""

from __future__ import annotations

import json
import os

from moss_memory.cli.render.output import warn
from moss_memory.code_state.work_tree import repository_name, work_tree_of
from moss_memory.config import parse_config_file, resolve_home, setting_problem
from moss_memory.errors import invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILE = os.path.join(".moss", "config.json")
MEMORY_FOLDER = ".moss/memory"
"""The folder of a repository's memory, relative to the repository."""


def init(
    home: str | None, *, workspace: str | None = None, memory_in_repo: bool = False, dry_run: bool = False
) -> dict[str, Any]:
    """Write the workspace into `.moss/config.json` of the repository; keep every other setting in that file.

    With `memory_in_repo`, also set the folder that `moss sync` uses here.
    """
    work_tree = work_tree_of()
    if work_tree is None:
        raise invalid_request(
            "the current folder is not in a git repository. Run `git init` first, or choose a workspace for all "
            "folders: moss config set workspace NAME"
        )
    folder = work_tree.folder
    if os.path.realpath(os.path.join(folder, ".moss")) == resolve_home(home):
        raise invalid_request(f"{folder} is your home folder; run this inside a project")
    path = os.path.join(folder, _FILE)
    present = _read(path)
    chosen = workspace or present.get("workspace") or repository_name()
    problem = setting_problem("workspace", chosen)
    if problem:
        raise invalid_request(f"{str(chosen)[:100]!r} must be {problem}; choose one with --workspace", path="workspace")
    settings = {**present, "workspace": chosen, **({"sync_folder": MEMORY_FOLDER} if memory_in_repo else {})}
    changed = settings != present
    if changed and not dry_run:
        _write(path, settings)
    return {
        "workspace": chosen,
        "file": path,
        "changed": changed,
        "dry_run": dry_run,
        **({"sync_folder": settings["sync_folder"]} if "sync_folder" in settings else {}),
        "connect": _unconnected_clients(),
    }


def _read(path: str) -> dict[str, Any]:
    """Return the settings of the file; refuse a file that is not a JSON object."""
    if not os.path.lexists(path):
        return {}
    settings, problem = parse_config_file(path)
    if problem:
        raise invalid_request(f"{path}: {problem}; correct or remove the file", path="file")
    return settings


def _write(path: str, settings: dict[str, Any]) -> None:
    """Write the file, which others share and git tracks, with the usual mode of new files; follow no link."""
    parent = os.path.dirname(path)
    if os.path.islink(parent) or os.path.islink(path):
        raise invalid_request(f"{parent if os.path.islink(parent) else path} is a link; remove it first", path="file")
    temporary = f"{path}.{os.urandom(8).hex()}.part"
    try:
        os.makedirs(parent, exist_ok=True)
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(json.dumps(settings, ensure_ascii=False, indent=2) + "\n")
        os.replace(temporary, path)
    except OSError as error:
        raise invalid_request(f"{path} cannot be written: {error.strerror}", path="file") from None
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _unconnected_clients() -> list[str]:
    from .connect_command import list_clients

    try:
        return [row["client"] for row in list_clients()["clients"] if row["found"] and row["connected"] == "no"]
    except OSError as error:
        warn(f"the clients on this machine could not be read: {error.strerror}")
        return []


def init_text(report: dict[str, Any], *, width: int) -> str:
    from moss_memory.cli.render.cell import printable, wrap_text

    name, file = printable(str(report["workspace"])), printable(report["file"])
    if report["dry_run"] and report["changed"]:
        first = f"A dry run: the workspace of this repository would be {name}, written to {file}."
    elif report["changed"]:
        first = f"The workspace of this repository is now {name}, written to {file}."
    else:
        first = f"The workspace of this repository is {name} already; nothing was changed."
    second = (
        "Agents and commands use it everywhere in the repository, unless they name another workspace; commit the file, "
        "and every clone and worktree uses it too."
    )
    lines = [*wrap_text(first, width), *wrap_text(second, width)]
    if "sync_folder" in report:
        third = f"`moss sync` keeps the workspace as files in {printable(report['sync_folder'])}."
        lines += wrap_text(third, width)
    if report["connect"]:
        lines += ["", "Not connected yet:", *(f"  moss connect {client}" for client in report["connect"])]
    return "\n".join(lines)
