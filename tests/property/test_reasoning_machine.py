"""Any sequence of reasoning calls has the same effect on the store and on a plain-Python model."""

from __future__ import annotations

import shutil
import tempfile
from bisect import bisect_left
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from contract.doors import START_MS, Clock, open_test_store, outcome
from moss_memory.errors import MossError
from property.model import RefusedError, norm
from property.reasoning_model import (
    Alias,
    Anything,
    Gone,
    Origin,
    Part,
    ReasoningModel,
    ResetTo,
    Seq,
    Workspace,
    canonical,
)
from support.thorough import machine_settings

WORKSPACES = st.sampled_from(["shop", " Shop", "shop", "\u00c9t\u00e9"])
NAMES = st.sampled_from(["main", "what-if", "a/b", "\u65e5\u672c", "What-if", "x" * 256])
NOTE_DOCS = st.sampled_from([None, "notes", "notes", "trace", "side"])
GRAPH_DOCS = st.sampled_from([None, "graph", "graph", "links"])
ANY_DOC = st.sampled_from(["notes", "notes", "trace", "graph", "side", "links", "no such"])
CONTENTS = st.sampled_from(["alpha", "beta\nsecond line", "caf\u00e9 \U0001f33f"])
META = st.none() | st.sampled_from([{"b": 1, "a": [True, None]}, {"a": "\u00e9"}])
LIMITS = st.none() | st.sampled_from([1, 2, 3, 5])
TAGS = st.sampled_from(["v1", "v2", "V1", "\u00e9"])
NODES = st.sampled_from(["a", "b", "c"])
RELATIONS = st.sampled_from(["supports", "blocks"])
UPSERT = st.fixed_dictionaries(
    {"op": st.just("node_upsert"), "id": NODES, "type": st.sampled_from(["idea", "test"])},
    optional={
        "title": st.sampled_from(["Alpha one", "beta"]),
        "text": st.just("Caf\u00e9 ALPHA"),
        "status": st.sampled_from(["open", " "]),
        "tags": st.lists(st.sampled_from(["Red", "red ", "blue"]), max_size=2),
        "meta": st.sampled_from([{"x": 1, "y": 2}, {"y": 2, "x": 1}]),
    },
)
PLAIN_UPSERT = st.fixed_dictionaries(
    {"op": st.just("node_upsert"), "id": NODES, "type": st.sampled_from(["idea", "test"])}
)
EDGE = {"from": NODES, "rel": RELATIONS, "to": NODES}
EDGE_UPSERT = st.fixed_dictionaries(
    {"op": st.just("edge_upsert"), **EDGE}, optional={"meta": st.sampled_from([{"w": 1}, {"w": 2}])}
)
DELETE = st.fixed_dictionaries({"op": st.just("node_delete"), "id": NODES})
EDGE_DELETE = st.fixed_dictionaries({"op": st.just("edge_delete"), **EDGE})
OPS = st.lists(UPSERT | PLAIN_UPSERT | EDGE_UPSERT | DELETE | EDGE_DELETE, min_size=1, max_size=4)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "ids": st.sampled_from(["a", ["b", "c"]]),
        "types": st.sampled_from(["idea", ["idea", "test"], "Idea"]),
        "status": st.just("open"),
        "tags_any": st.sampled_from(["RED", ["blue", "none"]]),
        "tags_all": st.sampled_from([["red", "blue"], "red"]),
        "text": st.sampled_from(["alpha", "CAF\u00c9", "%", "_"]),
    },
)


_ABOUT_WORKSPACES = {"workspace", "created_workspace", "similar_workspace"}
"""Fields of every write, which `test_naming_workspaces.py` checks."""


