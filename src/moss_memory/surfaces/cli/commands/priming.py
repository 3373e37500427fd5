"""`moss prime`: what is open here, in a few lines, for the start of a session; and what to save before compaction."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.store import Store

from ..showing.cell import printable
from ..showing.output import show
from .request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_CHARS = 2_000
_TITLE_CHARS = 200
_UNFOCUSED = ("NOT_FOUND", "INVALID_REQUEST")
"""What radar answers where there is no work to show."""


_REMINDER = """\
Moss: begin the next steps of the summary with this one, unless it was done since the last change: save where the work \
stands with `capsule_store` (workspace {workspace!r}; Objective, Current status, Decisions, Next actions, Key \
locations, Open questions). Keep the names of capsules, tasks and steps as they are."""
"""Clients give what is printed before compaction to whatever writes the summary; it cannot call tools itself."""


def prime(home: str | None, *, workspace: str | None = None, before_compaction: bool = False) -> int:
    """Prints what is open in a workspace, in at most 2,000 characters; nothing where nothing is."""
    config = load_settings(home)
    place = workspace or config.workspace or "default"
    if before_compaction:
        show(_REMINDER.format(workspace=place))
        return 0
    with Store(config) as store:
        lines = [*_work(store, place), *_handover(store, place)]
    if lines:
        show("\n".join([f"Moss, workspace {place}:", *lines])[:MOST_CHARS])
    return 0


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
    """The newest capsule's title, and how to load it; never its text."""
    item = store.call("capsule_latest", {"workspace": workspace})["item"]
    if not item:
        return []
    key = {"id": item["id"]} if not item.get("name") else {"workspace": workspace, "name": item["name"]}
    address = ", ".join([f"{name} {value!r}" for name, value in key.items()])
    return [f"- latest hand-over: {_short(item['title'] or item['id'])}; load it with capsule_fetch ({address})"]


def _words(said: Any) -> str:
    """What radar says, in words: a proposed call by its tool and its reason."""
    if isinstance(said, dict):
        return f"{said['tool']}, because {said['reason']}" if said.get("reason") else str(said["tool"])
    return "; ".join(map(str, said)) if isinstance(said, list) else str(said)


def _short(text: str) -> str:
    """A text on one line, cut where it is long; nothing in it steers a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1] + "\u2026"
