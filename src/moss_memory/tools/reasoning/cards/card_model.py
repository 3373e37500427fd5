"""The thinking card: parsing its input forms and writing it once to trace and graph."""

from __future__ import annotations

import json
import re

from moss_memory.errors import MossError, closest_match, invalid_request, next_call
from moss_memory.registry.decode import refuse_placeholder
from moss_memory.tools.reasoning.branches.document_refs import (
    GRAPH,
    TRACE,
    DocumentRef,
    branch_for_writing,
    find_branch,
    find_document,
)
from moss_memory.tools.reasoning.branches.visible_ranges import last_number, log_view
from moss_memory.tools.reasoning.graph.graph_batch import GraphBatch, check_id, graph_tags
from moss_memory.tools.reasoning.graph.node_versions import Version, new_edge, new_node
from moss_memory.tools.reasoning.notes.entries import append_entry, check_note
from moss_memory.tools.reasoning.reasoning_arguments import check_label, check_length, meta_json
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.tools.task.model.task_rows import find_reference

from .card_links import LINKS, change_status, check_links, find_linked, implied_statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .card_links import Links

CARD_TYPES = ("frame", "hypothesis", "question", "test", "evidence", "decision", "note", "update")
CARD_FORMAT = "think_card"
OPEN = "open"
_KEYS = ("id", "card_id", "type", "title", "text", "status", "tags", "meta")
_LINE = re.compile(r"([A-Za-z_][\w-]*):(?:\s+(.*))?")


class Card:
    """A card in its normal form."""

    __slots__ = ("id", "links", "meta", "meta_keys", "status", "tags", "text", "title", "type")

    def __init__(self, raw: dict[str, Any], links: Links | None = None) -> None:
        self.id = None if raw["id"] is None else check_id(raw["id"], what="card.id")
        self.type: str = raw["type"]
        self.title = check_length(raw["title"], what="card.title")
        self.text: str | None = raw["text"]
        self.status = check_label(raw["status"], what="card.status") or OPEN
        self.tags = graph_tags(raw["tags"], what="card.tags")
        self.meta: dict[str, Any] = raw["meta"]
        self.meta_keys: list[str] = raw.get("meta_keys", [])
        """The keys of the input that are no fields of a card and went to `meta`."""
        self.links = check_links(raw.get("links", {}), links or {}, card_id=self.id)
        if self.title is None and self.text is None:
            raise invalid_request("`card` needs a title or a text; give at least one of them", path="card")
        for name in ("title", "text"):
            refuse_placeholder(getattr(self, name), f"card.{name}")

    def content(self) -> dict[str, Any]:
        """Return the fields that decide if a repeated card is the same one."""
        return {
            "card_id": self.id,
            "type": self.type,
            "title": self.title,
            "text": self.text,
            "status": self.status,
            "tags": self.tags,
            "meta": self.meta,
            **self.links,
        }

    def node(self) -> Version:
        meta = meta_json(self.meta)
        tags = self.tags
        return new_node(
            str(self.id), self.type, title=self.title, text=self.text, status=self.status, tags=tags, meta=meta
        )

    def edges(self) -> list[Version]:
        return [new_edge(str(self.id), rel, to) for rel, ends in self.links.items() for to in ends]


class CardDocuments:
    """The trace document and the graph document of a card."""

    __slots__ = ("graph", "trace")

    def __init__(self, trace: DocumentRef, graph: DocumentRef) -> None:
        self.trace = trace
        self.graph = graph

    def to_dict(self) -> dict[str, str]:
        return {"branch": self.graph.branch.name, "graph_doc": self.graph.doc}

    def arguments(self) -> dict[str, str]:
        """Return the workspace, branch and graph document as arguments of another call."""
        location = {"workspace": self.graph.workspace, "ref": self.graph.branch.name}
        return {**location, **({} if self.graph.doc == GRAPH else {"graph_doc": self.graph.doc})}


def find_card_documents(
    tx: ReadTransaction,
    workspace: str,
    *,
    target: str | None,
    branch: str | None,
    trace_doc: str | None = None,
    graph_doc: str | None = None,
    writer: Transaction | None = None,
    with_branch: bool = False,
) -> CardDocuments:
    """Resolve the documents of a thinking call; `with_branch` allows a target's documents on another branch."""
    for name, doc in (("trace_doc", trace_doc), ("graph_doc", graph_doc)):
        if target is not None and doc is not None:
            raise invalid_request(f"`target` already says where; leave `{name}` out", path=name)
    if target is None or branch is None:
        trace = find_document(tx, workspace, target=target, branch=branch, doc=trace_doc, kind=TRACE, writer=writer)
        graph = find_document(tx, workspace, target=target, branch=branch, doc=graph_doc, kind=GRAPH, writer=writer)
        return CardDocuments(trace, graph)
    if not with_branch:
        raise invalid_request("`target` already says where; leave `branch` out", path="branch")
    reference = find_reference(tx, workspace, target)
    row = find_branch(tx, workspace, branch) if writer is None else branch_for_writing(writer, workspace, branch)
    own = (reference.notes_doc, reference.trace_doc, reference.graph_doc)
    return CardDocuments(
        DocumentRef(workspace, row, reference.trace_doc, own), DocumentRef(workspace, row, reference.graph_doc, own)
    )