class ValueMapping:
    """A mapping from the model's numbers and names to the store's, fixed at first sight."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {0: 0}
        self.names: dict[Alias, str] = {}
        self._met = [0]

    def real(self, value: Any) -> Any:
        """Return the store's value for a value of the model."""
        if isinstance(value, Seq):
            return self.numbers[value]
        if isinstance(value, Alias):
            return self.names[value]
        return value

    def agree(self, expected: Any, actual: Any, at: str = "") -> None:
        """Assert that an answer equals the model's."""
        if isinstance(expected, Anything):
            return
        if isinstance(expected, Seq):
            self._number(expected, actual, at)
        elif isinstance(expected, Alias):
            self._name(expected, actual, at)
        elif isinstance(expected, Origin):
            kind, name, number = actual.split(":")
            assert kind == "merge", at
            self._name(expected.branch, name, at)
            self._number(expected.seq, int(number), at)
        elif isinstance(expected, ResetTo):
            assert actual == f"reset to {self.real(expected.to)}", at
        elif isinstance(expected, Gone):
            assert actual is None or actual["deleted"] is True, at
        elif isinstance(expected, dict):
            self._object(expected, actual, at)
        elif isinstance(expected, list):
            assert isinstance(actual, list), at
            assert len(expected) == len(actual), f"{at}: {expected} != {actual}"
            for number, pair in enumerate(zip(expected, actual, strict=True)):
                self.agree(*pair, at=f"{at}[{number}]")
        else:
            assert (type(expected), expected) == (type(actual), actual), at

    def _object(self, expected: dict[str, Any], actual: Any, at: str) -> None:
        missing = expected.keys() - actual.keys()
        surplus = set() if isinstance(expected, Part) else actual.keys() - expected.keys() - _ABOUT_WORKSPACES
        assert not missing | surplus, f"{at}: without {missing}, with {surplus}"
        for name, value in expected.items():
            self.agree(value, actual[name], f"{at}.{name}")

    def _number(self, seq: Seq, real: Any, at: str) -> None:
        assert type(real) is int, at
        if seq not in self.numbers:
            place = bisect_left(self._met, seq)
            assert self.numbers[self._met[place - 1]] < real, f"{at}: {real} came too late for its place"
            assert place == len(self._met) or real < self.numbers[self._met[place]], f"{at}: {real} came too early"
            self._met.insert(place, seq)
            self.numbers[seq] = real
        assert self.numbers[seq] == real, f"{at}: {real} is not {self.numbers[seq]}"

    def _name(self, alias: Alias, real: Any, at: str) -> None:
        assert type(real) is str, at
        if alias not in self.names:
            assert real not in self.names.values(), f"{at}: {real} is taken"
            self.names[alias] = real
        assert self.names[alias] == real, f"{at}: {real} is not {self.names[alias]}"


