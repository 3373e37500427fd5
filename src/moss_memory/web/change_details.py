"""The changes of one item: its difference, its entries, its address, and how to take them back."""

from __future__ import annotations

from collections import Counter
from typing import Any

from moss_memory.errors import MossError
from moss_memory.tools.everything.period_changes import document_changes

from .page_context import PageContext
from .templating import pretty, who
from .word_diff import changed_fields, word_difference

_LINES = 24
_MAX_CHARS = 100_000
"""Maximum size of both texts together; longer ones are compared on the page of the history."""
_MAX_STEPS = 8_000
_ENTRIES = 8
_AUTHORS = 4
_TASK_WORDS = {
    "task_created": "added", "plan_created": "added", "note_added": "note added", "evidence_added": "evidence added",
    "task_claimed": "claimed", "task_released": "released", "task_edited": "edited", "plan_edited": "edited",
}  # fmt: skip


_STATUS_WORDS = {"TODO": "to do", "ACTIVE": "in work", "DONE": "done"}


def describe_changes(context: PageContext, item: dict[str, Any], period: dict[str, Any]) -> None:
    """Add the description of its changes to an item."""
    item |= {
        "path": "",
        "query": {},
        "messages": [],
        "entries": [],
        "lines": [],
        "fields": [],
        "undo": None,
        "state": "",
    }
    if item["family"] in ("capsule", "artifact"):
        _describe_versions(context, item, period)
    elif item["family"] == "reasoning":
        _describe_document(context, item, period)
    elif item["family"] == "task":
        item |= {"path": f"/tasks/{item['address']}", "query": {"workspace": item["place"]}}
        words = [_task_event(event["payload"]) for event in item["events"] if event["payload"]]
        item["messages"] = list(dict.fromkeys(words)) or ["chosen as the focus"]
    else:
        item |= {"path": f"/records/{item['address']}", "query": {"workspace": item["place"]}, "title": "A record"}
        item["messages"] = ["recorded"]


def _task_event(payload: dict[str, Any]) -> str:
    kind, details = str(payload.get("type") or "changed"), payload.get("payload") or {}
    if kind == "status_changed":
        return " → ".join(_STATUS_WORDS.get(str(details.get(side)), str(details.get(side))) for side in ("from", "to"))
    if kind == "task_claimed" and details.get("agent"):
        return f"claimed by {details['agent']}"
    return _TASK_WORDS.get(kind, kind.replace("_", " "))


