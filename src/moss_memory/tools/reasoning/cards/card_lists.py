"""Tools that list cards: last changed, filtered, pinned, and the frontier."""

from __future__ import annotations

from moss_memory.registry.operation import operation
from moss_memory.registry.responses import list_of, object_of
from moss_memory.tools.reasoning.cursor_pages import CursorPage, Rows, fit_page
from moss_memory.tools.reasoning.graph.graph_tools import Status, TextPart
from moss_memory.tools.reasoning.graph.node_queries import NodeFilters, find_nodes
from moss_memory.tools.reasoning.graph.node_versions import select_columns
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    REF,
    Branch,
    Cursor,
    GraphDoc,
    OneOrMore,
    PageLimit,
    RequiredWorkspace,
    Target,
    as_list,
)
from moss_memory.tools.reasoning.reasoning_responses import CANDIDATE, CARD_REF, NODE, PAGINATION, STATS

from .card_model import CARD_TYPES, check_type, find_card_documents
from .frontier import find_candidates, find_pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View

CARDS = list_of(NODE, "the cards, last changed first", shown="answer")


@operation(
    idempotent=True,
    aliases=REF,
    has_budget=True,
    answers={**CARD_REF, "stats": STATS, "cards": CARDS},
    example="moss think context -w shop",
    words=(
        "recent cards, count of cards, what was thought lately, last changed cards, latest cards, how many cards,"
        " cards by type, newest thoughts, what have we been thinking about"
    ),
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
    """List the last changed cards, whole, and count them by type; without advice."""
    documents = find_card_documents(tx, workspace, target=target, branch=branch, graph_doc=graph_doc, with_branch=True)
    view = documents.graph.graph(tx)
    cards = find_nodes(tx, view, card_filter(), CursorPage(None, limit_cards))
    frame = {**documents.to_dict(), "stats": count_cards(tx, view)}
    return budget.fit(cards, lambda shown: {**frame, "cards": shown, "truncated": False}, least=0)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={**CARD_REF, "cards": CARDS, **PAGINATION},
    example="moss think query -w shop --types question --status open",
    words=(
        "find cards, filter cards, all decisions, open hypotheses, cards with a tag, show decisions, list "
        "hypotheses, cards of a type, search the cards, search cards, list decisions, all hypotheses, accepted "
        "decisions, rejected hypotheses, cards about a topic, which decisions, list cards, cards by status, all "
        "evidence, show cards"
    ),
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
    """Find cards by id, type, status, tags or text, last changed first; filters combine with and."""
    kinds = list(CARD_TYPES)
    if types is not None:
        kinds = [check_type(raw_type, what="types", workspace=workspace) for raw_type in as_list(types)]
    filters = NodeFilters(ids=ids, types=kinds, status=status, tags_any=tags_any, tags_all=tags_all, text=text)
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    view = documents.graph.graph(tx)
    page = CursorPage(cursor, limit)
    cards = find_nodes(tx, view, filters, page)
    return fit_page(budget, page, cards, documents.to_dict(), "cards", number="last_seq")


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={**CARD_REF, "pins": list_of(NODE, "the pinned cards, last changed first", shown="answer"), **PAGINATION},
    example="moss think pins -w shop",
    words=(
        "list pinned, important cards, favourites, which cards are pinned, show pinned cards, what is pinned, "
        "starred cards, most important cards"
    ),
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
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    view = documents.graph.graph(tx)
    page = CursorPage(cursor, limit)
    pinned = sorted(find_pins(tx, view))
    filters = NodeFilters(ids=pinned, types=list(CARD_TYPES), trusted=True) if pinned else None
    cards = Rows([], more=False) if filters is None else find_nodes(tx, view, filters, page)
    return fit_page(budget, page, cards, documents.to_dict(), "pins", number="last_seq")


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={**CARD_REF, "candidates": list_of(CANDIDATE, "the cards to continue with, best first", shown="answer")},
    example="moss think frontier -w shop",
    words=(
        "open questions, what is still open, unresolved, all candidates, loose ends, remaining questions, open "
        "issues in the reasoning, which questions are open, unanswered questions, untested hypotheses, what do we"
        " not know yet, what remains to be answered, undecided, still unclear"
    ),
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
    """List all open questions, hypotheses and tests, best first; a card that a decision settled is not open."""
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    candidates = find_candidates(tx, documents.graph.graph(tx), limit=min(limit, 200))
    return budget.fit(
        candidates, lambda shown: {**documents.to_dict(), "candidates": shown, "truncated": False}, least=0
    )


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        **CARD_REF,
        "candidate": object_of(
            CANDIDATE, "the card to continue with; null when nothing is open", nullable=True, shown="opened"
        ),
    },
    example="moss think next -w shop",
    words=(
        "which question next, what to think about next, one suggestion, next card, next question, next "
        "hypothesis, which hypothesis should I test next, what should I think about, most promising idea"
    ),
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
    """Show only the one card to continue with; null if nothing is open."""
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    candidates = find_candidates(tx, documents.graph.graph(tx), limit=1)
    return budget.fit(
        candidates, lambda shown: {**documents.to_dict(), "candidate": shown[0] if shown else None, "truncated": False}
    )


def card_filter() -> NodeFilters:
    return NodeFilters(types=list(CARD_TYPES))


def count_cards(tx: ReadTransaction, view: View) -> dict[str, Any]:
    """Count the cards of a view, in total and by type."""
    kinds = ", ".join(f"'{kind}'" for kind in CARD_TYPES)
    by_type = dict.fromkeys(CARD_TYPES, 0)
    chosen = f"v.type in ({kinds}) and v.deleted = 0 group by v.type"
    for kind, count in select_columns(tx, view, "v.type, count(*)", chosen, {}):
        by_type[kind] += count
    return {"cards": sum(by_type.values()), "by_type": {kind: count for kind, count in by_type.items() if count}}
