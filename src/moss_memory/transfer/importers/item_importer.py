"""Import of one source file's items in one transaction; known items stay unchanged."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager

from moss_memory.errors import MossError
from moss_memory.rows.names import normalize_name, normalize_workspace
from moss_memory.storage.queries import load_queries
from moss_memory.tools.capsule.capsule_tools import capsule_store
from moss_memory.tools.reasoning.graph.graph_batch import check_id
from moss_memory.tools.reasoning.graph.graph_tools import branchmind_graph_apply
from moss_memory.tools.reasoning.notes.note_tools import branchmind_notes_commit
from moss_memory.tools.task.step_tools import tasks_done, tasks_note
from moss_memory.tools.task.task_tools import tasks_complete, tasks_create, tasks_edit

from .items import TAG_MAX_CHARS, to_single_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.registry.operation import Operation
    from moss_memory.storage.engine import Transaction

    Item = dict[str, Any]

sql = load_queries(__file__)
_GRAPH = "graph"
_NOTE_CHARS = 100_000
"""Maximum size of a task's note and description."""
_OPERATIONS = 500
_DIFFERS = (
    "exists with another text: it was changed since its import, or is from another folder; import it into another "
    "workspace (-w)"
)
_DUPLICATE = "is in the file twice"
_REFUSED = ("INVALID_REQUEST", "CONFLICT")
"""Error codes that refuse a single item."""
_CONFIRMED = {"criteria": True, "tests": True}


