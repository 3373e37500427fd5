"""`moss prime`: a summary of open work for the start of a session, and a reminder before compaction."""

from __future__ import annotations

import os

from moss_memory.cli.render.output import show_message, warn
from moss_memory.errors import MossError
from moss_memory.mcp.text_fence import Fence, origin, quote_line
from moss_memory.rows.names import pluralize
from moss_memory.store import Store
from moss_memory.tools.capsule.capsule_code_state import MOST_DRIFT_CHARS, describe_drift

from .command_request import load_settings
from .current_workspace import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MOST_CHARS = 2_000
_NAME_MAX_CHARS = 100
_MAX_QUERIED = 20
_PROJECT_VARIABLES = {"cursor": "CURSOR_PROJECT_DIR"}
"""The environment variable in which a client names the folder of the project."""
_UNFOCUSED = ("NOT_FOUND", "INVALID_REQUEST")
"""Error codes of radar if there is no work to show."""


_REMINDER = """\
Moss: begin the next steps of the summary with this one, unless it was done since the last change: save the state \
of the work with `capsule_store` (workspace {workspace}; Objective, Current status, Decisions, Next actions, Key \
locations, Open questions). Keep the names of capsules, tasks and steps as they are."""
"""Printed before compaction, for the model that writes the summary; it cannot call tools."""


def prime(
    home: str | None, *, workspace: str | None = None, before_compaction: bool = False, client: str = "claude-code"
) -> int:
    """Print the open work of a workspace in a fence, at most 2,000 characters; nothing if there is none.

    The default workspace is that of the repository; if there is none, print a line for each workspace with open work.
    `client` is the program whose hook reads the output.
    """
    _enter_project(client)
    config = load_settings(home)
    if not config.has_store() and not before_compaction:
        return 0
    with Store(config, actor="cli") as store:
        project = project_of(store)
        chosen = workspace or project.workspace
        if before_compaction:
            show_message(_for_client(client, "compaction", _REMINDER.format(workspace=quote_line(chosen or "default"))))
            return 0
        text = prime_text(store, chosen, client, others=() if workspace else project.others)
    if text:
        show_message(text)
    return 0


def _enter_project(client: str) -> None:
    """Change to the folder of the project, if the client names it; other clients start their hooks there.

    Cursor starts the hooks of a user in `~/.cursor`.
    """
    folder = os.environ.get(_PROJECT_VARIABLES.get(client, ""))
    if folder:
        try:
            os.chdir(folder)
        except (OSError, ValueError):
            warn(f"{_PROJECT_VARIABLES[client]} names a folder that cannot be entered; using the current one")


def prime_text(store: Store, workspace: str, client: str, *, others: Sequence[str] = ()) -> str:
    """Return the open work of a workspace, or of all if it is empty, as the hook of a client reads it.

    `others` are the repositories that wrote to the workspace, if this one did not.
    """
    lines = _workspace_lines(store, workspace) if workspace else _overview_lines(store)
    if lines and others:
        names = ", ".join(quote_line(name, _NAME_MAX_CHARS) for name in others)
        lines.append(f"- this workspace was written from another repository: {names}; `moss where` explains")
    return _for_client(client, "start", _fence(lines)) if lines else ""


def _for_client(client: str, moment: str, text: str) -> str:
    """Return the text in the format that the hooks of a client read: plain text, or JSON with one member."""
    if client == "claude-code":
        return text
    import json

    if moment == "compaction":
        # These clients add nothing to the summary: the reminder goes to the user.
        return json.dumps({"user_message" if client == "cursor" else "systemMessage": text}, ensure_ascii=False)
    if client == "cursor":
        return json.dumps({"additional_context": text}, ensure_ascii=False)
    specific = {"hookEventName": "SessionStart", "additionalContext": text}
    return json.dumps({"hookSpecificOutput": specific}, ensure_ascii=False)


def _fence(lines: list[str]) -> str:
    """Return the lines in a fence, as many as fit; the end of the fence is never cut."""
    fence = Fence()
    shown_lines, left_out = lines, 0
    while True:
        printed = [*shown_lines, f"- and {left_out} more; moss_workspaces lists them"] if left_out else shown_lines
        text = f"What is open in Moss. {fence.rule}\n{fence.around(chr(10).join(printed))}"
        if len(text) <= MOST_CHARS:
            return text
        shown_lines, left_out = shown_lines[:-1], left_out + 1


def _workspace_lines(store: Store, workspace: str) -> list[str]:
    lines = [*_work_lines(store, workspace), *_capsule_lines(store, workspace)]
    return [f"- workspace: {quote_line(workspace, _NAME_MAX_CHARS)}", *lines] if lines else []


