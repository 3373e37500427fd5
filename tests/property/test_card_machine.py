"""Any sequence of thinking calls has the same effect on the store and on a plain-Python model."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from contract.doors import open_test_store, outcome
from moss_memory.errors import MossError
from property.card_model import LINKS, TYPES, Branch, Card, CardModel, Links, Version, forms_of
from property.model import RefusedError
from support.direct_store import Watch
from support.thorough import machine_settings

IDS = ("A", "B", "C", "d 4", "\u00e9")
BRANCHES = ("main", "what-if", "a/b", "deeper")
NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
# Cards of the same type have equal words, nearly equal words (at least nine tenths), or very different ones.
TITLES = (
    "Why is it slow", "why  is it SLOW", "Is it slow why", "Who clears the cache", "caf\u00e9 \U0001f33f", NUMBERS,
    f"{NUMBERS} thirteen", f"{NUMBERS} fourteen", "one two three four five six seven",
)  # fmt: skip
TEXTS = (None, None, None, "It was seen twice", "On two lines:\nthe second has no key")
CARDS = st.builds(
    Card,
    type=st.sampled_from(["question", "question", "hypothesis", "test", *TYPES]),
    title=st.sampled_from(TITLES),
    text=st.sampled_from(TEXTS),
    status=st.sampled_from(["open", "open", "open", "closed"]),
    tags=st.sampled_from([(), ("cache",), ("cache", "slow")]),
    meta=st.sampled_from([(), (("owner", "ann"),), (("owner", "ann"), ("see-also", "the log"))]),
)
PLAIN = st.sampled_from(["It was seen twice", "two\nlines", "Note: this is text", "http://example.org"]).map(
    lambda text: Card(text=text)
)
RELATIONS = ("supports", "blocks", "blocks", "relates")
# One rule chooses among these: Hypothesis would disable separate rules at random and make most sequences poor.
DEEDS = (
    *["commit"] * 3, *["commit_alike"] * 2, "commit_plainly", "repeat", "repeat", "contradict", "apply_a_node",
    "set_status", "set_status", "pin", "pin", "link", "link", "open_a_subgoal", *["close_a_subgoal"] * 2,
    *["merge_duplicates"] * 2, "create_a_branch", "refuse_what_is_no_card",
)  # fmt: skip
RARELY = (*[False] * 11, True)


class CardMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="moss-cards-")
        self.store = open_test_store(self.folder)
        self.model = CardModel()
        self.seqs: dict[tuple[str, str, int], int] = {}
        """The seq of each version of a card: by card, branch and call."""
        self.branch = "main"
        self.store.call("branchmind_init", {"workspace": "lab"})
        self.watch = Watch(self.folder)
        self.wrote = True

    def teardown(self) -> None:
        try:
            for branch in self.model.branches.values():
                self.check(branch)
        finally:
            self.watch.close()
            self.store.close()
            shutil.rmtree(self.folder)

    @initialize()
    def begin_with_two_cards(self) -> None:
        self.say("A", Card(type="question", title=TITLES[0]))
        self.say("B", Card(type="hypothesis", title=NUMBERS), blocks=["A"])

    def say(self, card_id: str, card: Card, blocks: Sequence[str] = ()) -> None:
        answer = self.ask("think_card", card=forms_of(card, card_id)["object"], branch=self.branch, blocks=list(blocks))
        expected = self.model.attempt(self.model.commit, self.branch, card_id, card, {"blocks": list(blocks)})
        assert (answer["inserted"], answer["graph_applied"]["edges_upserted"]) == (expected[0], expected[2])

    @rule(data=st.data())
    def call_a_tool(self, data: st.DataObject) -> None:
        self.data = data
        self.branch = self.pick(["nowhere"] if self.pick(RARELY) else list(self.model.branches))
        getattr(self, self.pick(DEEDS))()

    def ask(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; assert that a refused call writes nothing."""
        sent = {{"source": "from"}.get(name, name): value for name, value in arguments.items() if value is not None}
        self.watch.saw_a_commit()
        answer = outcome(self.store, f"branchmind_{tool}", {"workspace": "lab", **sent})
        wrote = self.watch.saw_a_commit()
        assert not (wrote and isinstance(answer, MossError)), f"{tool}({arguments}) was refused and wrote something"
        self.wrote = self.wrote or wrote
        return answer

    def both(self, expected: Any, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Return the answer of a tool, or None if it refuses as the model does."""
        return self.agree(expected, self.ask(tool, **arguments), f"{tool}({arguments})")

    def agree(self, expected: Any, answer: Any, call: str) -> dict[str, Any] | None:
        refused = answer.code if isinstance(answer, MossError) else None
        wanted = expected.code if isinstance(expected, RefusedError) else None
        assert refused == wanted, f"{call}: {answer}, expected {wanted or expected}"
        if isinstance(answer, MossError):
            return None
        assert isinstance(answer, dict)
        return answer

    # Choosing arguments

    def pick(self, options: Sequence[Any]) -> Any:
        return self.data.draw(st.sampled_from(options))

    def here(self) -> Branch:
        return self.model.branches.get(self.branch, Branch(self.branch))

    def card_ids(self, most: int) -> list[str]:
        """Return existing cards, and rarely an unknown one."""
        there = list(self.here().nodes)
        options = there if there and not self.pick(RARELY) else ["no such card"]
        chosen = {self.pick(options) for _ in range(self.pick(range(1, most + 1)))}
        return sorted(chosen)

    # Steps

    def commit(self) -> None:
        card_id = self.pick([None, None, *IDS])
        there = [one for one in self.here().nodes if one != card_id] if self.branch in self.model.branches else []
        if not there or self.pick(RARELY):
            there = ["no such card"]
        links: Links = {}
        for rel in {self.pick([None, *LINKS]) for _ in range(3)} - {None}:
            links[rel] = sorted({self.pick(there) for _ in range(self.pick([1, 1, 2]))})
        self.send(self.data.draw(CARDS), card_id, links)

    def commit_alike(self) -> None:
        self.send(Card(type="question", title=self.pick(TITLES[:3] + TITLES[5:])), None)

    def commit_plainly(self) -> None:
        self.send(self.data.draw(PLAIN), None, form="text")

    def repeat(self) -> None:
        """Commit an earlier card again, in any form and on any branch, sometimes without its edges."""
        for card_id, said in self.something_said():
            edges = sorted(said.edges) if self.pick([True, True, False]) else []
            links: Links = {}
            for _, rel, end in edges:
                links.setdefault(rel, []).append(end)
            self.send(said.card, card_id, links)

    def contradict(self) -> None:
        for card_id, said in self.something_said():
            other = {"title": "Something else"}, {"status": "rejected"}, {"tags": ("new",)}, {"meta": (("new", "1"),)}
            self.send(replace(said.card, **self.pick(other)), card_id)

    def something_said(self) -> list[Any]:
        said = [pair for branch in self.model.branches.values() for pair in branch.said.items()]
        return [self.pick(said)] if said else []

    def send(self, card: Card, card_id: str | None, links: Links | None = None, form: str | None = None) -> None:
        forms = forms_of(card, card_id)
        sent = forms[form or self.pick(list(forms))]
        tool = "think_card"
        if self.pick([True, False, False]) and form is None:
            tool = f"think_add_{card.type}"
            sent = {**forms["object"], "type": self.pick([None, "note", card.type])}
        arguments = {rel: one_or_more(ids) for rel, ids in (links or {}).items()}
        if isinstance(sent, dict):
            inside = {rel: arguments.pop(rel) for rel in list(arguments) if self.pick([True, False])}
            sent = {**sent, **inside}
        answer = self.ask(tool, card=sent, branch=self.branch, **arguments)
        if card_id is None and isinstance(answer, dict):
            card_id = str(answer["card_id"])
            assert re.fullmatch(r"CARD-\d+", card_id)
            assert card_id not in self.here().nodes, "an id was given out twice"
        expected = self.model.attempt(self.model.commit, self.branch, card_id, card, links)
        if self.agree(expected, answer, f"{tool}({sent}, {arguments})") is None:
            return
        inserted, nodes, edges = expected
        assert answer.pop("last_seq", None) is not None or not inserted
        assert set(answer.pop("meta_keys", ())) <= dict(card.meta).keys()
        answer.pop("workspace")
        answer.pop("created_workspace", None)
        assert answer == {
            "branch": self.branch, "trace_doc": "trace", "graph_doc": "graph", "card_id": card_id, "inserted": inserted,
            "graph_applied": {"nodes_upserted": nodes, "edges_upserted": edges},
        }  # fmt: skip

    def apply_a_node(self) -> None:
        """Write a node that is no card, or one that may later be committed as a card."""
        card_id = self.pick(IDS)
        card: Card = replace(self.data.draw(CARDS), type=self.pick(["idea", "question"]))
        if card_id not in self.here().nodes and self.branch in self.model.branches:
            op = {"op": "node_upsert", "id": card_id, **card.node()}
            op.pop("deleted")
            self.model.attempt(self.model.apply_node, self.branch, card_id, card)
            assert self.both(None, "graph_apply", branch=self.branch, ops=[op])
            if card.type in TYPES and self.pick([True, False]):
                self.send(card, card_id)

    def set_status(self) -> None:
        ids, status = self.card_ids(3), self.pick(["open", "open", "closed", "rejected"])
        expected = self.model.attempt(self.model.set_status, self.branch, ids, status)
        answer = self.both(expected, "think_set_status", ids=one_or_more(ids), status=status, ref=self.branch)
        if answer is not None:
            assert ("last_seq" in answer) == bool(expected[0])
            assert (answer["updated"], answer["unchanged"], answer["status"]) == (*expected, status)

    def pin(self) -> None:
        ids, pinned = self.card_ids(3), self.pick([None, True, False])
        expected = self.model.attempt(self.model.pin, self.branch, ids, pinned is not False)
        answer = self.both(expected, "think_pin", ids=one_or_more(ids), pinned=pinned, ref=self.branch)
        if answer is not None:
            assert (answer["updated"], answer["unchanged"], answer["pinned"]) == (*expected, pinned is not False)

    def link(self) -> None:
        start, end, rel = self.card_ids(1)[0], self.card_ids(1)[0], self.pick(RELATIONS)
        expected = self.model.attempt(self.model.link, self.branch, start, rel, end)
        answer = self.both(expected, "think_link", source=start, rel=rel, to=end, ref=self.branch)
        if answer is not None:
            assert [answer["edge"][name] for name in ("from", "rel", "to")] == [start, rel, end]
            assert answer["applied"]["edges_upserted"] == 1

    def open_a_subgoal(self) -> None:
        questions = [one for one, card in self.here().cards().items() if card.type == "question"]
        question = self.pick(questions) if questions and not self.pick(RARELY) else self.card_ids(1)[0]
        title = self.pick(TITLES)
        asked = {"question_id": question, "title": title, "ref": self.branch}
        answer = self.ask("think_subgoal_open", **asked)
        subgoal = answer["subgoal_id"] if isinstance(answer, dict) else "none"
        assert subgoal not in self.here().nodes, "an id was given out twice"
        expected = self.model.attempt(self.model.open_subgoal, self.branch, question, subgoal, Card(title=title))
        if self.agree(expected, answer, f"think_subgoal_open({asked})") is not None:
            assert answer["inserted"]
            for tool, doc in (("show", answer["child_trace_doc"]), ("graph_query", answer["child_graph_doc"])):
                assert doc not in ("trace", "graph")
                assert self.ask(tool, branch=self.branch, doc=doc)["pagination"]["count"] == 0
            docs = {name: answer[f"child_{name}"] for name in ("trace_doc", "graph_doc")}
            assert self.ask("think_card", branch=self.branch, card={"id": "A", "title": "inside"}, **docs)["inserted"]

    def close_a_subgoal(self) -> None:
        subgoals = [one for one, card in self.here().cards().items() if "subgoal" in card.tags]
        subgoal = self.pick(subgoals) if subgoals and not self.pick(RARELY) else self.card_ids(1)[0]
        card: Card = self.data.draw(CARDS)
        returned = (self.pick(IDS), card) if self.pick([True, False]) else None
        sent = self.pick(list(forms_of(card, returned[0]).values())) if returned else None
        expected = self.model.attempt(self.model.close_subgoal, self.branch, subgoal, returned)
        answer = self.both(
            expected, "think_subgoal_close", subgoal_id=subgoal, return_card=sent, ref=self.branch
        )  # fmt: skip
        if answer is not None:
            assert (answer["status"], answer["applied"]["nodes_upserted"]) == ("closed", expected)
            assert answer.get("return_card_id") == (returned[0] if returned else None)

    def merge_duplicates(self) -> None:
        ids, dry_run = self.card_ids(4) if self.pick([True, False]) else None, self.pick([True, None, None])
        expected = self.model.attempt(self.model.nominal_merge, self.branch, ids, bool(dry_run))
        answer = self.both(expected, "think_nominal_merge", candidate_ids=ids, dry_run=dry_run, ref=self.branch)
        if answer is not None:
            found = {group["canonical"]: (set(group["merged"]), group["similarity"]) for group in answer["groups"]}
            assert found == {one: (others, round(alike, 3)) for one, (others, alike) in expected.items()}
            merged = sum(len(others) for others, _ in expected.values()) if not dry_run else 0
            assert (answer["applied"]["nodes_upserted"], answer["applied"]["edges_upserted"]) == (merged, merged)

    def create_a_branch(self) -> None:
        name = self.pick(BRANCHES[1:])
        expected = self.model.attempt(self.model.create_branch, name, self.branch)
        if self.both(expected, "branch_create", name=name, source=self.branch) is not None:
            self.branch = name

    def refuse_what_is_no_card(self) -> None:
        bad: Any = self.pick(
            [{}, {"title": " "}, "", "title:", {"type": "idea", "title": "x"}, "type: idea\ntext: x", '{"title": "x"',
             '{"title": 1}', {"id": "task:1", "title": "x"}, {"id": "a|b", "title": "x"}, {"title": "x", "tags": [" "]}]
        )  # fmt: skip
        refused = self.ask("think_card", card=bad, branch="main")
        assert isinstance(refused, MossError), f"{bad}: {refused}"
        assert refused.code == "INVALID_REQUEST"
        if "idea" in str(bad):
            assert (refused.details or {})["supported_types"] == list(TYPES)
            assert refused.recovery

    # Invariants

    @invariant()
    def the_branch_equals_the_model(self) -> None:
        if self.wrote:
            self.check(self.here())
        self.wrote = False

    def check(self, branch: Branch) -> None:
        if branch.name in self.model.branches:
            self.check_cards(branch)
            self.check_trace(branch)
            self.check_edges(branch)
            self.check_frontier(branch)

    def check_cards(self, branch: Branch) -> None:
        shown = self.ask("think_context", branch=branch.name, limit_cards=200)
        cards = branch.cards()
        assert shown["stats"]["cards"] == len(cards)
        by_type = {kind: number for kind, number in shown["stats"]["by_type"].items() if number}
        kinds = [card.type for card in cards.values()]
        assert by_type == {kind: kinds.count(kind) for kind in set(kinds)}
        self.check_order(shown["cards"])
        found = {card.pop("id"): card for card in shown["cards"]}
        assert found.keys() == cards.keys()
        for card_id, node in found.items():
            self.learn(card_id, branch.nodes[card_id], node.pop("last_seq"))
            node.pop("last_ts_ms")
            assert node == cards[card_id].node(), card_id
        pins = self.ask("think_pins", ref=branch.name, limit=200)["pins"]
        self.check_order(pins)
        assert {card["id"] for card in pins} == branch.pins

    @staticmethod
    def check_order(nodes: list[dict[str, Any]]) -> None:
        seqs = [node["last_seq"] for node in nodes]
        assert seqs == sorted(set(seqs), reverse=True), "the last changed is not first"

    def learn(self, card_id: str, version: Version, seq: int) -> None:
        """Assert that a version has the same seq on every branch, above those of earlier calls."""
        key = (card_id, *version.changed)
        if key not in self.seqs:
            assert all(seq > other for (*_, call), other in self.seqs.items() if call < version.changed[1])
            self.seqs[key] = seq
        assert self.seqs[key] == seq, f"{card_id} has a needless version"

    def check_trace(self, branch: Branch) -> None:
        entries = self.ask("show", branch=branch.name, doc="trace", limit=200)["entries"]
        changes = ("old_status", "new_status")
        told = [entry["meta"] for entry in entries]
        assert [(one["card_id"], *(one[name] for name in changes if name in one)) for one in told] == branch.trace
        for entry in entries:
            if entry["format"] == "status_change":
                continue
            said = branch.said[entry["meta"]["card_id"]]
            assert (entry["kind"], entry["format"]) == ("note", "think_card")
            assert (entry.get("title"), entry["content"]) == (said.card.title, said.card.text or said.card.title)
            assert (entry["meta"]["type"], entry["meta"]["status"]) == (said.card.type, said.card.status)

    def check_edges(self, branch: Branch) -> None:
        place = {"branch": branch.name, "doc": "graph"}
        edges = self.ask("graph_query", **place, limit=200, edges_limit=1000)["edges"]
        edges += [error["edge"] for error in self.ask("graph_validate", **place, max_errors=500)["errors"]]
        found = {(edge["from"], edge["rel"], edge["to"]) for edge in edges}
        # How a closed subgoal refers to its result is unspecified.
        assert {edge for edge in found if edge[1] in (*RELATIONS, *LINKS, "subgoal", "dedup")} == branch.edges

    def check_frontier(self, branch: Branch) -> None:
        order = self.model.frontier(branch.name, lambda version: self.seq_of(branch, version))
        candidates = self.ask("think_frontier", ref=branch.name, limit=200)["candidates"]
        assert [one["id"] for one in candidates] == order
        for one in candidates:
            card = branch.cards()[one["id"]]
            assert (one["type"], one["status"], one["pinned"]) == (card.type, "open", one["id"] in branch.pins)
            assert one["title"] == card.title or card.title is None
            assert sorted(one["blocked_by"]) == branch.blockers_of(one["id"])
            assert one["why"]
        assert self.ask("think_frontier", ref=branch.name, limit=1)["candidates"] == candidates[:1]
        assert self.ask("think_next", ref=branch.name)["candidate"] == (candidates[0] if candidates else None)

    def seq_of(self, branch: Branch, version: Version) -> int:
        card_id = next(one for one, other in branch.nodes.items() if other is version)
        return self.seqs[(card_id, *version.changed)]


def one_or_more(values: Sequence[str]) -> Any:
    """Return a list as it is, or its only string."""
    return values[0] if len(values) == 1 else list(values)


CardMachine.TestCase.settings = machine_settings(25)
TestAnySequenceOfThinkingCallsDoesWhatTheModelDoes = CardMachine.TestCase