class ItemImporter:
    """The import of one file's items into a workspace."""

    def __init__(self, tx: Transaction, source: str, workspace: str, file: str) -> None:
        self.tx = tx
        self.source = source
        self.workspace = workspace
        self.file = file
        self.taken: dict[str, int] = {}
        self.already_there = 0
        self.skipped: list[dict[str, str]] = []
        self._at = {"workspace": normalize_workspace(workspace)}

    def run(self, items: list[Item]) -> None:
        """Import every item, or raise and import none."""
        for item in items:
            if item["kind"] == "capsule":
                with self._skip_if_refused(item):
                    self._import_capsule(item)
        self._import_graph([item for item in items if item["kind"] in ("node", "edge")])
        self._import_notes([item for item in items if item["kind"] == "note"])
        self._import_work([item for item in items if item["kind"] in ("plan", "task")])

    def _call(self, operation: Operation, **arguments: Any) -> dict[str, Any]:
        filled = {key: value for key, value in arguments.items() if value}
        values = operation.decode({"workspace": self.workspace, **filled})
        values.pop("allow_secrets", None)  # items with secrets were skipped before
        answer: dict[str, Any] = operation.body(self.tx, **values)
        return answer

    def _count(self, kind: str) -> None:
        self.taken[kind] = self.taken.get(kind, 0) + 1

    def _skip(self, key: str, reason: str) -> None:
        self.skipped.append({"file": self.file, "item": key[:200], "reason": reason})

    @contextmanager
    def _skip_if_refused(self, item: Item) -> Iterator[None]:
        """Report an item that the store refuses before writing it, and continue."""
        try:
            yield
        except MossError as error:
            if error.code not in _REFUSED:
                raise
            self._skip(item["key"], error.message.replace("`", ""))

    def _count_known(self, item: Item, *, is_same: bool) -> None:
        """Count an item that was imported before; report it if its content has changed since."""
        if is_same:
            self.already_there += 1
        else:
            self._skip(item["key"], _DIFFERS)

    def _import_capsule(self, item: Item) -> None:
        """Import a capsule; split a text that is too long between paragraphs."""
        for index, text in enumerate(split_text(item["text"], self.tx.config.capsule_max_chars)):
            name = item["name"] if not index else f"{item['name']} ({index + 1})"
            source = f"{self.source}:{name}"[:256]
            address = {**self._at, "name": normalize_name(name), "source": source}
            row = self.tx.row(sql["capsule_of_name"], address)
            if row is None:
                created = self._call(
                    capsule_store,
                    name=name,
                    capsule_text=text,
                    title=item["title"],
                    tags=item["tags"],
                    source=source,
                    allow_thin=True,
                )
                self._set_times(created["id"], item)
                self._count("capsules")
            elif row[0] == source:
                self._count_known(item, is_same=row[1] == text)
            else:
                self._skip(item["key"], f"a capsule of another source has the name {name!r} in {self.workspace!r}")

    def _set_times(self, id: str, item: Item) -> None:
        created = item["created_at"] or item["updated_at"]
        if created:
            updated = max(created, item["updated_at"] or created)
            times = {"created": min(created, self.tx.now), "updated": min(updated, self.tx.now)}
            self.tx.run(sql["date_capsule"], {"id": id, **times})

    def _import_graph(self, items: list[Item]) -> None:
        """Import new nodes and edges; existing and deleted keys stay unchanged."""
        branch = self.tx.value(sql["main_branch"], self._at)
        new_items: dict[str, Item] = {}
        for item in items:
            is_node = item["kind"] == "node"
            key = item["id"] if is_node else f"{item['from']}|{item['rel']}|{item['to']}"
            if key in new_items or not key.strip("|"):
                self._skip(item["key"], _DUPLICATE if key in new_items else "has no name")
                continue
            version = (
                None
                if branch is None
                else self.tx.row(sql["last_version"], {"branch": branch, "doc": _GRAPH, "key": key})
            )
            if version is None:
                with self._skip_if_refused(item):
                    for end in ("id",) if is_node else ("from", "to"):
                        check_id(item[end], what=end)  # an invalid one would refuse all other changes too
                    new_items[key] = (
                        _node_change(item, self.source, self.file) if is_node else _edge_change(item, self.source)
                    )
                    self._count("nodes" if is_node else "edges")
            elif json.loads(version[0] or "{}").get("source") == self.source:
                self._count_known(item, is_same=not is_node or (version[1] or "") == item["text"])
            else:
                self._skip(item["key"], "the graph has another node or edge with this id")
        changes = list(new_items.values())
        on_main = {} if branch is None else {"branch": "main"}
        for start in range(0, len(changes), _OPERATIONS):
            self._call(branchmind_graph_apply, ops=changes[start : start + _OPERATIONS], **on_main)

    def _import_notes(self, items: list[Item]) -> None:
        if not items:
            return
        branch = self.tx.value(sql["main_branch"], self._at)
        document = {"branch": branch, "doc": self.source}
        rows = [] if branch is None else self.tx.stream(sql["note_metas"], document)
        imported_keys = {json.loads(meta).get("adopted") for (meta,) in rows}
        for item in items:
            if item["key"] in imported_keys:
                self.already_there += 1
                continue
            imported_keys.add(item["key"])
            meta = {**item["meta"], "adopted": item["key"], "file": self.file}
            fields = {"content": item["text"], "title": item["title"], "doc": self.source, "meta": meta}
            with self._skip_if_refused(item):
                self._call(branchmind_notes_commit, **fields)
                self._count("notes")

    def _import_work(self, items: list[Item]) -> None:
        """Import plans, then tasks, then dependencies; close finished ones last."""
        if not items:
            return
        known_tasks = self._known_tasks()
        tasks = {tag: task[0] for tag, task in known_tasks.items()}
        other_keys = self._keys_of_other_project(items, known_tasks)
        new_items: dict[str, Item] = {}
        for item in sorted(items, key=lambda item: item["kind"] != "plan"):
            tag = self._tag_of(item["key"])
            if tag in new_items:
                self._skip(item["key"], _DUPLICATE)
            elif item["key"] in other_keys:
                self._count_known(item, is_same=False)
            elif tag in known_tasks:
                self._count_known(item, is_same=item["kind"] == "plan" or known_tasks[tag][1] == item["title"])
            else:
                with self._skip_if_refused(item):
                    tasks[tag] = self._create(item, tasks)
                    new_items[tag] = item
        for item in new_items.values():
            self._link(item, tasks)
        for item in sorted(new_items.values(), key=lambda item: item["kind"] == "plan"):
            self._close(item, tasks, items)

    def _known_tasks(self) -> dict[str, tuple[str, str]]:
        """Return id and title of each imported task by its tag."""
        tasks_by_tag: dict[str, tuple[str, str]] = {}
        for task, title, tags in self.tx.stream(sql["tagged_tasks"], self._at):
            tasks_by_tag |= {tag: (task, title) for tag in json.loads(tags) if tag.startswith(f"{self.source}:")}
        return tasks_by_tag

    def _keys_of_other_project(self, items: list[Item], tasks: dict[str, tuple[str, str]]) -> set[str]:
        """Return plans and their tasks whose ids are known with different titles: another project."""
        keys: set[str] = set()
        for plan in [item["key"] for item in items if item["kind"] == "plan"]:
            plan_tasks = [item for item in items if item["parent"] == plan and item["kind"] == "task"]
            titles = [
                (tasks[tag][1], item["title"]) for item in plan_tasks if (tag := self._tag_of(item["key"])) in tasks
            ]
            if titles and all(known_title != title for known_title, title in titles):
                keys |= {plan, *(item["key"] for item in plan_tasks)}
        return keys

    def _tag_of(self, key: str) -> str:
        """Return the tag that identifies an imported task."""
        tag = f"{self.source}:{to_single_line(key)}"
        if len(tag) > TAG_MAX_CHARS:
            tag = f"{self.source}:{hashlib.sha256(key.encode()).hexdigest()[:32]}"
        return tag

    def _create(self, item: Item, tasks: dict[str, str]) -> str:
        steps = [{key: step[key] for key in ("title", "tests") if step[key]} for step in item["steps"]]
        created = self._call(
            tasks_create,
            kind=item["kind"],
            title=item["title"],
            parent=tasks.get(self._tag_of(item["parent"])) if item["kind"] == "task" else None,
            description=item["description"][:_NOTE_CHARS],
            priority=item["priority"],
            tags=[*item["tags"], self._tag_of(item["key"])],
            steps=steps,
        )
        task_id = str(created["id"])
        for step, created_step in zip(item["steps"], created["steps"], strict=True):
            for part in split_text(step["text"], _NOTE_CHARS):
                self._call(tasks_note, target=task_id, path=created_step["path"], note=part)
            if step["done"]:
                self._call(tasks_done, target=task_id, path=created_step["path"], checkpoints=_CONFIRMED)
        origin = f"adopted from {self.source} {item['key']}" + (f": {item['times']}" if item.get("times") else "")
        # Descriptions are not searched, notes are.
        for text in (f"{origin}\n\n{item['description']}".strip(), *item["notes"]):
            for part in split_text(text, _NOTE_CHARS):
                self._call(tasks_note, target=task_id, note=part)
        self._count("plans" if item["kind"] == "plan" else "tasks")
        return task_id

    def _link(self, item: Item, tasks: dict[str, str]) -> None:
        own_id = tasks[self._tag_of(item["key"])]
        ids = [tasks.get(self._tag_of(key)) for key in item["depends_on"]]
        for key, other_id in zip(item["depends_on"], ids, strict=True):
            if other_id is None:
                self._skip(item["key"], f"depends on {key}, which is not there")
        links = [task for task in dict.fromkeys(ids) if task is not None and task != own_id and task.startswith("TASK")]
        if links and item["kind"] == "task":
            with self._skip_if_refused(item):
                self._call(tasks_edit, target=own_id, depends_on=links)

    def _close(self, item: Item, tasks: dict[str, str], items: list[Item]) -> None:
        """Set the task's status of the source; report one with open steps or tasks, which stays open."""
        status = item["status"]
        children = [child for child in items if child["parent"] == item["key"] and item["kind"] == "plan"]
        is_open = any(not step["done"] for step in item["steps"]) or any(
            child["status"] != "DONE" for child in children
        )
        if status == "DONE" and is_open:
            self._skip(item["key"], "is done there, but not everything below it; it is taken as ACTIVE")
            status = "ACTIVE"
        if status != "TODO":
            self._call(tasks_complete, target=tasks[self._tag_of(item["key"])], status=status)


def _node_change(item: Item, source: str, file: str) -> Item:
    meta = {**item["meta"], "source": source, "file": file}
    fields = {"title": item["title"], "text": item["text"], "tags": item["tags"]}
    filled = {key: value for key, value in fields.items() if value}
    return {"op": "node_upsert", "id": item["id"], "type": item["type"], **filled, "meta": meta}


def _edge_change(item: Item, source: str) -> Item:
    return {"op": "edge_upsert", "from": item["from"], "rel": item["rel"], "to": item["to"], "meta": {"source": source}}


def split_text(text: str, most: int) -> list[str]:
    """Split a text into parts of at most `most` characters, between paragraphs, lines or anywhere."""
    parts = []
    while len(text) > most:
        cut = max(text.rfind("\n\n", most // 2, most), 0) or max(text.rfind("\n", most // 2, most), 0) or most
        parts.append(text[:cut])
        text = text[cut:].lstrip("\n")
    return [*parts, text] if text else parts
