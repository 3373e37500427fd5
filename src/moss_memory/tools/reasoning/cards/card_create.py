"""Tools that write cards: `think_card`, and one tool for each type of card."""

from __future__ import annotations

from moss_memory.registry.cli_traits import Cli
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
    from collections.abc import Callable
    from typing import Any

    from moss_memory.registry.operation import Body
    from moss_memory.storage.engine import Transaction


def _describe_card(answer: dict[str, Any], _: dict[str, Any]) -> str:
    return "Added card {card_id}." if answer["inserted"] else "Card {card_id} is there already; nothing changed."


_TRAITS: dict[str, Any] = {
    "mutates": True, "scan_secrets": True, "idempotent": True, "aliases": REF, "answers": WRITTEN_CARD,
    "cli": Cli(sentence=_describe_card),
}  # fmt: skip


def _writes_card(type: str | None, *, links: tuple[str, ...] = ()) -> Callable[[Callable[[], None]], Body]:
    """Give a function that has only a name and a docstring the arguments and the body of a tool that writes cards.

    Cards get this type, or their own if None. The list of tools shows `supports`, `blocks` and these `links`; the
    others are accepted.
    """

    def body(
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
        ids = (supports, blocks, answers, rejects, supersedes, tests)
        given_links = {rel: as_list(linked_ids) for rel, linked_ids in zip(LINKS, ids, strict=True)}
        parsed = Card(parse_card(card, workspace=workspace, type=type), given_links)
        docs = {"trace_doc": trace_doc, "graph_doc": graph_doc}
        documents = find_card_documents(
            tx, workspace, target=target, branch=branch, **docs, writer=tx, with_branch=True
        )
        documents.graph.set_event_subject(tx)
        return commit_card(tx, documents, parsed)

    body.__annotations__ |= dict.fromkeys(links, "OneOrMore | None")

    def replace(tool: Callable[[], None]) -> Body:
        body.__name__, body.__doc__ = tool.__name__, tool.__doc__
        return body

    return replace


@operation(
    **_TRAITS,
    example="moss think card 'The cache is never cleared.' -w shop",
    words=(
        "note a thought, record a decision, hypothesis, question, evidence, reasoning, think aloud, why we chose,"
        " add a card, capture an idea, thought, write a card, create a card, record what I think, note an insight"
        " with links, replace an older decision, card that answers a question, reverse a decision"
    ),
)
@_writes_card(None, links=LINKS)
def branchmind_think_card() -> None:
    """Write a card of any type, with its links, to trace and graph; the same card again changes nothing.

    Types: frame, hypothesis, question, test, evidence, decision, note, update. `supersedes`, `rejects` and `answers`
    set the other card's status.
    """


@operation(
    **_TRAITS,
    example="moss think add-hypothesis 'Say it in a line' -w shop",
    words=(
        "guess, suspicion, suspect, theory, assume, maybe the cause is, possible cause, might be, presumably, "
        "suspect the, I think that, add a hypothesis, propose an explanation, it could be, my guess is, new "
        "hypothesis, what if the cause, I believe, assumption, probably"
    ),
)
@_writes_card("hypothesis", links=("answers",))
def branchmind_think_add_hypothesis() -> None:
    """Write a hypothesis card: a claim that might be true."""


@operation(
    **_TRAITS,
    example="moss think add-question 'Say it in a line' -w shop",
    words=(
        "open question, unknown, ask, unclear, find out, do not know, not known yet, something to clarify, "
        "wonder, add a question, note an open question, keep a question for later, something we need to find out,"
        " we do not know whether, ask later, unanswered"
    ),
)
@_writes_card("question")
def branchmind_think_add_question() -> None:
    """Write a question card: something that is not known yet."""


@operation(
    **_TRAITS,
    example="moss think add-test 'Say it in a line' -w shop",
    words=(
        "experiment, how to check a guess, falsify, verify a theory, add a test card, plan an experiment, how can"
        " we disprove, test a hypothesis, design a test, way to check a hypothesis, verify a hypothesis"
    ),
)
@_writes_card("test", links=("tests",))
def branchmind_think_add_test() -> None:
    """Write a test card: a way to show a hypothesis wrong."""


@operation(
    **_TRAITS,
    example="moss think add-note 'Say it in a line' -w shop",
    words=(
        "keep a remark, remark on a card, observation, add a note card, note on a card, side note, note that "
        "belongs to a card, linkable note"
    ),
)
@_writes_card("note")
def branchmind_think_add_note() -> None:
    """Write a note that cards can link to; a plain one is `branchmind_notes_commit`."""


@operation(
    **_TRAITS,
    example="moss think add-decision 'Say it in a line' -w shop",
    words=(
        "decision, chosen option, choose, choice, rationale, pick, ADR, architecture decision, we agreed, settle "
        "on, went with, document a decision, add a decision, we decided, record why we chose, reason for a "
        "choice, decide between options, why we picked, write down what was decided, decision record, trade-off"
    ),
)
@_writes_card("decision", links=("answers", "rejects", "supersedes"))
def branchmind_think_add_decision() -> None:
    """Write a decision card: the choice and its reasons."""


@operation(
    **_TRAITS,
    example="moss think add-evidence 'Say it in a line' -w shop",
    words=(
        "evidence, measurement, proof, finding, log output, observed, confirm a guess, result of an experiment, "
        "benchmark, data, support a hypothesis, proof for a theory, add evidence, the test showed, what I "
        "measured, benchmark shows, result that supports a hypothesis, evidence against, it turned out, confirmed"
        " by, observation that rejects"
    ),
)
@_writes_card("evidence", links=("rejects",))
def branchmind_think_add_evidence() -> None:
    """Write an evidence card: an observation, and the cards that it supports or rejects."""


@operation(
    **_TRAITS,
    example="moss think add-frame 'Say it in a line' -w shop",
    words=(
        "define the problem, goal, scope, what does done mean, frame the problem, state the problem, problem "
        "statement, what are we solving, definition of done, constraints, describe the goal"
    ),
)
@_writes_card("frame")
def branchmind_think_add_frame() -> None:
    """Write a frame card: the problem, and the criterion of done."""


@operation(
    **_TRAITS,
    example="moss think add-update 'Say it in a line' -w shop",
    words=(
        "something changed, new information, correction of what was known, update what we know, facts have "
        "changed, new facts, situation is different now, add an update, what we knew is wrong, news about a card"
    ),
)
@_writes_card("update", links=("supersedes",))
def branchmind_think_add_update() -> None:
    """Write an update card: a change of what was known before."""
