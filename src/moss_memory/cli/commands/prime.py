"""`moss prime`: what is open here, in a few lines, for the start of a session; and what to save before compaction."""

from __future__ import annotations

from moss_memory.cli.render.output import show
from moss_memory.errors import MossError
from moss_memory.mcp.fence import Fence, origin, quoted
from moss_memory.rows.names import normalize_workspace, pluralize
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_CHARS = 2_000
_NAME_MAX_CHARS = 100
_MOST_WORKSPACES = 500
_MOST_LOOKED_INTO = 20
_MORE = "- and {} more; moss_workspaces lists them"
_UNFOCUSED = ("NOT_FOUND", "INVALID_REQUEST")
"""What radar answers where there is no work to show."""


_REMINDER = """\
Moss: begin the next steps of the summary with this one, unless it was done since the last change: save where the work \
stands with `capsule_store` (workspace {workspace}; Objective, Current status, Decisions, Next actions, Key \
locations, Open questions). Keep the names of capsules, tasks and steps as they are."""
"""Clients give what is printed before compaction to whatever writes the summary; it cannot call tools itself."""


def prime(home: str | None, *, workspace: str | None = None, before_compaction: bool = False) -> int:
    """Print what is open in a workspace inside a fence, in at most 2,000 characters; nothing if nothing is.

    Without a workspace it is that of the repository; if there is none, every workspace with something open has a line.
    """
    config = load_settings(home)
    with Store(config) as store:
        place = workspace or config.workspace or _of_repository(store)
        if before_compaction:
            show(_REMINDER.format(workspace=quoted(place or "default")))
            return 0
        lines = _one(store, place) if place else _all(store)
    if lines:
        show(_fenced(lines))
    return 0


def _fenced(lines: list[str]) -> str:
    """Return the lines inside a fence, as many of them as fit: the end of the fence is never cut off."""
    fence = Fence()
    shown, left_out = lines, 0
    while True:
        told = [*shown, _MORE.format(left_out)] if left_out else shown
        text = f"What is open in Moss. {fence.rule}\n{fence.around(chr(10).join(told))}"
        if len(text) <= MOST_CHARS:
            return text
        shown, left_out = shown[:-1], left_out + 1


def _of_repository(store: Store) -> str:
    """Return the workspace that has the name of the repository around the current folder; nothing if there is none."""
    from .git_work_tree import repository_name

    try:
        name = normalize_workspace(repository_name())
    except MossError:
        return ""  # no repository, or a folder with a name that no workspace can have
    return next((one for one, _ in _workspaces(store, _MOST_WORKSPACES) if normalize_workspace(one) == name), "")


def _workspaces(store: Store, most: int) -> list[tuple[str, list[str]]]:
    """Return the workspaces, the last changed first, and the families that each holds."""
    found = store.call("moss_recent", {"limit": most})["workspaces"]
    return [(one["workspace"], one["holds"]) for one in found]


def _one(store: Store, place: str) -> list[str]:
    """Return what is open in one workspace."""
    lines = [*_work(store, place), *_handover(store, place)]
    return [f"- workspace: {quoted(place, _NAME_MAX_CHARS)}", *lines] if lines else []


def _all(store: Store) -> list[str]:
    """Return a line for each workspace with something open; if there is only one, return all that is open in it."""
    lines = {}
    for workspace, holds in _workspaces(store, _MOST_LOOKED_INTO):
        parts = _open(store, workspace) if "task" in holds else []
        if "capsule" in holds:
            parts += [
                f"latest hand-over: {title} (capsule_fetch {address})" for title, address in _latest(store, workspace)
            ]
        if parts:
            lines[workspace] = f"- workspace {quoted(workspace, _NAME_MAX_CHARS)}: {'; '.join(parts)}"
    return _one(store, *lines) if len(lines) == 1 else list(lines.values())


def _open(store: Store, workspace: str) -> list[str]:
    """Return how many tasks and plans of a workspace are open, in words."""
    told = []
    for kind in ("task", "plan"):
        asked = {"workspace": workspace, "kind": kind, "limit": 1}
        pages = [store.call("tasks_list", {**asked, "status": status})["pagination"] for status in ("ACTIVE", "TODO")]
        total = sum(page["total"] for page in pages)
        if total:
            told.append(pluralize(total, f"open {kind}"))
    return told


def _work(store: Store, workspace: str) -> list[str]:
    """Where the focus, or the obvious task, stands, and what comes next."""
    try:
        told = store.call("tasks_radar", {"workspace": workspace, "max_chars": MOST_CHARS})
    except MossError as error:
        if error.code in _UNFOCUSED:
            return []
        raise
    target, radar = told["target"], told["radar"]
    lines = [f"- open: {target['id']} {quoted(target['title'])} ({target['status']})"]
    for name in ("now", "next", "blockers"):
        said = radar.get(name)
        if said:
            lines.append(f"- {name}: {quoted(_words(said))}")
    return lines


def _handover(store: Store, workspace: str) -> list[str]:
    """The newest capsule's title, and how to load it."""
    found = _latest(store, workspace)
    return [f"- latest hand-over: {title}; load it with capsule_fetch ({address})" for title, address in found]


def _latest(store: Store, workspace: str) -> list[tuple[str, str]]:
    """Return the title of the newest capsule, if there is one, and its address; never its text."""
    item = store.call("capsule_latest", {"workspace": workspace})["item"]
    if not item:
        return []
    return [(f"{quoted(item['title'] or item['id'])}, {origin(item)}", _address(item))]


def _address(item: dict[str, Any]) -> str:
    """Return the arguments that load a capsule: its names if they are short and plain, else its id."""
    names = {"workspace": item["workspace"], "name": item.get("name") or ""}
    shown = {key: quoted(value, _NAME_MAX_CHARS) for key, value in names.items()}
    if not names["name"] or any(shown[key] != f'"{value}"' for key, value in names.items()):
        return f"id {quoted(item['id'])}"
    return ", ".join([f"{key} {value}" for key, value in shown.items()])


def _words(said: Any) -> str:
    """What radar says, in words: a proposed call by its tool and its reason."""
    if isinstance(said, dict):
        return f"{said['tool']}, because {said['reason']}" if said.get("reason") else str(said["tool"])
    return "; ".join(map(str, said)) if isinstance(said, list) else str(said)