def parse_card(given: Any, *, workspace: str, type: str | None = None, what: str = "card") -> dict[str, Any]:
    """Parse an object, JSON, `key: value` lines or plain text into a card's fields; `type` overrides its type."""
    raw: dict[str, Any] = dict(given) if isinstance(given, dict) else _parse_text(given, what)
    if "card_id" in raw:
        if raw.get("id") not in (None, raw["card_id"]):
            raise invalid_request(f"`{what}.id` and `{what}.card_id` differ; give one of them", path=f"{what}.card_id")
        raw["id"] = raw.pop("card_id")
    fields: dict[str, Any] = {name: _parse_text_field(raw.pop(name, None), f"{what}.{name}") for name in _KEYS[2:6]}
    fields["id"] = _parse_text_field(raw.pop("id", None), f"{what}.id")
    fields["tags"] = _parse_tags(raw.pop("tags", None), f"{what}.tags")
    fields["links"] = {rel: _parse_link(raw.pop(rel), f"{what}.{rel}") for rel in LINKS if rel in raw}
    fields["meta"] = {**_parse_meta(raw.pop("meta", None), f"{what}.meta"), **raw}
    fields["meta_keys"] = list(raw)
    fields["type"] = check_type(type or fields["type"] or "note", what=f"{what}.type", workspace=workspace)
    return fields


def check_type(raw: str, *, what: str, workspace: str) -> str:
    """Return the normalized card type; refuse an unknown one."""
    kind = raw.strip().lower()
    if kind not in CARD_TYPES:
        like = closest_match(kind, list(CARD_TYPES)) or "note"
        error = invalid_request(
            f"`{what}` is {raw[:100]!r}; the types of cards are {', '.join(CARD_TYPES)}",
            path=what,
            supported_types=list(CARD_TYPES),
        )
        error.recovery = next_call(
            "branchmind_think_template",
            {"workspace": workspace, "type": like},
            f"shows a card of a type there is: {', '.join(CARD_TYPES)}",
        )
        raise error
    return kind


def commit_card(tx: Transaction, documents: CardDocuments, card: Card) -> dict[str, Any]:
    """Write a card to trace and graph; do nothing if it exists, raise `CONFLICT` if its content differs."""
    changes = GraphBatch(tx, documents.graph)
    if card.id is None:
        card.id = _generate_id(tx, changes)
    elif (committed := _committed_content(tx, documents, card.id)) is not None:
        if committed != _comparable_json(card.content()):
            raise _card_conflict(documents, card.id, in_graph=changes.live(card.id) is not None)
        if changes.exists(card.id):
            return _card_response(documents, card, inserted=False)
        _add_to_batch(tx, documents, card, changes)
        return {**_card_response(documents, card, inserted=False, applied=changes.applied), "last_seq": changes.write()}
    live = changes.live(card.id)
    if live is not None and live.state != card.node().state:
        raise _card_conflict(documents, card.id, in_graph=True)
    entry = append_entry(tx, documents.trace, _trace_note(card), written_as="card", card_id=card.id)
    _add_to_batch(tx, documents, card, changes)
    last_seq = changes.write() if any(changes.applied.values()) else entry["seq"]
    return {**_card_response(documents, card, inserted=True, applied=changes.applied), "last_seq": last_seq}


def _add_to_batch(tx: Transaction, documents: CardDocuments, card: Card, changes: GraphBatch) -> None:
    """Add the node, its edges and the statuses that these set; raise `NOT_FOUND` if a linked card is missing."""
    linked = find_linked(tx, documents.graph, changes, card.links)
    for version in [card.node(), *card.edges()]:
        before = changes.live(version.key)
        if before is None or before.state != version.state:
            changes.upsert(version)
    for status, reason, linked_card in implied_statuses(card, linked):
        change_status(tx, documents.trace, changes, linked_card, status, reason=reason, graph_doc=documents.graph.doc)


def _parse_text(text: str, what: str) -> dict[str, Any]:
    stripped = text.strip()
    if stripped.startswith("{"):
        return _parse_json(stripped, what)
    return _parse_lines(stripped) or {"text": text if stripped else None}


