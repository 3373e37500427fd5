"""The next call of a graph of cards: follows the first open card to the one that can be worked on now."""

from __future__ import annotations

from moss_memory.errors import next_call
from moss_memory.tools.reasoning.graph.node_versions import Version
from moss_memory.tools.task.model.task_status import shorten_line

from .frontier import RANKED_TYPES, find_blockers, find_cards, find_links_to, find_settled, is_open_card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View

    from .card_model import CardDocuments

_TITLE_CHARS = 80
_IGNORED_RELATIONS = ("blocks", "dedup", "supersedes", "subgoal", "returns")
"""Relations that are irrelevant to the progress of a card."""
_BEGINNINGS = ("Result of ", "Test of ", "Hypothesis for ")
_STEPS_MAX = 50
_FAILED = ("rejected", "superseded", "merged", "withdrawn")


def next_call_for(
    tx: ReadTransaction, view: View, documents: CardDocuments, found: list[dict[str, Any]], by_type: dict[str, int]
) -> dict[str, Any]:
    """Return the next call for the first card of the frontier, or for a graph in which nothing is open.

    Sent as it is, the call changes the state so that the next one differs, or it is refused with the missing fields.
    """
    step = _NextStep(tx, view, documents)
    if found:
        return step.call_for(step.find_card(found[0]["id"]))
    if not by_type:
        card = {"title": "What this is about and what done means"}
        return step.call_to_write("frame", card, {}, "there are no cards yet")
    if not any(by_type.get(kind) for kind in RANKED_TYPES):
        return step.call_to_write("question", {"title": "What is to be found out"}, {}, "nothing is open")
    card = {"title": "(fill in: what is to be found out next)"}
    return step.call_to_write("question", card, {}, "everything is settled; ask only if something is still unknown")


class _NextStep:
    """The search for the next call along the links of an open card, with the cards that it passed."""

    def __init__(self, tx: ReadTransaction, view: View, documents: CardDocuments) -> None:
        self._tx = tx
        self._view = view
        self._documents = documents
        self._passed: set[str] = set()

    def find_card(self, card_id: str) -> Version:
        return find_cards(self._tx, self._view, [card_id])[0]

    def call_for(self, card: Version) -> dict[str, Any]:
        """Return the next call for an open card: for its first blocker, else for an open card that links to it."""
        above: list[Version] = []
        while True:
            self._passed.add(card.key)
            blockers = find_blockers(self._tx, self._view, [card.key]).get(card.key, [])
            if blockers:
                blocker = self.find_card(blockers[0])
                if not self._can_pass(blocker):
                    reason = f"{blocker.key} blocks {card.key}; close it once it no longer does"
                    return self._call_to_close(blocker, f"it no longer blocks {card.key}", reason)
                card, above = blocker, []
                continue
            linked = self._find_linked(card)
            below = self._open_below(linked)
            if below is None:
                break
            above.append(card)
            card = below
        valid = [linked_card for linked_card in linked if linked_card.status not in _FAILED]
        if card.type == "test":
            return self._call_for_test(card, valid)
        if card.type == "hypothesis":
            return self._call_for_hypothesis(card, valid, above)
        return self._call_for_question(card, valid)

    def _can_pass(self, card: Version) -> bool:
        return card.type in RANKED_TYPES and card.key not in self._passed and len(self._passed) < _STEPS_MAX

    def call_to_write(
        self, type: str, card: dict[str, str], links: dict[str, list[str]], reason: str
    ) -> dict[str, Any]:
        arguments = self._documents.arguments()
        doc = {"graph_doc": arguments["graph_doc"]} if "graph_doc" in arguments else {}
        trace = {} if self._documents.trace.doc == "trace" else {"trace_doc": self._documents.trace.doc}
        document = {"workspace": arguments["workspace"], "branch": arguments["ref"], **doc, **trace}
        return next_call(f"branchmind_think_add_{type}", {**document, "card": card, **links}, reason)

    def _find_linked(self, card: Version) -> list[Version]:
        """Return the cards with a link to this one, the last changed first."""
        rels = ", ".join(f"'{rel}'" for rel in _IGNORED_RELATIONS)
        links = find_links_to(self._tx, self._view, [card.key], f"v.rel not in ({rels})")
        cards = find_cards(self._tx, self._view, (source for source, _ in links))
        return sorted(cards, key=lambda linked_card: -linked_card.seq)

    def _open_below(self, linked: list[Version]) -> Version | None:
        """Return the open card to continue with among linked ones, preferably one that nothing blocks."""
        cards = [card for card in linked if is_open_card(card) and self._can_pass(card)]
        settled = find_settled(self._tx, self._view, [card.key for card in cards])
        cards = [card for card in cards if card.key not in settled]
        blocked = find_blockers(self._tx, self._view, [card.key for card in cards])
        free = [card for card in cards if not blocked.get(card.key)]
        return next(iter([*free, *cards]), None)

    def _call_for_test(self, test: Version, linked: list[Version]) -> dict[str, Any]:
        results = [linked_card.key for linked_card in linked if linked_card.type == "evidence"]
        if results:
            reason = f"{results[0]} contains the result of {test.key}"
            return self._call_to_close(test, f"{results[0]} has its result", reason)
        card, links = {"title": f"Result of {_strip_title(test)}"}, {"supports": [test.key]}
        return self.call_to_write("evidence", card, links, "run the test and write down what it showed")

    def _call_for_hypothesis(self, hypothesis: Version, linked: list[Version], above: list[Version]) -> dict[str, Any]:
        if any(linked_card.type in ("test", "evidence") for linked_card in linked):
            questions = [above_card.key for above_card in above if above_card.type == "question"][-1:]
            links = {"supports": [hypothesis.key], **({"answers": questions} if questions else {})}
            reason = "its tests are done; write the decision, with `rejects` instead of `supports` if it failed"
            return self._call_to_decide(hypothesis, links, reason)
        card, links = {"title": f"Test of {_strip_title(hypothesis)}"}, {"tests": [hypothesis.key]}
        return self.call_to_write("test", card, links, "write a test that could refute the hypothesis")

    def _call_for_question(self, question: Version, linked: list[Version]) -> dict[str, Any]:
        if any(linked_card.type in ("hypothesis", "test", "evidence") for linked_card in linked):
            return self._call_to_decide(
                question, {"answers": [question.key]}, "the linked cards answer it; write the decision"
            )
        card, links = {"title": f"Hypothesis for {_strip_title(question)}"}, {"supports": [question.key]}
        return self.call_to_write("hypothesis", card, links, "answer the question with a hypothesis")

    def _call_to_decide(self, card: Version, links: dict[str, list[str]], reason: str) -> dict[str, Any]:
        fields = {"title": f"Decision on {_strip_title(card)}", "text": "(fill in: what was decided and why)"}
        return self.call_to_write("decision", fields, links, reason)

    def _call_to_close(self, card: Version, why: str, reason: str) -> dict[str, Any]:
        arguments = {**self._documents.arguments(), "ids": [card.key], "status": "closed", "reason": why}
        return next_call("branchmind_think_set_status", arguments, reason)


def _strip_title(card: Version) -> str:
    """Return the title of a card without the beginnings that earlier proposals gave it."""
    title = str(card.title or card.text or card.key)
    for beginning in _BEGINNINGS:
        title = title.removeprefix(beginning)
    return shorten_line(title, _TITLE_CHARS)
