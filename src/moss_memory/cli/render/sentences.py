"""The answer of a write as one sentence for a terminal, such as `Saved shop/auth, version 2.`"""

from __future__ import annotations

from moss_memory.rows.names import pluralize

from .cell import format_time, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Answer = dict[str, Any]

NOTABLE = ("findings", "similar_workspace", "copies", "skipped", "meta_keys", "warning", "ids", "conflicts")
"""Fields that a terminal shows below the sentence."""
_TITLE_CHARS = 60

_TEMPLATES = {
    "capsule_store": "Saved {it}, version {version}.",
    "capsule_update": "Changed {it}, version {version}.",
    "capsule_delete": "Deleted {it}; `moss restore` brings it back.",
    "artifact_store": "Saved {it}, version {version}.",
    "artifact_delete": "Deleted {it}; `moss artifact restore` brings it back.",
    "artifact_touch": "Renewed {it} until {expires}.",
    "branchmind_notes_commit": "Noted as {seq} in {workspace}, branch {branch}.",
    "branchmind_branch_create": "Created branch {name}.",
    "branchmind_init": "Workspace {workspace} is ready, on branch {checkout}.",
    "branchmind_checkout": "Switched from {previous} to {current}.",
    "branchmind_branch_rename": "Renamed branch {previous} to {current}.",
    "branchmind_branch_delete": "Deleted branch {name}.",
    "branchmind_tag_delete": "Deleted tag {name}.",
    "branchmind_graph_apply": "{doc} on {branch}: {graph_changes}.",
    "branchmind_reset": "Reset {doc} of {ref} from {old_seq} to {new_seq}.",
    "moss_confirm": "Confirmed {it} at commit {commit}.",
    "moss_rename": "Renamed to {it}, version {version}.",
    "moss_workspace_rename": "{message}.",
    "moss_workspace_delete": "{message}.",
    "capsule_purge": "{message}.",
    "capsule_bulk_delete": "{message}.",
    "capsule_bulk_update": "{message}.",
    "tasks_create": "Created {task}.",
    "tasks_edit": "Changed {task}.",
    "tasks_complete": "{task} is now {status}.",
    "tasks_delete": "Deleted {step}{task}.",
    "tasks_decompose": "Added {steps} to {task}.",
    "tasks_define": "Changed {step}{task}.",
    "tasks_note": "Noted on {step}{task}.",
    "tasks_verify": "Confirmed checkpoints of {step}{task}.",
    "tasks_done": "Closed {step}{task}.",
    "tasks_reopen": "Reopened {step}{task}.",
    "tasks_evidence": "Attached evidence to {step}{task}.",
    "tasks_claim": "{agent} holds {step}{task} until {lease}.",
}
"""Sentences by tool; `_CHOICES` has those that depend on the answer."""


def sentence_of(tool: str, answer: Answer, arguments: dict[str, Any]) -> str | None:
    """Return the sentence that confirms a write, None if the tool has none."""
    template = _TEMPLATES.get(tool)
    if tool in _CHOICES:
        template = _CHOICES[tool](answer, arguments)
    nested = [answer[name] for name in ("entry", "branch") if isinstance(answer.get(name), dict)]
    fields = {**answer, **{name: value for part in nested for name, value in part.items()}}
    return None if template is None else template.format_map(_Words(fields, arguments))


