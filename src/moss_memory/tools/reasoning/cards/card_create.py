"""Tools that write cards: `think_card`, and one tool for each type of card."""

from __future__ import annotations

from moss_memory.registry.operation import operation
from moss_memory.tools.reasoning.reasoning_arguments import (
    REF,
    Branch,
    CardInput,
    GraphDoc,
    OneOrMore,
    RequiredWorkspace,
    Target,
    TraceDoc,
    UnlistedLink,
    as_list,
)
from moss_memory.tools.reasoning.reasoning_responses import WRITTEN_CARD

from .card_links import LINKS
from .card_model import Card, commit_card, find_card_documents, parse_card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think card 'The cache is never cleared.' -w shop",
    words=(
        "note a thought, record a decision, hypothesis, question, evidence, reasoning, think aloud, why we chose,"
        " add a card, capture an idea, thought, write a card, create a card, record what I think, note an insight"
        " with links, replace an older decision, card that answers a question, reverse a decision"
    ),
)
def branchmind_think_card(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: OneOrMore | None = None,
    rejects: OneOrMore | None = None,
    supersedes: OneOrMore | None = None,
    tests: OneOrMore | None = None,
) -> dict[str, Any]:
    """Write a card (of any type) with its links to trace and graph; the same card again changes nothing.

    Types: frame, hypothesis, question, test, evidence, decision, note, update. `supersedes`, `rejects` and `answers`
    set the other card's status.
    """
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, None, workspace, card, target, branch, trace_doc, graph_doc, links)


def _write_card(
    tx: Transaction,
    type: str | None,
    workspace: str,
    card: Any,
    target: str | None,
    branch: str | None,
    trace_doc: str | None,
    graph_doc: str | None,
    links: tuple[str | list[str] | None, ...],
) -> dict[str, Any]:
    given = {rel: as_list(ids) for rel, ids in zip(LINKS, links, strict=True)}
    parsed = Card(parse_card(card, workspace=workspace, type=type), given)
    documents = find_card_documents(
        tx,
        workspace,
        target=target,
        branch=branch,
        trace_doc=trace_doc,
        graph_doc=graph_doc,
        writer=tx,
        with_branch=True,
    )
    documents.graph.set_event_subject(tx)
    return commit_card(tx, documents, parsed)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-hypothesis 'Say it in a line' -w shop",
    words=(
        "guess, suspicion, suspect, theory, assume, maybe the cause is, possible cause, might be, presumably, "
        "suspect the, I think that, add a hypothesis, propose an explanation, it could be, my guess is, new "
        "hypothesis, what if the cause, I believe, assumption, probably"
    ),
)
def branchmind_think_add_hypothesis(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: OneOrMore | None = None,
    rejects: UnlistedLink | None = None,
    supersedes: UnlistedLink | None = None,
    tests: UnlistedLink | None = None,
) -> dict[str, Any]:
    """Write a hypothesis card: what might be true."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "hypothesis", workspace, card, target, branch, trace_doc, graph_doc, links)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-question 'Say it in a line' -w shop",
    words=(
        "open question, unknown, ask, unclear, find out, do not know, not known yet, something to clarify, "
        "wonder, add a question, note an open question, keep a question for later, something we need to find out,"
        " we do not know whether, ask later, unanswered"
    ),
)
def branchmind_think_add_question(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: UnlistedLink | None = None,
    rejects: UnlistedLink | None = None,
    supersedes: UnlistedLink | None = None,
    tests: UnlistedLink | None = None,
) -> dict[str, Any]:
    """Write a question card: what is not known yet."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "question", workspace, card, target, branch, trace_doc, graph_doc, links)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-test 'Say it in a line' -w shop",
    words=(
        "experiment, how to check a guess, falsify, verify a theory, add a test card, plan an experiment, how can"
        " we disprove, test a hypothesis, design a test, way to check a hypothesis, verify a hypothesis"
    ),
)
def branchmind_think_add_test(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: UnlistedLink | None = None,
    rejects: UnlistedLink | None = None,
    supersedes: UnlistedLink | None = None,
    tests: OneOrMore | None = None,
) -> dict[str, Any]:
    """Write a test card: how a hypothesis can be shown wrong."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "test", workspace, card, target, branch, trace_doc, graph_doc, links)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-note 'Say it in a line' -w shop",
    words=(
        "keep a remark, remark on a card, observation, add a note card, note on a card, side note, note that "
        "belongs to a card, linkable note"
    ),
)
def branchmind_think_add_note(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: UnlistedLink | None = None,
    rejects: UnlistedLink | None = None,
    supersedes: UnlistedLink | None = None,
    tests: UnlistedLink | None = None,
) -> dict[str, Any]:
    """Write a note that cards can link to; a plain one is `branchmind_notes_commit`."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "note", workspace, card, target, branch, trace_doc, graph_doc, links)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-decision 'Say it in a line' -w shop",
    words=(
        "decision, chosen option, choose, choice, rationale, pick, ADR, architecture decision, we agreed, settle "
        "on, went with, document a decision, add a decision, we decided, record why we chose, reason for a "
        "choice, decide between options, why we picked, write down what was decided, decision record, trade-off"
    ),
)
def branchmind_think_add_decision(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: OneOrMore | None = None,
    rejects: OneOrMore | None = None,
    supersedes: OneOrMore | None = None,
    tests: UnlistedLink | None = None,
) -> dict[str, Any]:
    """Write a decision card: what was chosen and why."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "decision", workspace, card, target, branch, trace_doc, graph_doc, links)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-evidence 'Say it in a line' -w shop",
    words=(
        "evidence, measurement, proof, finding, log output, observed, confirm a guess, result of an experiment, "
        "benchmark, data, support a hypothesis, proof for a theory, add evidence, the test showed, what I "
        "measured, benchmark shows, result that supports a hypothesis, evidence against, it turned out, confirmed"
        " by, observation that rejects"
    ),
)
def branchmind_think_add_evidence(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: UnlistedLink | None = None,
    rejects: OneOrMore | None = None,
    supersedes: UnlistedLink | None = None,
    tests: UnlistedLink | None = None,
) -> dict[str, Any]:
    """Write an evidence card: what was seen, and what it supports or rejects."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "evidence", workspace, card, target, branch, trace_doc, graph_doc, links)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-frame 'Say it in a line' -w shop",
    words=(
        "define the problem, goal, scope, what does done mean, frame the problem, state the problem, problem "
        "statement, what are we solving, definition of done, constraints, describe the goal"
    ),
)
def branchmind_think_add_frame(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: UnlistedLink | None = None,
    rejects: UnlistedLink | None = None,
    supersedes: UnlistedLink | None = None,
    tests: UnlistedLink | None = None,
) -> dict[str, Any]:
    """Write a frame card: what the problem is and what done means."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "frame", workspace, card, target, branch, trace_doc, graph_doc, links)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=REF,
    answers=WRITTEN_CARD,
    example="moss think add-update 'Say it in a line' -w shop",
    words=(
        "something changed, new information, correction of what was known, update what we know, facts have "
        "changed, new facts, situation is different now, add an update, what we knew is wrong, news about a card"
    ),
)
def branchmind_think_add_update(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    card: CardInput,
    target: Target | None = None,
    branch: Branch | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    answers: UnlistedLink | None = None,
    rejects: UnlistedLink | None = None,
    supersedes: OneOrMore | None = None,
    tests: UnlistedLink | None = None,
) -> dict[str, Any]:
    """Write an update card: what changed in what was known."""
    links = (supports, blocks, answers, rejects, supersedes, tests)
    return _write_card(tx, "update", workspace, card, target, branch, trace_doc, graph_doc, links)
