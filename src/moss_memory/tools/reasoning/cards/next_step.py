"""The next call of a graph of cards: follows the first open card to the one that can be worked on now."""

from __future__ import annotations

from moss_memory.errors import next_call
from moss_memory.tools.reasoning.graph.node_versions import Version, versions
from moss_memory.tools.task.model.task_status import brief

from .frontier import RANKED_TYPES, find_blockers, find_cards, find_settled, is_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View

    from .card_model import CardDocuments

_TITLE_CHARS = 80
_IGNORED_RELATIONS = ("blocks", "dedup", "supersedes", "subgoal", "returns")
"""Relations that say nothing about the progress of a card."""
_BEGINNINGS = ("Result of ", "Test of ", "Hypothesis for ")
_STEPS_MAX = 50
_FAILED = ("rejected", "superseded", "merged", "withdrawn")


def next_call_for(
    tx: ReadTransaction, view: View, documents: CardDocuments, found: list[dict[str, Any]], by_type: dict[str, int]
) -> dict[str, Any]:
    """Return the next call for the first card of the frontier, or for a graph in which nothing is open.

    Sent as it is, the call changes the state so that the next one differs, or it is refused with what is missing.
    """
    step = _NextStep(tx, view, documents)
    if found:
        return step.of_card(step.card(found[0]["id"]))
    if not by_type:
        card = {"title": "What this is about and what done means"}
        return step.write("frame", card, {}, "there are no cards yet")
    if not any(by_type.get(kind) for kind in RANKED_TYPES):
        return step.write("question", {"title": "What is to be found out"}, {}, "nothing is open")
    card = {"title": "(fill in: what is to be found out next)"}
    return step.write("question", card, {}, "everything is settled; ask only if something is still unknown")


class _NextStep:
    """A walk from an open card along its links, with the cards that it passed."""

    def __init__(self, tx: ReadTransaction, view: View, documents: CardDocuments) -> None:
        self._tx = tx
        self._view = view
        self._documents = documents
        self._doc = documents.graph.doc
        self._passed: set[str] = set()

    def card(self, card_id: str) -> Version:
        """Return a card that exists."""
        return find_cards(self._tx, self._view, self._doc, ids=[card_id])[0]

    def of_card(self, card: Version) -> dict[str, Any]:
        """Return the next call for an open card: for its first blocker, else for an open card that links to it."""
        above: list[Version] = []
        while True:
            self._passed.add(card.key)
            blockers = find_blockers(self._tx, self._view, self._doc, [card.key]).get(card.key, [])
            if blockers:
                blocker = self.card(blockers[0])
                if not self._can_pass(blocker):
                    reason = f"{blocker.key} blocks {card.key}; close it once it no longer does"
                    return self._close(blocker, f"it no longer blocks {card.key}", reason)
                card, above = blocker, []
                continue
            linked = self._linked(card)
            below = self._open_below(linked)
            if below is None:
                return self._of_leaf(card, linked, above)
            above.append(card)
            card = below

    def _of_leaf(self, card: Version, linked: list[Version], above: list[Version]) -> dict[str, Any]:
        """Return the next call for an open card that nothing blocks and no open card links to."""
        valid = [one for one in linked if one.status not in _FAILED]
        if card.type == "test":
            return self._of_test(card, valid)
        if card.type == "hypothesis":
            return self._of_hypothesis(card, valid, above)
        return self._of_question(card, valid)

    def _can_pass(self, card: Version) -> bool:
        return card.type in RANKED_TYPES and card.key not in self._passed and len(self._passed) < _STEPS_MAX

    def write(self, type: str, card: dict[str, str], links: dict[str, list[str]], reason: str) -> dict[str, Any]:
        """Return the call that writes a card of a type with links."""
        here = self._documents.arguments()
        doc = {"graph_doc": here["graph_doc"]} if "graph_doc" in here else {}
        trace = {} if self._documents.trace.doc == "trace" else {"trace_doc": self._documents.trace.doc}
        document = {"workspace": here["workspace"], "branch": here["ref"], **doc, **trace}
        return next_call(f"branchmind_think_add_{type}", {**document, "card": card, **links}, reason)

    def _linked(self, card: Version) -> list[Version]:
        """Return the cards with a link to this one, the last changed first."""
        rels = ", ".join(f"'{rel}'" for rel in _IGNORED_RELATIONS)
        chosen = f"{self._tx.sql_in('v.to_id', 'ids')} and v.rel not in ({rels}) and v.deleted = 0"
        links = versions(self._tx, self._view, self._doc, chosen, {"ids": [card.key]})
        sources = sorted({str(link.from_id) for link in links})
        return sorted(find_cards(self._tx, self._view, self._doc, ids=sources), key=lambda one: -one.seq)

    def _open_below(self, linked: list[Version]) -> Version | None:
        """Return the open card to go on with among linked ones, preferably one that nothing blocks."""
        cards = [one for one in linked if is_open(one) and self._can_pass(one)]
        settled = find_settled(self._tx, self._view, self._doc, [one.key for one in cards])
        cards = [one for one in cards if one.key not in settled]
        blocked = find_blockers(self._tx, self._view, self._doc, [one.key for one in cards])
        free = [one for one in cards if not blocked.get(one.key)]
        return next(iter([*free, *cards]), None)

    def _of_test(self, test: Version, linked: list[Version]) -> dict[str, Any]:
        results = [one.key for one in linked if one.type == "evidence"]
        if results:
            return self._close(test, f"{results[0]} has its result", f"{results[0]} says what {test.key} showed")
        card = {"title": f"Result of {_title(test)}"}
        return self.write("evidence", card, {"supports": [test.key]}, "run the test and write down what it showed")

    def _of_hypothesis(self, hypothesis: Version, linked: list[Version], above: list[Version]) -> dict[str, Any]:
        if any(one.type in ("test", "evidence") for one in linked):
            questions = [one.key for one in above if one.type == "question"][-1:]
            links = {"supports": [hypothesis.key], **({"answers": questions} if questions else {})}
            reason = "its tests are done; say what was decided, with `rejects` instead of `supports` if it failed"
            return self._decide(hypothesis, links, reason)
        card = {"title": f"Test of {_title(hypothesis)}"}
        return self.write("test", card, {"tests": [hypothesis.key]}, "say how the hypothesis could be shown wrong")

    def _of_question(self, question: Version, linked: list[Version]) -> dict[str, Any]:
        if any(one.type in ("hypothesis", "test", "evidence") for one in linked):
            return self._decide(
                question, {"answers": [question.key]}, "what was found answers it; say what was decided"
            )
        card = {"title": f"Hypothesis for {_title(question)}"}
        return self.write("hypothesis", card, {"supports": [question.key]}, "answer the question with a hypothesis")

    def _decide(self, card: Version, links: dict[str, list[str]], reason: str) -> dict[str, Any]:
        told = {"title": f"Decision on {_title(card)}", "text": "(fill in: what was decided and why)"}
        return self.write("decision", told, links, reason)

    def _close(self, card: Version, why: str, reason: str) -> dict[str, Any]:
        arguments = {**self._documents.arguments(), "ids": [card.key], "status": "closed", "reason": why}
        return next_call("branchmind_think_set_status", arguments, reason)


def _title(card: Version) -> str:
    """Return the title of a card without the beginnings that earlier proposals gave it."""
    title = str(card.title or card.text or card.key)
    for beginning in _BEGINNINGS:
        title = title.removeprefix(beginning)
    return brief(title, _TITLE_CHARS)