def _overview_lines(store: Store) -> list[str]:
    """Return a line for each workspace with open work; if there is only one, all of its open work."""
    lines = {}
    last_saved = ""
    workspaces = store.call("moss_recent", {"limit": _MAX_QUERIED})["workspaces"]
    if len(workspaces) == 1:
        return _workspace_lines(store, workspaces[0]["workspace"])
    for row in workspaces:
        workspace, families = row["workspace"], row["holds"]
        parts = _open_counts(store, workspace) if "task" in families else []
        parts += _conflicts(_status(store, workspace))
        if "capsule" in families and (item := _latest_capsule(store, workspace)):
            last_saved = last_saved or item["id"]
            parts.append(f"latest hand-over: {_title(item)} (capsule_fetch {_address(item)})")
        if parts:
            lines[workspace] = f"- workspace {quote_line(workspace, _NAME_MAX_CHARS)}: {'; '.join(parts)}"
    if len(lines) == 1:
        return _workspace_lines(store, *lines)
    return [*lines.values(), *(_stale_lines(store, last_saved) if last_saved else [])]


def _open_counts(store: Store, workspace: str) -> list[str]:
    """Return the numbers of open tasks and plans of a workspace, in words."""
    counts = []
    for kind in ("task", "plan"):
        arguments = {"workspace": workspace, "kind": kind, "limit": 1}
        pages = [
            store.call("tasks_list", {**arguments, "status": status})["pagination"] for status in ("ACTIVE", "TODO")
        ]
        total = sum(page["total"] for page in pages)
        if total:
            counts.append(pluralize(total, f"open {kind}"))
    return counts


def _work_lines(store: Store, workspace: str) -> list[str]:
    """Return the state of the focus, or of the only candidate, the next step, and the open merge conflicts."""
    try:
        response = store.call("tasks_radar", {"workspace": workspace, "max_chars": MOST_CHARS}, suggest=False)
    except MossError as error:
        if error.code in _UNFOCUSED:
            return [f"- conflicts: {line}" for line in _conflicts(_status(store, workspace))]
        raise
    target, radar = response["target"], response["radar"]
    lines = [f"- open: {target['id']} {quote_line(target['title'])} ({target['status']})"]
    for name in ("now", "next", "blockers"):
        action = radar.get(name)
        if action:
            lines.append(f"- {name}: {quote_line(_describe_action(action))}")
    return lines + [f"- conflicts: {line}" for line in _conflicts(response)]


def _status(store: Store, workspace: str) -> dict[str, Any]:
    return store.call("branchmind_status", {"workspace": workspace})


def _conflicts(response: dict[str, Any]) -> list[str]:
    """Return the open merge conflicts of a response and the call that shows the first, empty if there are none."""
    conflicts = response.get("conflicts")
    if conflicts is None:
        return []
    number = pluralize(conflicts["open"], "open merge conflict")
    if "first" not in conflicts:
        return [f"{number}; branchmind_status names the first"]
    conflict_id = quote_line(conflicts["first"]["conflict_id"])
    return [f"{number}; branchmind_graph_conflict_show (conflict_id {conflict_id}) shows the first"]


def _capsule_lines(store: Store, workspace: str) -> list[str]:
    """Return the title of the newest capsule and the call that loads it."""
    item = _latest_capsule(store, workspace)
    if item is None:
        return []
    line = f"- latest hand-over: {_title(item)}; load it with capsule_fetch ({_address(item)})"
    return [line, *_stale_lines(store, item["id"])]


def _stale_lines(store: Store, capsule: str) -> list[str]:
    """Return a line if the files that a capsule names have changed since; nothing outside a work tree."""
    if store.work_tree() is None:
        return []
    stale = describe_drift(store.call("moss_places", {"id": capsule}))
    return [f"- stale: {quote_line(stale, MOST_DRIFT_CHARS)}"] if stale else []


def _latest_capsule(store: Store, workspace: str) -> dict[str, Any] | None:
    """Return the newest capsule without its text, or None."""
    capsule: dict[str, Any] | None = store.call("capsule_latest", {"workspace": workspace})["item"]
    return capsule


def _title(item: dict[str, Any]) -> str:
    return f"{quote_line(item.get('title') or item['id'])}, {origin(item)}"


def _address(item: dict[str, Any]) -> str:
    """Return the arguments that load a capsule: its names if they are short and plain, else its id."""
    names = {"workspace": item["workspace"], "name": item.get("name") or ""}
    quoted = {key: quote_line(value, _NAME_MAX_CHARS) for key, value in names.items()}
    if not names["name"] or any(quoted[key] != f'"{value}"' for key, value in names.items()):
        return f"id {quote_line(item['id'])}"
    return ", ".join([f"{key} {value}" for key, value in quoted.items()])


def _describe_action(action: Any) -> str:
    """Return an action of radar in words: a proposed call by its tool and reason."""
    if isinstance(action, dict):
        return f"{action['tool']}, because {action['reason']}" if action.get("reason") else str(action["tool"])
    return "; ".join(map(str, action)) if isinstance(action, list) else str(action)
