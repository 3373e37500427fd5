"""A plain-Python model of thinking cards.

A branch is a dictionary of cards, a set of edges, a list of commits, and a set of pins; a new branch copies all of
them. A card is stored once, in its normal form, and `forms_of` returns every form in which a caller may send it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from property.model import RefusedError

TYPES = ("frame", "hypothesis", "question", "test", "evidence", "decision", "note", "update")
RANKED = ("question", "hypothesis", "test")
SETTLING = ("supports", "settles", "answers", "resolves", "decides", "rejects")
UNDONE = ("rejected", "withdrawn", "superseded")
LINKS = ("supports", "blocks", "answers", "rejects", "supersedes", "tests")
IMPLIED = {"answers": "resolved", "rejects": "rejected", "supersedes": "superseded"}
"""The status that a link sets on the other card; of several, the last one wins."""
Links = dict[str, list[str]]
Edge = tuple[str, str, str]


@dataclass(frozen=True)
class Card:
    """A card in its normal form."""

    type: str = "note"
    title: str | None = None
    text: str | None = None
    status: str = "open"
    tags: tuple[str, ...] = ()
    meta: tuple[tuple[str, str], ...] = ()

    def node(self) -> dict[str, Any]:
        """Return the card as a node of the graph, without its id and its versions."""
        texts = {name: getattr(self, name) for name in ("title", "text") if getattr(self, name)}
        meta = {"meta": dict(self.meta)} if self.meta else {}
        return {"type": self.type, **texts, "status": self.status, "tags": list(self.tags), **meta, "deleted": False}

    def words(self) -> set[str]:
        return set(re.findall(r"\w+", f"{self.title or ''} {self.text or ''}".lower()))


@dataclass(frozen=True)
class Version:
    """A version of a card in a graph, with its creation and its last change."""

    card: Card
    born: int
    changed: tuple[str, int]
    """The branch and the number of the call that wrote the version; equal on every branch that shows it."""


@dataclass(frozen=True)
class CommittedCard:
    """A committed card with its links."""

    card: Card
    edges: frozenset[Edge]


@dataclass
class Branch:
    name: str
    nodes: dict[str, Version] = field(default_factory=dict)
    edges: set[Edge] = field(default_factory=set)
    said: dict[str, CommittedCard] = field(default_factory=dict)
    trace: list[tuple[str, ...]] = field(default_factory=list)
    """The ids of committed cards and the changes of status (id, old and new status), in order."""
    pins: set[str] = field(default_factory=set)

    def snapshot(self, name: str) -> Branch:
        copies = (dict(self.nodes), set(self.edges), dict(self.said), list(self.trace), set(self.pins))
        return Branch(name, *copies)

    def cards(self) -> dict[str, Card]:
        return {one: version.card for one, version in self.nodes.items() if version.card.type in TYPES}

    def blockers_of(self, card_id: str) -> list[str]:
        """Return the open cards that block a card."""
        cards = self.cards()
        blocking = {start for start, rel, end in self.edges if (rel, end) == ("blocks", card_id)}
        return sorted(one for one in blocking if one in cards and self.is_open(one))

    def is_open(self, card_id: str) -> bool:
        """Return whether the card's status is open and no valid decision has settled it."""
        cards = self.cards()
        decided = {one for one, card in cards.items() if card.type == "decision" and card.status not in UNDONE}
        settled = any(start in decided and rel in SETTLING for start, rel, end in self.edges if end == card_id)
        return cards[card_id].status == "open" and not settled


