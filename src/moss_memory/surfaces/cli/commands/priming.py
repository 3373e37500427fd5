"""`moss prime`: what is open here, in a few lines, for the start of a session; and what to save before compaction."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.store import Store
from moss_memory.values import counted, norm

from ..showing.cell import printable
from ..showing.output import show
from .request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_CHARS = 2_000
_TITLE_CHARS = 200
_MOST_WORKSPACES = 500
_MOST_LOOKED_INTO = 20
_MORE = "- and {} more; moss_workspaces lists them"
_UNFOCUSED = ("NOT_FOUND", "INVALID_REQUEST")
"""What radar answers where there is no work to show."""


_REMINDER = """\
Moss: begin the next steps of the summary with this one, unless it was done since the last change: save where the work \
stands with `capsule_store` (workspace {workspace!r}; Objective, Current status, Decisions, Next actions, Key \
locations, Open questions). Keep the names of capsules, tasks and steps as they are."""
"""Clients give what is printed before compaction to whatever writes the summary; it cannot call tools itself."""


def prime(home: str | None, *, workspace: str | None = None, before_compaction: bool = False) -> int:
    """Print what is open in a workspace, in at most 2,000 characters; nothing if nothing is.

    Without a workspace it is that of the repository; if there is none, every workspace with something open has a line.
    """
    config = load_settings(home)
    with Store(config) as store:
        place = workspace or config.workspace or _of_repository(store)
        if before_compaction:
            show(_REMINDER.format(workspace=place or "default"))
            return 0
        told = _one(store, place) if place else _all(store)
    if told:
        show("\n".join(told)[:MOST_CHARS])
    return 0


def _of_repository(store: Store) -> str:
    """Return the workspace that has the name of the repository around the current folder; nothing if there is none."""
    from .work_tree import repository_name

    try:
        name = norm(repository_name())
    except MossError:
        return ""  # no repository, or a folder with a name that no workspace can have
    return next((one for one, _ in _workspaces(store, _MOST_WORKSPACES) if norm(one) == name), "")


def _workspaces(store: Store, most: int) -> list[tuple[str, list[str]]]:
    """Return the workspaces, the last changed first, and the families that each holds."""
    found = store.call("moss_recent", {"limit": most})["workspaces"]
    return [(one["workspace"], one["holds"]) for one in found]


def _one(store: Store, place: str) -> list[str]:
    """Return what is open in one workspace."""
    lines = [*_work(store, place), *_handover(store, place)]
    return [f"Moss, workspace {_short(place)}:", *lines] if lines else []


def _all(store: Store) -> list[str]:
    """Return a line for each workspace with something open, and how many did not fit; one alone is told in full."""
    lines = []
    for workspace, holds in _workspaces(store, _MOST_LOOKED_INTO):
        parts = [*(_open(store, workspace) if "task" in holds else ())]
        if "capsule" in holds:
            parts += [f"latest hand-over: {title} (capsule_fetch {key})" for title, key in _latest(store, workspace)]
        if parts:
            lines.append((workspace, f"- {_short(workspace)}: {'; '.join(parts)}"))
    if len(lines) == 1:
        return _one(store, lines[0][0])
    told = ["Moss, workspaces with something open, the last changed first:"] if lines else []
    room = MOST_CHARS - len(_MORE.format(len(lines))) - 1 - sum(map(len, told))
    for number, (_, line) in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [*told, _MORE.format(len(lines) - number)]
        told.append(line)
    return told


def _open(store: Store, workspace: str) -> list[str]:
    """Return how many tasks and plans of a workspace are open, in words."""
    told = []
    for kind in ("task", "plan"):
        asked = {"workspace": workspace, "kind": kind, "limit": 1}
        pages = [store.call("tasks_list", {**asked, "status": status})["pagination"] for status in ("ACTIVE", "TODO")]
        total = sum(page["total"] for page in pages)
        if total:
            told.append(counted(total, f"open {kind}"))
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
    lines = [f"- open: {target['id']} {_short(target['title'])} ({target['status']})"]
    for name in ("now", "next", "blockers"):
        said = radar.get(name)
        if said:
            lines.append(f"- {name}: {_short(_words(said))}")
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
    key = {"id": item["id"]} if not item.get("name") else {"workspace": workspace, "name": item["name"]}
    return [(_short(item["title"] or item["id"]), ", ".join([f"{name} {value!r}" for name, value in key.items()]))]


def _words(said: Any) -> str:
    """What radar says, in words: a proposed call by its tool and its reason."""
    if isinstance(said, dict):
        return f"{said['tool']}, because {said['reason']}" if said.get("reason") else str(said["tool"])
    return "; ".join(map(str, said)) if isinstance(said, list) else str(said)


def _short(text: str) -> str:
    """A text on one line, cut where it is long; nothing in it steers a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1] + "\u2026"
