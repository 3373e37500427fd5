"""Packs that resume work: cards, frontier, context, watch, templates, playbooks; each fits its budget."""

from __future__ import annotations

from ..answers import Shape, free, list_of, object_of, text, texts
from ..artifact.answers import ITEM
from ..capsule.answers import CAPSULE
from ..errors import MossError, invalid, next_call
from ..families import FAMILY_OF
from ..operation import operation
from ..values import label, norm
from .answers import CANDIDATE, CARD_PLACE, LAST_ENTRIES, NEXT, NODE, PAGINATION, STATS
from .arguments import (
    BRANCH,
    REF,
    Branch,
    Cursor,
    CursorPage,
    GraphDoc,
    NotesDoc,
    OneOrMore,
    PageLimit,
    RequiredWorkspace,
    Target,
    TraceDoc,
    as_list,
)
from .cards import CARD_TYPES, CardPlace, card_place, checked_type
from .documents import Rows, paged, tail
from .frontier import candidates, next_of, pins_of
from .graph import NodeFilters, Status, TextPart, next_node, nodes_of
from .places import NOTES, Place, place_of
from .templates import PLAYBOOKS, card_template
from .versions import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ..budget import Budget
    from ..storage.engine import ReadTransaction
    from .views import View

    CardType = str
    Playbook = str
    Include = list[Literal["capsules", "artifacts"]]
    RunOfWork = str
else:
    CardType = {"type": "string", "description": "type of card"}
    Playbook = {"type": "string", "description": "name of the playbook"}
    Include = {
        "type": "array",
        "items": {"type": "string", "enum": ["capsules", "artifacts"]},
        "description": "also the latest capsule, and the artifacts of the run",
    }
    RunOfWork = {"type": "string", "description": "default: the latest capsule's"}

CANDIDATES = 5
ARTIFACTS_MAX = 20

_CARDS = list_of(NODE, "the cards, last changed first", shown="answer")
_TEMPLATE = Shape(
    "CardTemplate",
    {
        "id": text("empty: it gets one"),
        "type": text("type of card"),
        "title": text("what to say in a line"),
        "text": text("what to tell"),
        "status": text("open"),
        "tags": texts("none yet"),
        "meta": free("none yet"),
    },
)
_PLAYBOOK = Shape("Playbook", {"goal": text("what it leads to"), "steps": texts("what to do, in order")})
_DOCS = Shape("Documents", {name: text("document") for name in ("notes", "trace", "graph")})


@operation(
    idempotent=True,
    bounded=True,
    answers={
        "type": text("type of card"),
        "supported_types": texts("all there are"),
        "template": object_of(_TEMPLATE, "a card to fill in"),
    },
    example="moss think template hypothesis -w shop",
)
def branchmind_think_template(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    type: CardType,
    budget: Budget,
) -> dict[str, Any]:
    """Show a card of a type to be filled in: frame, hypothesis, question, test, evidence, decision, note, update."""
    norm(workspace)  # refuses a blank one
    kind = checked_type(type, what="type", workspace=workspace)
    return budget.fit(
        [card_template(kind)],
        lambda kept: {"type": kind, "supported_types": list(CARD_TYPES), "template": kept[0], "truncated": False},
    )


@operation(
    idempotent=True,
    bounded=True,
    answers={"name": text("its name"), "template": object_of(_PLAYBOOK, "what to do")},
    example="moss think playbook debug -w shop",
)
def branchmind_think_playbook(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    name: Playbook,
    budget: Budget,
) -> dict[str, Any]:
    """Show the steps of a way to think: default, debug, bisect, experiment, criteria_matrix, contradiction."""
    norm(workspace)  # refuses a blank one
    playbook = PLAYBOOKS.get(name)
    if playbook is None:
        known = ", ".join(PLAYBOOKS)
        raise MossError(
            "NOT_FOUND",
            f"there is no playbook {name[:100]!r}; there are {known}",
            details={"known": list(PLAYBOOKS)},
            recovery=next_call(
                "branchmind_think_playbook", {"workspace": workspace, "name": "default"}, f"there are {known}"
            ),
        )
    goal, steps = playbook["goal"], playbook["steps"]
    return budget.fit(
        steps,
        lambda kept: {"name": name, "template": {"goal": goal, "steps": kept}, "truncated": False},
        least=0,
    )