class CardModel:
    """The branches of one workspace. Each method implements a tool or raises the refusal."""

    def __init__(self) -> None:
        self.branches = {"main": Branch("main")}
        self.calls = 0

    def attempt(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a method, or its refusal after undoing every change."""
        self.calls += 1
        before = {name: branch.snapshot(name) for name, branch in self.branches.items()}
        try:
            return method(*arguments)
        except RefusedError as refused:
            self.branches = before
            return refused

    def branch(self, name: str) -> Branch:
        refuse_if("NOT_FOUND", name not in self.branches)
        return self.branches[name]

    def card(self, branch: Branch, card_id: str) -> Card:
        refuse_if("NOT_FOUND", card_id not in branch.cards())
        return branch.cards()[card_id]

    def write(self, branch: Branch, card_id: str, card: Card) -> None:
        old = branch.nodes.get(card_id)
        branch.nodes[card_id] = Version(card, old.born if old else self.calls, (branch.name, self.calls))

    def create_branch(self, name: str, source: str) -> None:
        base = self.branch(source)
        refuse_if("CONFLICT", name in self.branches)
        self.branches[name] = base.snapshot(name)

    def commit(self, name: str, card_id: str, card: Card, links: Links | None = None) -> tuple[bool, int, int]:
        """Return whether the card was new, and the numbers of nodes and edges written for it."""
        links = links or {}
        refuse_if("INVALID_REQUEST", card.type not in TYPES or not (card.title or card.text))
        branch = self.branch(name)
        edges = {(card_id, rel, one) for rel, ids in links.items() for one in ids}
        new = CommittedCard(card, frozenset(edges))
        if card_id in branch.said:
            refuse_if("CONFLICT", branch.said[card_id] != new)
            return False, 0, 0
        there = card_id in branch.nodes
        refuse_if("CONFLICT", there and branch.nodes[card_id].card != card)
        refuse_if("NOT_FOUND", any(one not in branch.nodes for _, _, one in edges))
        if not there:
            self.write(branch, card_id, card)
        added = edges - branch.edges
        branch.edges |= edges
        branch.said[card_id] = new
        branch.trace.append((card_id,))
        implied = {one: status for rel, status in IMPLIED.items() for one in sorted(set(links.get(rel, ())))}
        changed = [self.change_status(branch, one, status) for one, status in implied.items()]
        return True, int(not there) + sum(changed), len(added)

    def change_status(self, branch: Branch, card_id: str, status: str) -> bool:
        """Return whether the status changed."""
        card = branch.nodes[card_id].card
        if card.status == status:
            return False
        self.write(branch, card_id, replace(card, status=status))
        branch.trace.append((card_id, card.status, status))
        return True

    def apply_node(self, name: str, card_id: str, card: Card) -> None:
        """Write a node without committing a card."""
        self.write(self.branch(name), card_id, card)

    def set_status(self, name: str, ids: list[str], status: str) -> tuple[list[str], list[str]]:
        branch = self.branch(name)
        cards = {one: self.card(branch, one) for one in ids}
        updated = [one for one in ids if cards[one].status != status]
        for one in updated:
            self.change_status(branch, one, status)
        return updated, [one for one in ids if one not in updated]

    def pin(self, name: str, ids: list[str], pinned: bool) -> tuple[list[str], list[str]]:
        branch = self.branch(name)
        for one in ids:
            self.card(branch, one)
        updated = [one for one in ids if (one in branch.pins) != pinned]
        branch.pins ^= set(updated)
        return updated, [one for one in ids if one not in updated]

    def link(self, name: str, start: str, rel: str, end: str) -> None:
        branch = self.branch(name)
        refuse_if("NOT_FOUND", not {start, end} <= branch.nodes.keys())
        branch.edges.add((start, rel, end))

    def open_subgoal(self, name: str, question_id: str, subgoal_id: str, card: Card) -> None:
        branch = self.branch(name)
        refuse_if("NOT_FOUND", self.card(branch, question_id).type != "question")
        self.commit(name, subgoal_id, replace(card, type="question", tags=("subgoal",)))
        branch.edges.add((question_id, "subgoal", subgoal_id))

    def close_subgoal(self, name: str, subgoal_id: str, returned: tuple[str, Card] | None) -> int:
        """Return the number of nodes written."""
        branch = self.branch(name)
        card = self.card(branch, subgoal_id)
        refuse_if("NOT_FOUND", "subgoal" not in card.tags)
        nodes = int(card.status != "closed")
        if returned is not None:
            nodes += self.commit(name, *returned)[1]
        if card.status != "closed":
            self.write(branch, subgoal_id, replace(card, status="closed"))
        return nodes

    def nominal_merge(self, name: str, ids: list[str] | None, dry_run: bool) -> dict[str, tuple[set[str], float]]:
        """Return, for the oldest card of each group, its duplicates and their least similarity."""
        branch = self.branch(name)
        chosen = {one: self.card(branch, one) for one in (branch.cards() if ids is None else ids)}
        left = sorted((one for one in chosen if chosen[one].status != "merged"), key=lambda one: branch.nodes[one].born)
        groups: dict[str, tuple[set[str], float]] = {}
        for number, one in enumerate(left):
            if any(one in others for others, _ in groups.values()):
                continue
            alike = {other: likeness(chosen[one], chosen[other]) for other in left[number + 1 :]}
            others = {other for other, value in alike.items() if value >= 0.9}
            if others:
                groups[one] = others, min(alike[other] for other in others)
        if not dry_run:
            for canonical, (others, _) in groups.items():
                for other in others:
                    self.write(branch, other, replace(chosen[other], status="merged"))
                    branch.edges.add((other, "dedup", canonical))
        return groups

    def frontier(self, name: str, last_seq: Callable[[Version], int]) -> list[str]:
        """Return the ids of the open cards, best first."""
        branch = self.branch(name)

        def rank(card_id: str) -> tuple[bool, bool, int, int]:
            version = branch.nodes[card_id]
            kind = RANKED.index(version.card.type)
            return card_id not in branch.pins, bool(branch.blockers_of(card_id)), kind, -last_seq(version)

        found = [one for one, card in branch.cards().items() if card.type in RANKED and branch.is_open(one)]
        return sorted(found, key=rank)


def likeness(one: Card, other: Card) -> float:
    """Return the share of words that two cards have in common, 0 for cards of different types."""
    words, others = one.words(), other.words()
    return len(words & others) / len(words | others) if one.type == other.type else 0.0


def refuse_if(code: str, refused: bool) -> None:
    if refused:
        raise RefusedError(code)


def forms_of(card: Card, card_id: str | None) -> dict[str, Any]:
    """Return the same card in every form in which it can be sent; plain text carries only a note's text."""
    named = {"id": card_id} if card_id else {}
    texts = {name: getattr(card, name) for name in ("title", "text") if getattr(card, name)}
    more = {"status": card.status} if card.status != "open" else {}
    plain: dict[str, Any] = {**named, "type": card.type, **texts, **more, "tags": list(card.tags)}
    loud = {**plain, "type": card.type.upper(), "tags": [f" {tag.upper()} " for tag in (*card.tags, *card.tags)]}
    loud |= {"card_id": loud.pop("id")} if card_id else {}
    lines = [f"{name}: {value}" for name, value in {**named, "type": card.type, **texts, **more}.items()]
    lines += [f"tags: {', '.join(card.tags)}"] if card.tags else []
    lines += [f"{name}: {value}" for name, value in card.meta]
    forms: dict[str, Any] = {
        "object": {**plain, "meta": dict(card.meta)},
        "object with unknown keys": {**loud, **dict(card.meta)},
        "json": json.dumps({**plain, **dict(card.meta)}),
        "json with meta": "\n" + json.dumps({**loud, "meta": dict(card.meta)}, ensure_ascii=False, indent=2),
        "lines": "\n".join(lines),
    }
    if not card_id and card == Card(text=card.text):
        forms["text"] = card.text
    return forms