def _describe_versions(context: PageContext, item: dict[str, Any], period: dict[str, Any]) -> None:
    family, key = item["family"], item["address"]
    item |= {"path": f"/{family}s/{key}"}
    hidden = {"include_deleted": True} | ({"include_expired": True} if family == "artifact" else {})
    try:
        current = context.call(f"{family}_fetch", id=key, **hidden)
    except MossError:
        item |= {"path": "", "state": "erased", "title": "An erased " + family}
        return
    item["title"] = current.get("title") or current.get("name") or f"{family.capitalize()} without a name"
    if period["to_ms"] is None:
        after = current
    else:
        after = _version_at(context, family, key, hidden, period["to_ms"] // 1000 - 1) or current
    before = _version_at(context, family, key, hidden, period["from_ms"] // 1000 - 1)
    is_new = before is None and current["created_at"] * 1000 >= period["from_ms"]
    if current.get("deleted_at"):
        item |= {"state": "deleted", "undo": {"action": f"{item['path']}/restore", "title": "Bring it back"}}
    elif is_new:
        item |= {"state": "new", "undo": {"action": f"{item['path']}/delete", "title": "Delete it"}}
    elif before is not None and before["version"] != current["version"]:
        item["undo"] = {"action": f"{item['path']}/revert", "title": "Take back", "version": before["version"],
                         "expected": current["version"]}  # fmt: skip
    if before is not None or is_new:
        _compare(item, before or {}, after)


def _version_at(
    context: PageContext, family: str, key: str, hidden: dict[str, bool], seconds: int
) -> dict[str, Any] | None:
    """Return the version that was current at a time, None if there was none or it is no longer stored."""
    try:
        return context.call(f"{family}_fetch", id=key, as_of=seconds, **hidden)
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return None


def _compare(item: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> None:
    if old.get("version") == new["version"]:
        return
    old_text, new_text = _text(item["family"], old), _text(item["family"], new)
    if old:
        item["fields"] = changed_fields(old, new)
        if item["family"] == "capsule":
            item["compare"] = {"from": old["version"], "to": new["version"]}
    if len(old_text) + len(new_text) > _MAX_CHARS:
        item["messages"].append("the text is too long to be compared here")
        return
    lines = word_difference(old_text, new_text, _MAX_STEPS)
    item |= {"lines": lines[:_LINES], "more": max(len(lines) - _LINES, 0)}
    added, removed = (sum(line["kind"] == kind for line in lines) for kind in ("added", "removed"))
    counted = f"{added} line{'' if added == 1 else 's'}"
    item["messages"].append(f"{counted} added, {removed} removed" if old else counted)


def _text(family: str, version: dict[str, Any]) -> str:
    if not version:
        return ""
    if family == "capsule":
        return str(version["capsule_text"])
    return pretty(version["data"]) + (f"\n{version['text']}" if version.get("text") else "")


def _describe_document(context: PageContext, item: dict[str, Any], period: dict[str, Any]) -> None:
    branch, _, doc = item["address"].rpartition(":")
    document = {"workspace": item["place"], "branch": branch or doc, "doc": doc if branch else ""}
    if not branch:
        item |= {"path": "/reasoning", "query": document, "title": f"Branch {doc}", "messages": ["made or changed"]}
        return
    arguments = {"workspace": item["workspace"], "branch": branch, "doc": doc, "numbers": period["numbers"]}
    entries = context.store.read(document_changes, what="document", **arguments, limit=_ENTRIES)
    is_graph = doc.endswith("graph")
    item |= {"path": "/reasoning" if is_graph else "/reasoning/log", "query": document}
    item["title"] = f"{'Graph' if is_graph else doc.capitalize()} on {branch}"
    count = len(item["events"])
    item["messages"] = [f"{count} change{'' if count == 1 else 's'}"]
    item["entries"] = [
        {**entry, "path": "/reasoning/log", "query": {**document, "entry": entry["entry"]}}
        if "entry" in entry
        else {**entry, "path": "/reasoning/node", "query": {**document, "id": entry["id"]}}
        for entry in entries
    ]


def summarize(items: list[dict[str, Any]]) -> str:
    """Return one sentence about the authors and kinds of changes; empty if nothing changed."""
    counts: Counter[str] = Counter()
    authors: Counter[str] = Counter()
    for item in items:
        counts.update(_deeds(item))
        authors.update(item["by"])
    if not counts:
        return ""
    names = [who(name) for name in sorted(authors, key=lambda name: (-authors[name], name))]
    if len(names) > _AUTHORS:
        names = [*names[:_AUTHORS], f"{len(names) - _AUTHORS} others"]
    deeds = [_plural(deed, count) for deed, count in sorted(counts.items(), key=lambda pair: _ORDER.index(pair[0]))]
    sentence = f"{_joined(names) or 'somebody'} {_joined(deeds)}."
    return sentence[:1].upper() + sentence[1:] if not names or names[0] == "you" else sentence


_ORDER = ("stored {} capsule", "changed {} capsule", "deleted {} capsule", "finished {} task", "added {} task",
          "worked on {} task", "set the status of {} card", "wrote {} card", "wrote {} note", "stored {} artifact",
          "changed {} artifact", "deleted {} artifact", "sent {} record")  # fmt: skip


def _deeds(item: dict[str, Any]) -> dict[str, int]:
    tools = [event["tool"] for event in item["events"]]
    family = item["family"]
    if family in ("capsule", "artifact"):
        if tools[0].endswith("_delete"):
            return {f"deleted {{}} {family}": 1}
        return {f"{'stored' if tools[-1].endswith('_store') else 'changed'} {{}} {family}": 1}
    if family == "task":
        payloads = [event["payload"] for event in item["events"]]
        if any((payload.get("payload") or {}).get("to") == "DONE" for payload in payloads):
            return {"finished {} task": 1}
        is_new = any(payload.get("type") in ("task_created", "plan_created") for payload in payloads)
        return {"added {} task" if is_new else "worked on {} task": 1}
    if family == "record":
        return {"sent {} record": 1}
    notes = sum("notes" in tool or "trace" in tool for tool in tools)
    settled = sum(tool.endswith("set_status") for tool in tools)
    cards = len(tools) - notes - settled
    counts = {"wrote {} note": notes, "set the status of {} card": settled, "wrote {} card": cards}
    return {deed: count for deed, count in counts.items() if count}


def _plural(deed: str, count: int) -> str:
    return deed.format(f"{count:,}") + ("" if count == 1 else "s")


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + (" and " + words[-1] if words else "")