def _parse_json(text: str, what: str) -> dict[str, Any]:
    from moss_memory.registry.decode import check_json

    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        raise invalid_request(
            f"`{what}` begins like a JSON object but is not valid JSON; correct it, or send text", path=what
        ) from None
    check_json(parsed, what)
    return dict(parsed)


def _parse_lines(text: str) -> dict[str, Any]:
    """Parse `key: value` lines; empty if no line has a known key or the text does not begin with a pair."""
    fields: dict[str, Any] = {}
    last = ""
    lines = [(line, _LINE.fullmatch(line.strip())) for line in text.splitlines()]
    keys = [match[1] for line, match in lines if match is not None]
    only_pairs = all(match is not None for line, match in lines if line.strip())
    if not keys or not (keys[0] in _KEYS or (only_pairs and any(key in _KEYS for key in keys))):
        return {}
    for line, match in lines:
        if not fields and match is None:
            return {}
        if match is not None:
            last = match[1]
            fields[last] = match[2] or ""
        else:
            fields[last] = f"{fields[last]}\n{line}"
    for rel in LINKS:
        if rel in fields:
            fields[rel] = [part.strip() for part in fields[rel].split(",") if part.strip()]
    return fields


def _parse_text_field(value: Any, what: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise invalid_request(f"`{what}` must be a string", path=what)
    return value.strip() or None


def _parse_tags(value: Any, what: str) -> list[str]:
    if isinstance(value, str):
        value = [tag for tag in value.split(",") if tag.strip()]
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise invalid_request(f"`{what}` must be a list of strings", path=what)
    return value


def _parse_link(value: Any, what: str) -> list[str]:
    values = [value] if isinstance(value, str) else value
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(card_id, str) for card_id in values):
        raise invalid_request(f"`{what}` must be the id of a card, or a list of ids", path=what)
    return values


def _parse_meta(value: Any, what: str) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else None
        except (ValueError, RecursionError):
            raise invalid_request(f"`{what}` must be a JSON object", path=what) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid_request(f"`{what}` must be an object", path=what)
    from moss_memory.registry.decode import check_json

    check_json(value, what)
    return value


def _trace_note(card: Card) -> Any:
    meta = {name: value for name, value in card.content().items() if name not in ("title", "text") and value}
    if card.text is None:
        meta["title_only"] = True
    return check_note(card.text or card.title or "", title=card.title, format=CARD_FORMAT, meta=meta)


def _comparable_json(content: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in content.items() if value}, sort_keys=True, ensure_ascii=False)


def _committed_content(tx: Transaction, documents: CardDocuments, card_id: str) -> str | None:
    """Return the comparable content of the committed card that the trace shows, or None."""
    view = log_view(tx, documents.trace.branch.branch_id, documents.trace.doc)
    for branch_id in view.writers():
        key = {"branch_id": branch_id, "doc": documents.trace.doc, "card_id": card_id}
        for title, content, meta, seq in tx.rows(sql["card_entries"], key):
            if view.shows(branch_id, seq):
                fields = json.loads(meta)
                text = None if fields.pop("title_only", False) else content
                return _comparable_json({**fields, "title": title, "text": text})
    return None


def _generate_id(tx: Transaction, changes: GraphBatch) -> str:
    number = last_number(tx) + 1
    while changes.exists(f"CARD-{number}"):
        number += 1
    return f"CARD-{number}"


def _card_response(
    documents: CardDocuments, card: Card, *, inserted: bool, applied: dict[str, int] | None = None
) -> dict[str, Any]:
    counts = applied or {}
    optional = {"meta_keys": card.meta_keys} if card.meta_keys else {}
    return {
        "branch": documents.graph.branch.name,
        "trace_doc": documents.trace.doc,
        "graph_doc": documents.graph.doc,
        "card_id": str(card.id),
        "inserted": inserted,
        "graph_applied": {name: counts.get(name, 0) for name in ("nodes_upserted", "edges_upserted")},
        **optional,
    }


def _card_conflict(documents: CardDocuments, card_id: str, *, in_graph: bool) -> MossError:
    """Return the error for an id that another card has, with the call that shows that card."""
    query = next_call(
        "branchmind_think_query", {**documents.arguments(), "ids": [card_id]}, "shows the card that is there"
    )
    trace = {"workspace": documents.trace.workspace, "ref": documents.trace.branch.name, "doc": documents.trace.doc}
    return MossError(
        "CONFLICT",
        f"there is already a card {card_id!r} with other content or links; use another id, or change that card with "
        "`branchmind_think_set_status` or `branchmind_think_link`; `branchmind_graph_apply` changes its text",
        recovery=query if in_graph else next_call("branchmind_trace_hydrate", trace, "tells what the card said"),
    )