class _Words(dict):  # type: ignore[type-arg]  # subscripting costs an import at start-up
    """The words of a template: fields of the answer, else arguments, else names computed from both."""

    def __init__(self, answer: Answer, arguments: dict[str, Any]) -> None:
        super().__init__()
        self._answer = answer
        self._arguments = arguments

    def __missing__(self, word: str) -> str:
        computed = getattr(self, f"_{word}", None)
        if computed is not None:
            return str(computed())
        value = self._answer.get(word, self._arguments.get(word, ""))
        return line_of(str(value))

    def _it(self) -> str:
        key = self._answer.get("fetch_key") or {}
        given = {**self._arguments, **{name: value for name, value in self._answer.items() if value}}
        for prefix in ("moss_capsule", "moss_artifact"):
            if prefix in key:
                return line_of(f"{key['moss_workspace']}/{key[prefix]}")
        if "name" in given:
            return line_of(f"{given['workspace']}/{given['name']}" if "workspace" in given else str(given["name"]))
        return line_of(str(given.get("id", "")))

    def _task(self) -> str:
        title = self._answer.get("title")
        if isinstance(title, str) and len(title) > _TITLE_CHARS:
            title = title[: _TITLE_CHARS - 1].rstrip() + "\u2026"
        return line_of(f"{self._answer['id']} ({title})" if title else str(self._answer["id"]))

    def _step(self) -> str:
        step = self._answer.get("step")
        return f"step {step['path']} of " if step else ""

    def _steps(self) -> str:
        return pluralize(len(self._answer.get("steps", ())), "step")

    def _status(self) -> str:
        return line_of(str(self._arguments.get("status", "DONE")))

    def _lease(self) -> str:
        return format_time(self._answer["lease_until_ms"] // 1000)

    def _commit(self) -> str:
        return str(self._answer["saved_in"]["commit"][:10])

    def _expires(self) -> str:
        return format_time(self._answer["expires_at"])

    def _graph_changes(self) -> str:
        parts = []
        for name, count in self._answer["applied"].items():
            what, _, verb = name.partition("_")
            if count:
                parts.append(f"{pluralize(count, what[:-1])} {'written' if verb == 'upserted' else verb}")
        return ", ".join(parts) or "nothing changed"


def _appended(answer: Answer, _: dict[str, Any]) -> str:
    section = str(answer["section_hit"]).lstrip("#").strip().replace("{", "{{").replace("}", "}}")
    verb = "Replaced" if answer["replaced"] else "Added to"
    return f'{verb} "{section}" of {{it}}, version {{version}}.'


def _restored(answer: Answer, _: dict[str, Any]) -> str | None:
    return "Restored {it}." if answer.get("restored") else None


def _reverted(answer: Answer, _: dict[str, Any]) -> str:
    if not answer["changed"]:
        return "Nothing to change: version {version} has the content of version {reverted_to}."
    return "Went back to version {reverted_to}; it is now version {version}."


def _erased(answer: Answer, _: dict[str, Any]) -> str | None:
    removed = answer["removed"]
    counts = f"{pluralize(removed['rows'], 'row')}, {pluralize(removed['versions'], 'earlier version')}"
    if answer["dry_run"]:
        return f"A dry run: {counts} would be erased. Nothing is changed."
    rest = "" if answer["complete"] else " The next write removes the rest from the disk."
    return f"Erased {counts}.{rest}"


def _carded(answer: Answer, _: dict[str, Any]) -> str:
    return "Added card {card_id}." if answer["inserted"] else "Card {card_id} is there already; nothing changed."


def _submitted(answer: Answer, _: dict[str, Any]) -> str:
    if answer["created"]:
        return "Recorded as {payload_id}."
    return "{payload_id} was recorded before; this is one more observation of it."


def _merged(answer: Answer, arguments: dict[str, Any]) -> str:
    counts = [pluralize(answer["notes"]["merged"], "note"), pluralize(answer["graph"]["merged"], "graph change")]
    conflicts = len(answer["conflicts"])
    if arguments.get("dry_run"):
        found = f"{pluralize(conflicts, 'conflict')} would remain" if conflicts else "without conflicts"
        return f"A dry run: {' and '.join(counts)} of {{from}} would be merged into {{into}}, {found}."
    found = f"{pluralize(conflicts, 'conflict')} left; see `branchmind_graph_conflicts`" if conflicts else ""
    return f"Merged {' and '.join(counts)} of {{from}} into {{into}}; {found or 'no conflicts'}."


def _claimed(_: Answer, arguments: dict[str, Any]) -> str:
    return "Released {step}{task}." if arguments.get("release") else _TEMPLATES["tasks_claim"]


def _blocked(_: Answer, arguments: dict[str, Any]) -> str:
    return "Unblocked {step}{task}." if arguments.get("blocked") is False else "Blocked {step}{task}."


_CARDS = ("card", "add_hypothesis", "add_question", "add_test", "add_note", "add_decision", "add_evidence", "add_frame",
          "add_update")  # fmt: skip
_CHOICES: dict[str, Callable[[Answer, dict[str, Any]], str | None]] = {
    "capsule_append": _appended,
    "capsule_restore": _restored,
    "artifact_restore": _restored,
    "moss_revert": _reverted,
    "moss_erase": _erased,
    "submit_payload": _submitted,
    "branchmind_merge_back": _merged,
    "tasks_claim": _claimed,
    "tasks_block": _blocked,
    **{f"branchmind_think_{name}": _carded for name in _CARDS},
}
"""Tools whose sentence depends on the answer; it has no sentence if the function returns None."""
