"""`moss prime`: what is open here, in a few lines, for the start of a session; and what to save before compaction."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.store import Store

from ...fence import Fence, origin, quoted
from ..showing.output import show
from .request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_CHARS = 2_000
_NAME_MAX_CHARS = 100
_UNFOCUSED = ("NOT_FOUND", "INVALID_REQUEST")
"""What radar answers where there is no work to show."""


_REMINDER = """\
Moss: begin the next steps of the summary with this one, unless it was done since the last change: save where the work \
stands with `capsule_store` (workspace {workspace}; Objective, Current status, Decisions, Next actions, Key \
locations, Open questions). Keep the names of capsules, tasks and steps as they are."""
"""Clients give what is printed before compaction to whatever writes the summary; it cannot call tools itself."""


def prime(home: str | None, *, workspace: str | None = None, before_compaction: bool = False) -> int:
    """Print what is open in a workspace inside a fence, in at most 2,000 characters; nothing if nothing is."""
    config = load_settings(home)
    place = workspace or config.workspace or "default"
    if before_compaction:
        show(_REMINDER.format(workspace=quoted(place)))
        return 0
    with Store(config) as store:
        lines = [*_work(store, place), *_handover(store, place)]
    if lines:
        show(_fenced([f"- workspace: {quoted(place, _NAME_MAX_CHARS)}", *lines]))
    return 0


def _fenced(lines: list[str]) -> str:
    """Return the lines inside a fence, as many of them as fit: the end of the fence is never cut off."""
    fence = Fence()
    while True:
        text = f"What is open in Moss. {fence.rule}\n{fence.around(chr(10).join(lines))}"
        if len(text) <= MOST_CHARS:
            return text
        lines = lines[:-1]


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
    """The newest capsule's title, and how to load it; never its text."""
    item = store.call("capsule_latest", {"workspace": workspace})["item"]
    if not item:
        return []
    title = quoted(item["title"] or item["id"])
    return [f"- latest hand-over: {title}, {origin(item)}; load it with capsule_fetch ({_address(item)})"]


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