@operation(
    idempotent=True,
    aliases=REF,
    bounded=True,
    answers={**CARD_PLACE, "stats": STATS, "cards": _CARDS},
    example="moss think context -w shop",
)
def branchmind_think_context(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    branch: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    limit_cards: PageLimit = 30,
    budget: Budget,
) -> dict[str, Any]:
    """Show the last changed cards of a branch, and how many there are of each type."""
    place = card_place(tx, workspace, target=target, branch=branch, graph_doc=graph_doc, with_branch=True)
    view = place.graph.graph(tx)
    cards = nodes_of(tx, view, place.graph.doc, _cards_only(), CursorPage(None, limit_cards))
    frame = {**place.shown(), "stats": _stats(tx, view, place.graph.doc)}
    return budget.fit(
        cards,
        lambda kept: {**frame, "cards": kept, "truncated": False},
        least=0,
    )


@operation(
    idempotent=True,
    aliases=BRANCH,
    bounded=True,
    answers={**CARD_PLACE, "cards": _CARDS, **PAGINATION},
    example="moss think query -w shop --types question --status open",
)
def branchmind_think_query(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    ids: OneOrMore | None = None,
    types: OneOrMore | None = None,
    status: Status | None = None,
    tags_any: OneOrMore | None = None,
    tags_all: OneOrMore | None = None,
    text: TextPart | None = None,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """Find cards, last changed first; filters combine with and."""
    kinds = list(CARD_TYPES) if types is None else _known_types(types, workspace)
    filters = NodeFilters(ids=ids, types=kinds, status=status, tags_any=tags_any, tags_all=tags_all, text=text)
    place = card_place(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    view = place.graph.graph(tx)
    page = CursorPage(cursor, limit)
    cards = nodes_of(tx, view, place.graph.doc, filters, page)
    return _card_page(place, page, cards, "cards", budget)


@operation(
    idempotent=True,
    aliases=BRANCH,
    bounded=True,
    answers={**CARD_PLACE, "pins": list_of(NODE, "the pinned cards, last changed first", shown="answer"), **PAGINATION},
    example="moss think pins -w shop",
)
def branchmind_think_pins(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """List the pinned cards, last changed first."""
    place = card_place(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    view = place.graph.graph(tx)
    page = CursorPage(cursor, limit)
    pinned = sorted(pins_of(tx, view, place.graph.doc))
    filters = NodeFilters(ids=pinned, types=list(CARD_TYPES), trusted=True) if pinned else None
    cards = Rows([], more=False) if filters is None else nodes_of(tx, view, place.graph.doc, filters, page)
    return _card_page(place, page, cards, "pins", budget)


@operation(
    idempotent=True,
    aliases=BRANCH,
    bounded=True,
    answers={**CARD_PLACE, "candidates": list_of(CANDIDATE, "the cards to go on with, best first", shown="answer")},
    example="moss think frontier -w shop",
)
def branchmind_think_frontier(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    limit: PageLimit = 20,
    budget: Budget,
) -> dict[str, Any]:
    """List the open questions, hypotheses and tests to go on with, best first, each with the reason.

    What a decision that links to it has settled is not open.
    """
    place = card_place(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    found = candidates(tx, place.graph.graph(tx), place.graph.doc, limit=min(limit, 200))
    return budget.fit(
        found,
        lambda kept: {**place.shown(), "candidates": kept, "truncated": False},
        least=0,
    )


@operation(
    idempotent=True,
    aliases=BRANCH,
    bounded=True,
    answers={
        **CARD_PLACE,
        "candidate": object_of(
            CANDIDATE, "the card to go on with; null when nothing is open", nullable=True, shown="opened"
        ),
    },
    example="moss think next -w shop",
)
def branchmind_think_next(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """Show the one card to go on with, or null when nothing is open."""
    place = card_place(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    found = candidates(tx, place.graph.graph(tx), place.graph.doc, limit=1)
    return budget.fit(
        found,
        lambda kept: {**place.shown(), "candidate": kept[0] if kept else None, "truncated": False},
    )


@operation(
    idempotent=True,
    aliases=BRANCH,
    bounded=True,
    answers={
        **CARD_PLACE,
        "stats": STATS,
        "cards": _CARDS,
        "candidates": list_of(CANDIDATE, "the cards to go on with, best first"),
        "next": NEXT,
    },
    example="moss think pack -w shop --max-chars 2000",
)
def branchmind_think_pack(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    limit_cards: PageLimit = 10,
    budget: Budget,
) -> dict[str, Any]:
    """Show in one small answer the last cards, how many there are, what to go on with, and the next call."""
    place = card_place(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    view = place.graph.graph(tx)
    cards = nodes_of(tx, view, place.graph.doc, _cards_only(), CursorPage(None, limit_cards))
    found = candidates(tx, view, place.graph.doc, limit=CANDIDATES)
    stats = _stats(tx, view, place.graph.doc)
    following = next_of(place, found, stats["cards"])

    def build(kept: list[Any]) -> dict[str, Any]:
        parts = _parted(kept)
        shown = {**place.shown(), "stats": stats, "cards": parts["cards"], "candidates": parts["candidates"]}
        return {**shown, "next": following, "truncated": False}

    rows = [*_labelled("candidates", found), *_labelled("cards", cards)]
    return budget.fit(rows, build, least=0)


@operation(
    idempotent=True,
    aliases=BRANCH,
    bounded=True,
    answers={
        **CARD_PLACE,
        "trace_doc": text("document of its trace"),
        "candidates": list_of(CANDIDATE, "the cards to go on with, best first"),
        "trace": LAST_ENTRIES,
    },
    example="moss think watch -w shop",
)
def branchmind_think_watch(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    trace_doc: TraceDoc | None = None,
    limit: PageLimit = 10,
    trace_limit: PageLimit = 20,
    budget: Budget,
) -> dict[str, Any]:
    """Show what is open and what happened last: the frontier and the end of the trace."""
    place = card_place(tx, workspace, target=target, branch=ref, graph_doc=graph_doc, trace_doc=trace_doc)
    page = CursorPage(None, trace_limit)
    steps = tail(tx, place.trace, page)
    found = candidates(tx, place.graph.graph(tx), place.graph.doc, limit=min(limit, 200))

    def build(kept: list[Any]) -> dict[str, Any]:
        parts = _parted(kept)
        trace = paged(page, steps, parts["trace"])
        shown = {**place.shown(), "trace_doc": place.trace.doc, "candidates": parts["candidates"]}
        return {**shown, "trace": trace, "truncated": False}

    rows = [*_labelled("candidates", found), *_labelled("trace", steps)]
    return budget.fit(rows, build, least=0)


@operation(
    idempotent=True,
    aliases=BRANCH,
    bounded=True,
    answers={
        "branch": text("branch"),
        "docs": object_of(_DOCS, "where they are"),
        "notes": LAST_ENTRIES,
        "trace": LAST_ENTRIES,
        "cards": _CARDS,
        "stats": STATS,
        "capsules": list_of(CAPSULE, "the latest capsule of the workspace", optional=True),
        "artifacts": list_of(ITEM, "the last artifacts of the run", optional=True),
        "next": NEXT,
    },
    example="moss think context-pack --target TASK-001 -w shop",
)
def branchmind_context_pack(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    notes_doc: NotesDoc | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    notes_limit: PageLimit = 20,
    trace_limit: PageLimit = 50,
    limit_cards: PageLimit = 30,
    include: Include | None = None,
    run_id: RunOfWork | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """Resume work in one call: last notes, trace and cards of a target or branch, and the next call to make."""
    if target is not None and notes_doc is not None:
        raise invalid("`target` already says where; leave `notes_doc` out", path="notes_doc")
    place = card_place(tx, workspace, target=target, branch=ref, graph_doc=graph_doc, trace_doc=trace_doc)
    notes = place_of(tx, workspace, target=target, branch=ref, doc=notes_doc, kind=NOTES)
    pack = _Pack(tx, place, notes, notes_limit, trace_limit, limit_cards)
    following = _next_of_work(tx, place, target, pack)
    extra, cut = _beside(tx, workspace, include or [], run_id)

    def build(kept: list[Any]) -> dict[str, Any]:
        parts = _parted(kept)
        beside = {name: parts[name] for name in extra}
        return {**pack.shown(parts), **beside, "next": following, "truncated": cut}

    rows = [*(row for name, found in extra.items() for row in _labelled(name, found)), *pack.rows()]
    return budget.fit(rows, build, least=0)


class _Pack:
    """The last notes, trace entries and cards of one place."""

    def __init__(
        self,
        tx: ReadTransaction,
        place: CardPlace,
        notes: Place,
        notes_limit: int,
        trace_limit: int,
        limit_cards: int,
    ) -> None:
        self._place = place
        self._notes_doc = notes.doc
        self._pages = {"notes": CursorPage(None, notes_limit), "trace": CursorPage(None, trace_limit)}
        self._logs = {
            "notes": tail(tx, notes, self._pages["notes"]),
            "trace": tail(tx, place.trace, self._pages["trace"]),
        }
        view = place.graph.graph(tx)
        self._cards = nodes_of(tx, view, place.graph.doc, _cards_only(), CursorPage(None, limit_cards))
        self.candidates = candidates(tx, view, place.graph.doc, limit=1)
        self.stats = _stats(tx, view, place.graph.doc)

    def rows(self) -> list[dict[str, Any]]:
        """Everything in it, the newest first."""
        labelled = [
            row for name, rows in (*self._logs.items(), ("cards", self._cards)) for row in _labelled(name, rows)
        ]
        return sorted(labelled, key=lambda one: -int(one["row"].get("seq") or one["row"]["last_seq"]))

    def shown(self, parts: dict[str, list[Any]]) -> dict[str, Any]:
        """The pack with those parts that fit."""
        docs = {"notes": self._notes_doc, "trace": self._place.trace.doc, "graph": self._place.graph.doc}
        logs = {name: paged(self._pages[name], rows, parts[name]) for name, rows in self._logs.items()}
        branch = self._place.graph.branch.name
        # Without any row the budget is tight, and the next call is worth more than the counts.
        stats = self.stats if any(parts.values()) else {**self.stats, "by_type": {}}
        return {"branch": branch, "docs": docs, **logs, "cards": parts["cards"], "stats": stats}


def _labelled(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that remember which part of the answer they belong to."""
    return [{"part": name, "row": row} for row in rows]


def _parted(kept: list[dict[str, Any]]) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {
        name: [] for name in ("artifacts", "candidates", "capsules", "cards", "notes", "trace")
    }
    for one in kept:
        parts[one["part"]].append(one["row"])
    return parts


def _cards_only() -> NodeFilters:
    return NodeFilters(types=list(CARD_TYPES))


def _known_types(types: str | list[str], workspace: str) -> list[str]:
    return [checked_type(one, what="types", workspace=workspace) for one in as_list(types)]


def _stats(tx: ReadTransaction, view: View, doc: str) -> dict[str, Any]:
    """How many cards a view shows, in all and of each type."""
    kinds = ", ".join(f"'{kind}'" for kind in CARD_TYPES)
    by_type = dict.fromkeys(CARD_TYPES, 0)
    chosen = f"v.type in ({kinds}) and v.deleted = 0 group by v.type"
    for kind, count in select(tx, view, doc, "v.type, count(*)", chosen, {}):
        by_type[kind] += count
    return {"cards": sum(by_type.values()), "by_type": {kind: count for kind, count in by_type.items() if count}}


def _card_page(place: CardPlace, page: CursorPage, cards: Rows, key: str, budget: Budget) -> dict[str, Any]:
    return budget.fit(
        cards,
        lambda kept: {
            **place.shown(),
            key: kept,
            "pagination": page.answer(len(kept), next_node(cards, kept)),
            "truncated": False,
        },
    )


def _next_of_work(tx: ReadTransaction, place: CardPlace, target: str | None, pack: _Pack) -> dict[str, Any]:
    """The next call: a target's own, else what its cards ask for."""
    if target is None or "task" in tx.config.disabled_types:
        return next_of(place, pack.candidates, pack.stats["cards"])
    from ..work.rows import find_task
    from ..work.standing import Standing

    workspace = place.graph.workspace
    return Standing(tx, workspace, find_task(tx, workspace, target)).next()


def _beside(
    tx: ReadTransaction, workspace: str, include: Include, run_id: str | None
) -> tuple[dict[str, list[dict[str, Any]]], bool]:
    """The latest capsule of the workspace, the last artifacts of the run, and whether that has more of them."""
    found: dict[str, list[dict[str, Any]]] = {}
    closed = tx.config.disabled_types
    include = [name for name in include if FAMILY_OF[name] not in closed]
    if not include:
        return found, False
    from ..artifact.operations import artifact_list
    from ..capsule.browsing import capsule_latest

    latest = {} if "capsule" in closed else capsule_latest.body(tx, workspace=workspace, include_text=True)
    capsule = latest.get("item")
    cut = False
    if "capsules" in include:
        found["capsules"] = [] if capsule is None else [capsule]
    if "artifacts" in include:
        run = label(run_id, what="run_id") or (capsule or {}).get("run_id")
        found["artifacts"] = []
        if run:
            listed = artifact_list.body(tx, run_id=run, workspace=workspace, limit=ARTIFACTS_MAX)
            found["artifacts"], cut = listed["items"], listed["pagination"]["has_more"]
    return found, cut
