"""Tools that change cards: links, status, pins, subgoals and the merge of duplicates."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    ResponseSchema,
    TableColumn,
    choice,
    flag,
    list_of,
    number,
    object_of,
    text,
    texts,
)
from moss_memory.tools.reasoning.branches.document_refs import touch_document
from moss_memory.tools.reasoning.branches.visible_ranges import reserve_seqs
from moss_memory.tools.reasoning.graph.graph_batch import GraphBatch, check_id
from moss_memory.tools.reasoning.graph.node_versions import Version, new_edge
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    LABEL_MAX_CHARS,
    TITLE_MAX_CHARS,
    Branch,
    CardInput,
    GraphDoc,
    Meta,
    OneOrMore,
    ReportOnly,
    RequiredWorkspace,
    Target,
    as_list,
    check_label,
    meta_json,
)
from moss_memory.tools.reasoning.reasoning_responses import APPLIED, CARD_REF, EDGE, LAST_SEQ
from moss_memory.tools.reasoning.reasoning_sql import sql

from .card_links import change_status, trace_of_card, unknown_card
from .card_model import CARD_TYPES, Card, CardDocuments, commit_card, find_card_documents, parse_card
from .duplicate_cards import find_duplicates
from .frontier import find_pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction

CardId = Annotated[str, "id of a card"]
Relation = Annotated[
    str,
    {"examples": ["supports", "blocks", "answers", "rejects", "supersedes", "tests"]},
    "supports, blocks, answers, rejects, supersedes, tests, or your own word",
]
CardStatus = Annotated[
    str,
    {"examples": ["open", "closed", "resolved", "rejected", "superseded"]},
    "open, closed, resolved, rejected, superseded, or your own word",
]
StatusReason = Annotated[str, "the reason, written to the trace"]
Pinned = Annotated[bool, "false unpins"]
SubgoalTitle = Annotated[str, "the question to answer"]
SubgoalText = Annotated[str, "details"]

IDS_MAX = 1000
SUBGOAL = "subgoal"

_APPLIED = object_of(APPLIED, "the numbers of written nodes and edges")
_TOUCHED = {"updated": texts("cards that changed"), "unchanged": texts("cards that already had it")}
_GROUP = ResponseSchema(
    "SameCards",
    {
        "canonical": text("the oldest of them"),
        "merged": texts("the others"),
        "similarity": number("the smallest similarity of any two, from 0 to 1"),
    },
    table=(TableColumn("canonical", min_width=8), TableColumn("merged", min_width=8), TableColumn("similarity")),
)


@operation(
    mutates=True,
    scan_secrets=True,
    aliases=BRANCH,
    answers={**CARD_REF, "edge": object_of(EDGE, "the link"), "applied": _APPLIED, "last_seq": LAST_SEQ},
    example="moss think link CARD-4 blocks CARD-2 -w shop",
    words=(
        "connect, relate, link two cards, supports, contradicts, supersedes, because of, relationship between "
        "cards, depends on, edge, one causes the other, link cards, connect two cards, card supports another, "
        "relate a decision to evidence, add a link between cards, this contradicts that, one card blocks another"
    ),
)
def branchmind_think_link(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    from_: CardId,
    rel: Relation,
    to: CardId,
    meta: Meta | None = None,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
) -> dict[str, Any]:
    """Link two existing cards; an open card that blocks another keeps it from being next."""
    link = new_edge(
        check_id(from_, what="from"),
        check_id(rel, what="rel", most=LABEL_MAX_CHARS, reserved=False),
        check_id(to, what="to"),
        meta=meta_json(meta),
    )
    documents = _find_existing_documents(tx, workspace, target, ref, graph_doc)
    changes = GraphBatch(tx, documents.graph)
    for end in (from_, to):
        if changes.live(end) is None:
            raise unknown_card(tx, documents.graph, end)
    changes.upsert(link)
    last_seq = changes.write()
    documents.graph.set_event_subject(tx)
    written = link.changed(seq=last_seq, ts_ms=tx.now_ms)
    return {**documents.to_dict(), "edge": written.to_dict(), "applied": changes.applied, "last_seq": last_seq}


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=BRANCH,
    answers={**CARD_REF, "status": text("their status now"), **_TOUCHED, "last_seq": LAST_SEQ.or_absent()},
    example="moss think set-status CARD-2 closed -w shop",
    words=(
        "close a card, resolve, reject, accept, supersede, mark a question as answered, hypothesis confirmed or "
        "refuted, obsolete, change the status of a card, withdraw, invalidate, outdated, no longer valid, "
        "disproved, proven, replace a decision, mark as rejected, mark a hypothesis as confirmed, reject a "
        "hypothesis, question is answered, close a question, set the status of a card, decision is no longer "
        "valid, accept a decision, hypothesis was wrong, card is done"
    ),
)
def branchmind_think_set_status(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    ids: OneOrMore,
    status: CardStatus,
    reason: StatusReason | None = None,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
) -> dict[str, Any]:
    """Change the status of one or more cards, with the `reason`; all or none."""
    new_status = check_label(status, what="status")
    if new_status is None:
        raise invalid_request("`status` is blank; say what the cards are, e.g. closed", path="status")
    documents = _find_existing_documents(tx, workspace, target, ref, graph_doc)
    changes = GraphBatch(tx, documents.graph)
    cards = [_find_card(changes, card_id) for card_id in _check_ids(ids)]
    updated = [card for card in cards if card.status != new_status]
    why = (reason or "").strip() or None
    for card in updated:
        trace = documents.trace if target is not None else trace_of_card(tx, documents.graph, card.key)
        change_status(tx, trace, changes, card, new_status, reason=why, graph_doc=documents.graph.doc)
    documents.graph.set_event_subject(tx)
    fields = {"status": new_status, "updated": [card.key for card in updated]}
    fields["unchanged"] = [card.key for card in cards if card not in updated]
    return {**documents.to_dict(), **fields, **({"last_seq": changes.write()} if updated else {})}


@operation(
    mutates=True,
    idempotent=True,
    aliases=BRANCH,
    answers={**CARD_REF, "pinned": flag("true if they are pinned now"), **_TOUCHED},
    example="moss think pin CARD-2 -w shop",
    words=(
        "pin, keep on top, important, unpin, star, favourite, make a favourite, pin a card, keep a card on top, "
        "mark a card as important, highlight a card, unpin a card, always show first"
    ),
)
def branchmind_think_pin(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    ids: OneOrMore,
    pinned: Pinned = True,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
) -> dict[str, Any]:
    """Pin cards so that they come first, or unpin them; the cards themselves do not change."""
    documents = _find_existing_documents(tx, workspace, target, ref, graph_doc)
    changes = GraphBatch(tx, documents.graph)
    card_ids = [str(_find_card(changes, card_id).key) for card_id in _check_ids(ids)]
    own = {"branch_id": documents.graph.branch.branch_id, "doc": documents.graph.doc, "pinned": int(pinned)}
    pins = find_pins(tx, changes.view)
    updated = [card_id for card_id in card_ids if (card_id in pins) != pinned]
    for card_id in updated:
        row = {**own, "seq": reserve_seqs(tx), "card_id": card_id}
        tx.run(sql["supersede_pin"], row)
        tx.run(sql["add_pin"], row)
    documents.graph.set_event_subject(tx)
    unchanged = [card_id for card_id in card_ids if card_id not in updated]
    return {**documents.to_dict(), "pinned": pinned, "updated": updated, "unchanged": unchanged}


@operation(
    mutates=True,
    scan_secrets=True,
    aliases=BRANCH,
    answers={
        **CARD_REF,
        "subgoal_id": text("the new card"),
        "question_id": text("the question that it belongs to"),
        "child_trace_doc": text("its trace document"),
        "child_graph_doc": text("its graph document"),
        "inserted": flag("true"),
        "last_seq": LAST_SEQ,
    },
    example="moss think subgoal-open CARD-2 -w shop --title 'Who clears the cache?'",
    words=(
        "sub-question, break a question down, open a subgoal, open a sub-question, split a question, smaller "
        "question, investigate part of a question, side investigation, nested question"
    ),
)
def branchmind_think_subgoal_open(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    question_id: CardId,
    title: SubgoalTitle | None = None,
    text: SubgoalText | None = None,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
) -> dict[str, Any]:
    """Open a subgoal of a question, with a trace and a graph of its own."""
    documents = _find_existing_documents(tx, workspace, target, ref, graph_doc)
    question = _find_card(GraphBatch(tx, documents.graph), question_id)
    if question.type != "question":
        raise unknown_card(tx, documents.graph, question_id, kind="question")
    subgoal_title = (title or "").strip() or default_title(question.title or question.key)
    body = (text or "").strip() or None
    fields = {"id": None, "type": "question", "title": subgoal_title, "text": body, "status": None, "tags": [SUBGOAL]}
    written = commit_card(tx, documents, Card({**fields, "meta": {}}))
    subgoal_id = written["card_id"]
    changes = GraphBatch(tx, documents.graph)
    changes.upsert(new_edge(question_id, SUBGOAL, subgoal_id))
    last_seq = changes.write()
    docs = {"child_trace_doc": f"{subgoal_id}-trace", "child_graph_doc": f"{subgoal_id}-graph"}
    for shape, doc in (("log", docs["child_trace_doc"]), ("graph", docs["child_graph_doc"])):
        touch_document(tx, documents.graph.branch.branch_id, doc, last_seq, None, shape=shape)
    documents.graph.set_event_subject(tx)
    ids = {"subgoal_id": subgoal_id, "question_id": question_id}
    return {**documents.to_dict(), **ids, **docs, "inserted": True, "last_seq": last_seq}


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=BRANCH,
    answers={
        **CARD_REF,
        "subgoal_id": text("the subgoal"),
        "status": choice(("closed",), "its status now"),
        "return_card_id": text("the card with its result", optional=True),
        "applied": _APPLIED,
    },
    example="moss think subgoal-close CARD-9 -w shop --return-card 'The worker clears it.'",
    words=(
        "finish a sub-question, answer of a subgoal, close a subgoal, close a sub-question, sub-question is "
        "answered, return from a subgoal, result of a side investigation"
    ),
)
def branchmind_think_subgoal_close(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    subgoal_id: CardId,
    return_card: CardInput | None = None,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
) -> dict[str, Any]:
    """Close a subgoal, with a card that states its result; the question above stays open."""
    documents = _find_existing_documents(tx, workspace, target, ref, graph_doc)
    subgoal = _find_card(GraphBatch(tx, documents.graph), subgoal_id)
    if SUBGOAL not in subgoal.tags():
        raise unknown_card(tx, documents.graph, subgoal_id, kind="subgoal")
    returned: dict[str, Any] = {}
    applied = {"nodes_upserted": 0, "nodes_deleted": 0, "edges_upserted": 0, "edges_deleted": 0}
    if return_card is not None:
        written = commit_card(tx, documents, Card(parse_card(return_card, workspace=workspace, what="return_card")))
        returned["return_card_id"] = written["card_id"]
        applied.update((name, applied[name] + count) for name, count in written["graph_applied"].items())
    changes = GraphBatch(tx, documents.graph)
    if subgoal.status != "closed":
        changes.upsert(subgoal.with_fields(status="closed"))
    if returned:
        link = new_edge(subgoal_id, "returns", returned["return_card_id"])
        if changes.live(str(link.key)) is None:
            changes.upsert(link)
    if any(changes.applied.values()):
        changes.write()
    documents.graph.set_event_subject(tx)
    total = {name: applied[name] + count for name, count in changes.applied.items()}
    return {**documents.to_dict(), "subgoal_id": subgoal_id, "status": "closed", **returned, "applied": total}


@operation(
    mutates=True,
    idempotent=True,
    aliases=BRANCH,
    writes_if=lambda values: not values.get("dry_run"),
    answers={**CARD_REF, "groups": list_of(_GROUP, "groups of duplicate cards"), "applied": _APPLIED},
    example="moss think nominal-merge -w shop --dry-run",
    words=(
        "duplicates, deduplicate, same card twice, fold together, merge duplicate cards, two cards say the same, "
        "same hypothesis twice, remove duplicate cards, combine cards, fold duplicates"
    ),
)
def branchmind_think_nominal_merge(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    candidate_ids: OneOrMore | None = None,
    dry_run: ReportOnly = False,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
) -> dict[str, Any]:
    """Merge cards that say the same into the oldest of them: the others get status `merged` and an edge `dedup`."""
    documents = _find_existing_documents(tx, workspace, target, ref, graph_doc)
    changes = GraphBatch(tx, documents.graph)
    chosen = None
    if candidate_ids is not None:
        chosen = [_find_card(changes, card_id) for card_id in _check_ids(candidate_ids, what="candidate_ids")]
    groups = find_duplicates(tx, documents.graph, chosen)
    for group in groups:
        for card in group.others:
            changes.upsert(card.with_fields(status="merged"))
            changes.upsert(new_edge(str(card.key), "dedup", str(group.canonical.key)))
    if groups and not dry_run:
        changes.write()
    if not dry_run:
        documents.graph.set_event_subject(tx)
    applied = dict.fromkeys(changes.applied, 0) if dry_run else changes.applied
    return {**documents.to_dict(), "groups": [group.to_dict() for group in groups], "applied": applied}


def default_title(question: str) -> str:
    """Return the default title of a subgoal, from the title or id of its question."""
    return f"Subgoal of {question}"[:TITLE_MAX_CHARS]


def _find_existing_documents(
    tx: Transaction, workspace: str, target: str | None, ref: str | None, graph_doc: str | None
) -> CardDocuments:
    """Return the documents of the cards to change; raise `NOT_FOUND` if the graph does not exist."""
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    documents.graph.graph(tx)
    return documents


def _check_ids(ids: str | list[str], *, what: str = "ids") -> list[str]:
    card_ids = as_list(ids)
    if not 1 <= len(card_ids) <= IDS_MAX:
        raise invalid_request(f"`{what}` has {len(card_ids)} entries; give 1 to {IDS_MAX}", path=what)
    return card_ids


def _find_card(changes: GraphBatch, card_id: str) -> Version:
    """Return a live card; raise `NOT_FOUND` if there is none."""
    card = changes.live(card_id)
    if card is None or card.type not in CARD_TYPES:
        raise unknown_card(changes.tx, changes.document, card_id)
    return card