class ModelMachine(RuleBasedStateMachine):
    """A store and its model, with the invariants that compare them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="moss-model-")
        self.clock = Clock()
        self.store = open_test_store(self.folder, self.clock)
        self.model = ReasoningModel(START_MS)
        self.known = ValueMapping()

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def both(self, tool: str, **arguments: Any) -> None:
        """Call a tool of the model and of the store; assert equal answers or equal codes."""
        arguments = {name: value for name, value in arguments.items() if value is not None}
        sent = {name: self.known.real(value) for name, value in arguments.items()}
        answer = outcome(self.store, f"branchmind_{tool}", sent)
        said = answer.payload() if isinstance(answer, MossError) else answer
        try:
            expected, code = self.model.call(tool, arguments), None
        except RefusedError as refused:
            expected, code = {}, refused.code
        refusal = answer.code if isinstance(answer, MossError) else None
        assert refusal == code, f"{tool}({sent}): {said}, expected {code or expected}"
        if code is None:
            self.known.agree(expected, said, f"{tool}({sent})")

    @invariant()
    def every_branch_equals_the_model(self) -> None:
        for workspace, space in self.model.workspaces.items():
            for branch in space.branches:
                place = {"workspace": workspace, "branch": branch.name}
                for doc in branch.logs:
                    self.both("show", **place, doc=doc, limit=200)
                for doc in branch.graphs:
                    self.both("graph_query", **place, doc=doc, include_deleted=True, limit=200)

    @invariant()
    def no_branch_differs_from_itself(self) -> None:
        for workspace, space in self.model.workspaces.items():
            for branch in space.branches:
                same = {"workspace": workspace, "from": branch.name, "to": branch.name}
                for doc in branch.logs:
                    assert self.store.call("branchmind_diff", {**same, "doc": doc})["entries"] == []
                for doc in branch.graphs:
                    assert self.store.call("branchmind_graph_diff", {**same, "doc": doc})["changes"] == []

    @invariant()
    def every_conflict_equals_the_model(self) -> None:
        for workspace, space in self.model.workspaces.items():
            for into in {(conflict.into.name, conflict.doc) for conflict in space.conflicts}:
                self.both("graph_conflicts", workspace=workspace, into=into[0], doc=into[1], limit=200)
            for conflict in space.conflicts:
                self.both("graph_conflict_show", workspace=workspace, conflict_id=conflict.id)


class ReasoningMachine(ModelMachine):
    def space(self, workspace: str) -> Workspace:
        return self.model.workspaces.get(norm(workspace), Workspace())

    def branch(self, data: st.DataObject, workspace: str, *, optional: bool = True) -> Any:
        """Return mostly an existing branch, sometimes an unknown one or, if optional, none."""
        names = [branch.name for branch in self.space(workspace).branches] or (["main"] if optional else [])
        return data.draw(st.sampled_from([*names * 4, "nowhere", *([None] * 3 if optional else [])]))

    def cursor(self, data: st.DataObject) -> Any:
        """Return None or an earlier number."""
        numbers = [None, None, *map(Seq, sorted(self.known.numbers))]
        return data.draw(st.sampled_from(numbers))

    def pointer(self, data: st.DataObject, workspace: str) -> Any:
        """Return a tag or a number of an entry, or an invalid value."""
        space = self.space(workspace)
        known = [entry.seq for entry in space.entries() if entry.seq in self.known.numbers]
        return data.draw(st.sampled_from([*known * 3, *space.tags, "no such tag", Seq(0)]))

    @initialize()
    def begin_with_a_derived_branch(self) -> None:
        self.both("init", workspace="shop")
        self.both("notes_commit", workspace="shop", content="the first")
        self.both("graph_apply", workspace="shop", ops=[{"op": "node_upsert", "id": "a", "type": "idea"}])
        self.both("branch_create", workspace="shop", name="what-if")

    @rule(step_ms=st.sampled_from([1, 999, 60_000, -1500]))
    def time_passes_or_steps_back(self, step_ms: int) -> None:
        self.clock.ms += step_ms
        self.model.now_ms = self.clock.ms

    @rule(workspace=WORKSPACES)
    def init(self, workspace: str) -> None:
        self.both("init", workspace=workspace)

    @rule(data=st.data(), workspace=WORKSPACES, name=NAMES | st.just("plan/PLAN-7"))
    def create_a_branch(self, data: st.DataObject, workspace: str, name: str) -> None:
        source = self.branch(data, workspace)
        self.both("branch_create", **{"workspace": workspace, "name": name, "from": source})

    @rule(data=st.data(), workspace=WORKSPACES)
    def check_out(self, data: st.DataObject, workspace: str) -> None:
        self.both("checkout", workspace=workspace, ref=self.branch(data, workspace, optional=False))

    @rule(data=st.data(), workspace=WORKSPACES, new=NAMES | st.just("task/TASK-001"))
    def rename_a_branch(self, data: st.DataObject, workspace: str, new: str) -> None:
        self.both("branch_rename", workspace=workspace, old=self.branch(data, workspace, optional=False), new=new)

    @rule(data=st.data(), workspace=WORKSPACES)
    def delete_a_branch(self, data: st.DataObject, workspace: str) -> None:
        self.both("branch_delete", workspace=workspace, name=self.branch(data, workspace, optional=False))

    @rule(
        data=st.data(), workspace=WORKSPACES, doc=NOTE_DOCS, content=CONTENTS, meta=META,
        title=st.none() | st.just("a title"), format=st.none() | st.just("markdown"),
    )  # fmt: skip
    def write_a_note(self, data: st.DataObject, workspace: str, **note: Any) -> None:
        self.both("notes_commit", workspace=workspace, branch=self.branch(data, workspace), **note)

    @rule(workspace=WORKSPACES, docs=st.sampled_from([None, "notes", "side", ["notes", "side", "notes"]]), meta=META)
    def commit(self, workspace: str, docs: Any, meta: Any) -> None:
        self.both("commit", workspace=workspace, artifact="what was done", message="done", docs=docs, meta=meta)

    @rule(data=st.data(), workspace=WORKSPACES, doc=NOTE_DOCS, dry_run=st.none() | st.booleans(), limit=LIMITS)
    def merge(self, data: st.DataObject, workspace: str, **how: Any) -> None:
        self.merge_with("merge", data, workspace, **how)

    def merge_with(self, tool: str, data: st.DataObject, workspace: str, **how: Any) -> None:
        source, into = (self.branch(data, workspace, optional=False) for _ in range(2))
        bases = {branch.name: branch.base.name for branch in self.space(workspace).branches if branch.base}
        if source in bases and data.draw(st.booleans()):
            into = bases[source]
        self.both(tool, **{"workspace": workspace, "from": source, "into": into, "cursor": self.cursor(data), **how})

    @rule(data=st.data(), workspace=WORKSPACES)
    def reset(self, data: st.DataObject, workspace: str) -> None:
        ref = self.branch(data, workspace)
        self.both("reset", workspace=workspace, to=self.pointer(data, workspace), ref=ref)

    @rule(data=st.data(), workspace=WORKSPACES, name=TAGS, force=st.none() | st.booleans())
    def create_a_tag(self, data: st.DataObject, workspace: str, name: str, force: bool | None) -> None:
        source = data.draw(st.sampled_from([None, self.pointer(data, workspace)]))
        self.both("tag_create", **{"workspace": workspace, "name": name, "from": source, "force": force})

    @rule(workspace=WORKSPACES, name=TAGS)
    def delete_a_tag(self, workspace: str, name: str) -> None:
        self.both("tag_delete", workspace=workspace, name=name)

    @rule(data=st.data(), workspace=WORKSPACES, doc=GRAPH_DOCS, ops=OPS)
    def apply_to_a_graph(self, data: st.DataObject, workspace: str, doc: Any, ops: list[dict[str, Any]]) -> None:
        self.both("graph_apply", workspace=workspace, branch=self.branch(data, workspace), doc=doc, ops=ops)

    @rule(data=st.data(), workspace=WORKSPACES, doc=GRAPH_DOCS, node=PLAIN_UPSERT)
    def change_a_node_on_two_branches(
        self, data: st.DataObject, workspace: str, doc: Any, node: dict[str, Any]
    ) -> None:
        for branch in (self.branch(data, workspace) for _ in range(2)):
            ops = [{**node, "title": data.draw(CONTENTS)}]
            self.both("graph_apply", workspace=workspace, branch=branch, doc=doc, ops=ops)

    @rule(data=st.data(), workspace=WORKSPACES, doc=GRAPH_DOCS, dry_run=st.none() | st.booleans(), limit=LIMITS)
    def merge_graphs(self, data: st.DataObject, workspace: str, **how: Any) -> None:
        self.merge_with("graph_merge", data, workspace, **how)

    @precondition(lambda self: any(space.conflicts for space in self.model.workspaces.values()))
    @rule(data=st.data(), workspace=WORKSPACES, resolution=st.sampled_from(["use_from", "use_into"]))
    def resolve_a_conflict(self, data: st.DataObject, workspace: str, resolution: str) -> None:
        ids = [conflict.id for space in self.model.workspaces.values() for conflict in space.conflicts]
        chosen = data.draw(st.sampled_from([*ids, "CONFLICT-0123456789abcdef"]))
        self.both("graph_conflict_resolve", workspace=workspace, conflict_id=chosen, resolution=resolution)

    @rule(data=st.data(), workspace=WORKSPACES, doc=ANY_DOC, limit=LIMITS)
    def read_a_page_of_a_document(self, data: st.DataObject, workspace: str, doc: str, limit: int | None) -> None:
        page = {"workspace": workspace, "doc": doc, "limit": limit, "cursor": self.cursor(data)}
        self.both("show", branch=self.branch(data, workspace), **page)
        self.both("log", ref=self.branch(data, workspace), **page)
        sides = {
            "from": self.branch(data, workspace, optional=False),
            "to": self.branch(data, workspace, optional=False),
        }
        self.both("diff", **page, **sides)
        self.both("graph_diff", **page, **sides)
        self.both("graph_conflicts", **page, into=sides["to"], status=data.draw(st.sampled_from([None, "open"])))

    @rule(data=st.data(), workspace=WORKSPACES, limit=LIMITS)
    def read_what_happened(self, data: st.DataObject, workspace: str, limit: int | None) -> None:
        ref = self.branch(data, workspace)
        self.both("reflog", workspace=workspace, ref=ref, limit=limit, cursor=self.cursor(data))
        self.both("docs_list", workspace=workspace, ref=ref)
        self.both("branch_list", workspace=workspace, limit=limit)
        self.both("tag_list", workspace=workspace)
        self.both("status", workspace=workspace)

    @rule(workspace=WORKSPACES, word=st.sampled_from(["alpha", "beta"]))
    def search_for_a_word(self, workspace: str, word: str) -> None:
        """Assert that visible notes and current nodes are found, and that each hit leads to its own."""
        wanted = {"query": word, "workspace": workspace, "limit": 100}
        space = self.space(workspace)
        shown = {entry.seq: entry for branch in space.branches for log in branch.logs.values() for entry in log}
        notes = {self.known.real(seq) for seq, entry in shown.items() if word in entry.content}
        hits = self.store.call("moss_search", {"search_mode": "keyword", **wanted, "types": ["note"]})["items"]
        assert sorted(int(hit["id"]) for hit in hits) == sorted(notes)
        for hit in hits:
            entry = self.store.call("branchmind_show", hit["fetch"]["arguments"])["entries"][-1]
            assert entry["seq"] == int(hit["id"]), "a hit leads to another note"
        nodes = {
            (branch.name, doc, key[1])
            for branch in space.branches
            for doc in branch.graphs
            for key, version in branch.graph(doc).items()
            if version.branch is branch and key[0] == "node" and word in canonical(version.state).lower()
        }
        hits = self.store.call("moss_search", {"search_mode": "keyword", **wanted, "types": ["node"]})["items"]
        found = [(hit["fetch"]["arguments"]["branch"], hit["fetch"]["arguments"]["doc"], hit["id"]) for hit in hits]
        assert sorted(found) == sorted(nodes)

    @rule(data=st.data(), workspace=WORKSPACES, doc=GRAPH_DOCS, filters=FILTERS, limit=LIMITS)
    def query_a_graph(self, data: st.DataObject, workspace: str, doc: Any, filters: Any, limit: Any) -> None:
        place = {"workspace": workspace, "branch": self.branch(data, workspace), "doc": doc}
        page = {"limit": limit, "cursor": self.cursor(data), "edges_limit": data.draw(LIMITS)}
        self.both("graph_query", **place, **page, **filters)
        self.both("graph_validate", **place, max_errors=limit)


class ConflictMachine(ModelMachine):
    """Two branches, one node and three words, so that the same disagreements recur."""

    @initialize()
    def begin_with_a_derived_branch(self) -> None:
        self.say("graph_apply", ops=[{"op": "node_upsert", "id": "a", "type": "idea"}])
        self.say("branch_create", name="what-if")

    def say(self, tool: str, **arguments: Any) -> None:
        self.both(tool, workspace="shop", **arguments)

    @rule(
        branch=st.sampled_from(["main", "what-if"]), title=st.sampled_from(["x", "y", "z", "x", "y", "z", None]),
        merges=st.sampled_from([True, True, True, False]),
    )  # fmt: skip
    def change_the_node(self, branch: str, title: str | None, merges: bool) -> None:
        upsert = {"op": "node_upsert", "id": "a", "type": "idea", "title": title}
        self.say("graph_apply", branch=branch, ops=[upsert if title else {"op": "node_delete", "id": "a"}])
        if merges:
            self.say("graph_merge", **{"from": "what-if", "into": "main"})

    @rule()
    def see_what_a_merge_would_do(self) -> None:
        self.say("graph_merge", **{"from": "what-if", "into": "main", "dry_run": True})

    @precondition(lambda self: self.model.workspaces["shop"].conflicts)
    @rule(data=st.data(), resolution=st.sampled_from(["use_from", "use_into"]))
    def settle(self, data: st.DataObject, resolution: str) -> None:
        ids = [conflict.id for conflict in self.model.workspaces["shop"].conflicts]
        self.say("graph_conflict_resolve", conflict_id=data.draw(st.sampled_from(ids)), resolution=resolution)
        self.say("graph_merge", **{"from": "what-if", "into": "main"})


class HistoryMachine(ModelMachine):
    """Three branches with only notes, so that resets, merges and snapshots occur in every order."""

    NAMES = ("main", "what-if", "deeper")

    @initialize()
    def begin_with_a_note(self) -> None:
        self.say("notes_commit", content="the first")

    def say(self, tool: str, **arguments: Any) -> None:
        self.both(tool, workspace="shop", **arguments)

    def branches(self) -> st.SearchStrategy[str]:
        return st.sampled_from([branch.name for branch in self.model.workspaces["shop"].branches])

    @rule(data=st.data(), count=st.integers(1, 3))
    def write_notes(self, data: st.DataObject, count: int) -> None:
        branch = data.draw(self.branches())
        for _ in range(count):
            self.say("notes_commit", branch=branch, content=f"number {self.model.last_seq}")

    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def make_a_branch(self, data: st.DataObject, name: str) -> None:
        self.say("branch_create", **{"name": name, "from": data.draw(self.branches())})

    @rule(data=st.data())
    def delete_a_branch(self, data: st.DataObject) -> None:
        self.say("branch_delete", name=data.draw(self.branches()))

    @rule(data=st.data(), any_of_all=st.booleans())
    def reset(self, data: st.DataObject, any_of_all: bool) -> None:
        space = self.model.workspaces["shop"]
        ref = data.draw(self.branches())
        entries = space.entries() if any_of_all else space.branch(ref).shown
        self.say("reset", ref=ref, to=data.draw(st.sampled_from([entry.seq for entry in entries] or [Seq(0)])))
        self.say("reflog", ref=ref)

    @rule(data=st.data(), limit=st.sampled_from([None, None, 1]), dry_run=st.sampled_from([None, None, True]))
    def merge(self, data: st.DataObject, limit: int | None, dry_run: bool | None) -> None:
        source, into = data.draw(self.branches()), data.draw(self.branches())
        self.say("merge", **{"from": source, "into": into, "limit": limit, "dry_run": dry_run})
        self.say("diff", **{"from": into, "to": source})


ReasoningMachine.TestCase.settings = machine_settings(30)
ConflictMachine.TestCase.settings = machine_settings(30)
HistoryMachine.TestCase.settings = machine_settings(30)
TestAnySequenceOfReasoningCallsDoesWhatTheModelDoes = ReasoningMachine.TestCase
TestAnyArgumentBetweenBranchesGoesAsInTheModel = ConflictMachine.TestCase
TestAnyHistoryOfNotesGoesAsInTheModel = HistoryMachine.TestCase
