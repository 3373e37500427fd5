"""Cards: `think_template`, `think_card` in all its forms, and the eight `think_add_*`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import edge, gone, node, state
from contract.tasks.task_tools import check_call
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from support.direct_store import DirectStore, dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

TYPES = ["frame", "hypothesis", "question", "test", "evidence", "decision", "note", "update"]
FULL = {
    "id": "q1", "type": "question", "title": "Who clears the cache?", "text": "Nobody seems to.", "status": "waiting",
    "tags": ["Cache", "perf"], "meta": {"owner": "kim"},
}  # fmt: skip
LINES = """id: q1
type: question
title: Who clears the cache?
text: Nobody seems to.
status: waiting
tags: Cache, perf
owner: kim"""
FORMS = {"an object": FULL, "a JSON text": json.dumps(FULL), "lines": LINES}


def card_of(desk: TaskTools, id: str, **where: Any) -> dict[str, Any]:
    [card] = desk.room("think_query", ids=id, **where)["cards"]
    found: dict[str, Any] = card
    return found


@holds("4 thinking, think convenience and trace tools: there are twenty-nine")
def test_there_are_twenty_nine_tools_of_thinking() -> None:
    names = {tool.name.removeprefix("branchmind_") for tool in catalog.operations()}
    assert len([name for name in names if name.startswith(("think_", "trace_", "context_pack"))]) == 29
    assert {f"think_add_{kind}" for kind in TYPES} <= names


@holds("4 think_template: a deterministic skeleton with at least the fields of a card")
def test_a_template_is_a_card_with_fields_to_fill_in(desk: TaskTools) -> None:
    for kind in TYPES:
        answer = desk.room("think_template", type=kind)
        assert set(answer) == {"type", "supported_types", "template", "truncated"}
        assert (answer["type"], answer["supported_types"], answer["truncated"]) == (kind, TYPES, False)
        template = answer["template"]
        assert {"id", "type", "title", "text", "status", "tags", "meta"} <= set(template)
        assert template["type"] == kind
        assert desk.room("think_template", type=kind) == answer
        written = desk.room("think_card", card={**template, "id": f"t-{kind}"})
        assert written["inserted"] is True
        assert desk.room("think_card", card=template)["inserted"] is True


@holds("4 think_template: an unknown type is a typed error that lists the supported types")
def test_an_unknown_type_is_refused_with_the_list_of_types(desk: TaskTools) -> None:
    desk.room("init")
    for tool, arguments in (
        ("think_template", {"type": "hypotesis"}), ("think_card", {"card": {"type": "epic", "title": "t"}}),
        ("think_card", {"card": "type: epic\ntitle: t"}), ("think_query", {"types": ["question", "epic"]}),
    ):  # fmt: skip
        error = desk.room.refuses("INVALID_REQUEST", tool, **arguments)
        assert error.details is not None
        assert error.details["supported_types"] == TYPES
        assert error.recovery is not None
        check_call(error.recovery)
        assert all(kind in error.recovery["reason"] for kind in TYPES)
        desk.door(error.recovery["tool"], **error.recovery["arguments"])


@holds("4 think_card: writes a note entry to the trace and a typed node with edges to the graph")
def test_a_card_is_an_entry_of_the_trace_and_a_node_of_the_graph(desk: TaskTools) -> None:
    desk.room.apply(node("h1", "hypothesis"), node("t1", "test"))
    answer = desk.room("think_card", card=FULL, supports=["h1"], blocks="t1")
    assert set(answer) == {
        "workspace", "branch", "trace_doc", "graph_doc", "card_id", "inserted", "graph_applied", "last_seq",
    }  # fmt: skip
    assert (answer["branch"], answer["trace_doc"], answer["graph_doc"]) == ("main", "trace", "graph")
    assert (answer["card_id"], answer["inserted"]) == ("q1", True)
    assert answer["graph_applied"] == {"nodes_upserted": 1, "edges_upserted": 2}
    [entry] = desk.room.entries(doc="trace")
    assert (entry["kind"], entry["title"], entry["content"]) == ("note", FULL["title"], FULL["text"])
    assert entry["meta"]["card_id"] == "q1"
    found = state(desk.room.nodes()["q1"])
    assert found == {**FULL, "tags": ["cache", "perf"], "deleted": False}
    assert set(desk.room.edges()) == {("q1", "supports", "h1"), ("q1", "blocks", "t1")}
    assert answer["last_seq"] == max(
        one["last_seq"] for one in [*desk.room.nodes().values(), *desk.room.edges().values()]
    )


@holds("decisions §3: a card is an object, a JSON string, key: value lines, or plain text")
@pytest.mark.parametrize("form", FORMS)
def test_a_card_is_the_same_in_every_form(desk: TaskTools, form: str) -> None:
    desk.room("think_card", card=FORMS[form])
    assert state(card_of(desk, "q1")) == {**FULL, "tags": ["cache", "perf"], "deleted": False}


@holds("decisions §3: the same card_id with the same normalized content is a no-op")
@pytest.mark.parametrize("form", FORMS)
def test_repeating_the_same_card_in_any_form_is_no_change(desk: TaskTools, form: str) -> None:
    desk.room.apply(node("a"), node("b"))
    first = desk.room("think_card", card=FORMS[form], supports=["b", "a"])
    before = dump(desk.door.home)
    for again in (
        *FORMS.values(),
        {**FULL, "tags": [" PERF ", "cache", "perf"]},
        {**FULL, "title": f" {FULL['title']}\n"},
    ):
        answer = desk.room("think_card", card=again, supports=["a", "b", "a"])
        assert answer == {
            **{name: first[name] for name in ("workspace", "branch", "trace_doc", "graph_doc", "card_id")},
            "inserted": False, "graph_applied": {"nodes_upserted": 0, "edges_upserted": 0},
            **({"meta_keys": ["owner"]} if again == LINES else {}),
        }  # fmt: skip
    after = dump(desk.door.home)
    for table in ("doc_entries", "graph_versions", "numbers", "documents"):
        assert after[table] == before[table], table


@holds("decisions §3: a card is an object, a JSON string, key: value lines, or plain text")
def test_plain_text_becomes_a_note_with_a_generated_id(desk: TaskTools) -> None:
    first = desk.room("think_card", card="The cache is never cleared.")
    second = desk.room("think_card", card="The cache is never cleared.")
    for answer in (first, second):
        assert answer["inserted"] is True
        prefix, _, number = answer["card_id"].partition("-")
        assert (prefix, number.isdigit()) == ("CARD", True)
    assert first["card_id"] != second["card_id"]
    card = state(card_of(desk, first["card_id"]))
    assert card == {
        "id": first["card_id"], "type": "note", "text": "The cache is never cleared.", "status": "open", "tags": [],
        "deleted": False,
    }  # fmt: skip


@holds("decisions §3: a card is an object, a JSON string, key: value lines, or plain text")
@pytest.mark.parametrize(
    "text",
    [
        "one: two",
        "See http://example.org: it says so",
        "A line\ntitle: not a card",
        "[1, 2]",
        '"quoted"',
        "é: ü",
        ": x",
    ],
)
def test_text_that_resembles_a_card_is_plain_text(desk: TaskTools, text: str) -> None:
    made = desk.room("think_card", card=text)["card_id"]
    card = card_of(desk, made)
    assert (card["type"], card["text"]) == ("note", text)
    assert "title" not in card


@holds("decisions §3: a card is an object, a JSON string, key: value lines, or plain text")
def test_text_spans_lines_and_unknown_keys_are_kept_in_meta(desk: TaskTools) -> None:
    lines = "title: T\ntext: first line\nsecond line\n\nthird: line\nconfidence: 0.8\ncard_id: c1"
    desk.room("think_card", card=lines)
    card = card_of(desk, "c1")
    assert (card["title"], card["text"]) == ("T", "first line\nsecond line")
    assert card["meta"] == {"third": "line", "confidence": "0.8"}
    desk.room("think_card", card={"id": "c2", "title": "T", "confidence": 0.8, "meta": {"owner": "kim"}})
    assert card_of(desk, "c2")["meta"] == {"confidence": 0.8, "owner": "kim"}
    desk.room("think_card", card='{"id": "c3", "title": "T", "why": ["a"]}')
    assert card_of(desk, "c3")["meta"] == {"why": ["a"]}


@holds("4 think_card: defaults of type, status and tags; CARD-<seq> if no id is given")
def test_a_card_has_defaults_for_missing_fields(desk: TaskTools) -> None:
    for card in ({"title": "T"}, {"text": "T"}, {"title": "T", "type": None, "status": "", "tags": None, "meta": None}):
        answer = desk.room("think_card", card=card)
        found = card_of(desk, answer["card_id"])
        assert (found["type"], found["status"], found["tags"]) == ("note", "open", [])
        assert "meta" not in found


@holds("decisions §3: a card is an object, a JSON string, key: value lines, or plain text")
@pytest.mark.parametrize(
    "card",
    [
        "", "  \n", {}, {"title": " "}, {"title": "", "text": "\n"}, {"type": "note"}, "type: note", '{"title": "T"',
        "{}", {"title": 5}, {"title": "T", "tags": [1]}, {"title": "T", "tags": {"a": 1}},
        {"title": "T", "meta": ["x"]},
        {"title": "T", "id": 5}, {"title": "T", "id": "a|b"}, {"title": "T", "id": "a\nb"},
        {"title": "T", "id": "x" * 257},
        {"title": "T", "id": "a", "card_id": "b"}, {"title": "T", "status": "x" * 129},
        {"title": "T", "status": "a\nb"},
        ["a card"], 5, '{"title": NaN}', '{"title": "T", "x": 1e999}', '{"title": "\\ud800"}', "{" * 5000,
        '{"title": "T", "x": ' + "[" * 100 + "]" * 100 + "}", {"title": "x" * 10_001},
        {"title": "T", "x": 2**63},
    ],
    ids=range(29),
)  # fmt: skip
def test_an_invalid_card_is_refused_and_writes_nothing(timed: TaskTools, card: Any) -> None:
    timed.room("init")
    timed.room.refuses("INVALID_REQUEST", "think_card", card=card)


@holds("decisions §3: a card is an object, a JSON string, key: value lines, or plain text")
def test_an_invalid_card_is_refused_through_every_door(desk: TaskTools) -> None:
    desk.room("init")
    for card in ("", {"type": "note"}, '{"title": NaN}', {"title": "T", "id": "a|b"}, None, ["a card"]):
        desk.room.refuses("INVALID_REQUEST", "think_card", card=card)
    desk.room.refuses("INVALID_REQUEST", "think_card", card="t", supports=["a|b"])
    desk.room.refuses("INVALID_REQUEST", "think_card", card="t", supports=[5])
    desk.room.refuses("INVALID_REQUEST", "think_card", card="t", blocks=[""])
    desk.room.refuses("INVALID_REQUEST", "think_card", card="t", suports=["a"])


@holds("decisions §3: the same card_id with other content is CONFLICT; shapes think: with other edges too")
def test_the_same_id_with_different_content_is_a_conflict(desk: TaskTools) -> None:
    desk.room.apply(node("a"), node("b"))
    desk.room("think_card", card=FULL, supports=["a"])
    others: list[tuple[Any, dict[str, Any]]] = [
        ({**FULL, name: value}, {"supports": ["a"]})
        for name, value in (
            ("title", "Other"), ("text", "Other"), ("type", "note"), ("status", "open"), ("tags", ["cache"]),
            ("meta", {"owner": "lee"}), ("meta", {}), ("text", None), ("title", None),
        )
    ]  # fmt: skip
    others += [(FULL, {}), (FULL, {"supports": ["a", "b"]}), (FULL, {"blocks": ["a"]}), (FULL, {"supports": ["b"]})]
    for card, edges in others:
        error = desk.room.refuses("CONFLICT", "think_card", card=card, **edges)
        assert error.status == 409
        assert "`branchmind_think_set_status`" in error.message
        assert "`branchmind_think_link`" in error.message
        assert error.recovery is not None
        shown = desk.door(error.recovery["tool"], **error.recovery["arguments"])
        assert [one["id"] for one in shown["cards"]] == ["q1"]
    assert len(desk.room.entries(doc="trace")) == 1


@holds("decisions §3: the same card_id with other content is CONFLICT; shapes think: with other edges too")
def test_a_conflict_with_a_card_of_another_graph_names_its_trace(desk: TaskTools) -> None:
    desk.room("think_card", card={"id": "c", "title": "T"})
    error = desk.room.refuses("CONFLICT", "think_card", card={"id": "c", "title": "U"}, graph_doc="other")
    assert error.recovery is not None
    shown = desk.door(error.recovery["tool"], **error.recovery["arguments"])
    assert [entry["title"] for entry in shown["entries"]] == ["T"]


@holds("decisions §3: the same card_id with other content is CONFLICT; shapes think: with other edges too")
def test_a_card_with_only_a_title_differs_from_one_with_the_same_title_and_text(desk: TaskTools) -> None:
    desk.room("think_card", card={"id": "c", "title": "T"})
    desk.room.refuses("CONFLICT", "think_card", card={"id": "c", "title": "T", "text": "T"})


@holds("decisions §3: after think_set_status the same card is still a no-op")
def test_the_same_card_is_no_change_after_its_status_was_set(desk: TaskTools) -> None:
    desk.room("think_card", card=FULL)
    desk.room("think_set_status", ids="q1", status="closed")
    desk.room("think_pin", ids="q1")
    assert desk.room("think_card", card=FULL)["inserted"] is False
    assert card_of(desk, "q1")["status"] == "closed"
    desk.room.refuses("CONFLICT", "think_card", card={**FULL, "status": "closed"})
    assert [entry["format"] for entry in desk.room.entries(doc="trace")] == ["think_card", "status_change"]


@holds("decisions §3: after think_set_status the same card is still a no-op")
def test_the_same_card_is_no_change_after_links_were_added(desk: TaskTools) -> None:
    desk.room("think_card", card=FULL)
    desk.room("think_card", card={"id": "h1", "type": "hypothesis", "title": "H"})
    desk.room("think_link", from_="q1", rel="supports", to="h1")
    assert desk.room("think_card", card=FULL)["inserted"] is False
    assert ("q1", "supports", "h1") in desk.room.edges()


@holds("4 think_card: no new graph versions when node and edges are already equal")
def test_an_equal_node_gets_a_trace_entry_and_no_new_version(desk: TaskTools) -> None:
    desk.room.apply(
        node("c", "note", title="T", status="open"), node("d", "note", title="other"), edge("c", "supports", "d")
    )
    before = desk.room.nodes(), desk.room.edges()
    answer = desk.room("think_card", card={"id": "c", "title": "T"}, supports=["d"])
    assert answer["inserted"] is True
    assert answer["graph_applied"] == {"nodes_upserted": 0, "edges_upserted": 0}
    assert (desk.room.nodes(), desk.room.edges()) == before
    assert len(desk.room.entries(doc="trace")) == 1
    desk.room.refuses("CONFLICT", "think_card", card={"id": "d", "title": "T"})


@holds("decisions §3: the same card_id with the same normalized content is a no-op")
def test_a_card_exists_on_branches_derived_after_it_and_nowhere_else(desk: TaskTools) -> None:
    desk.room("init")
    desk.room.branch("before")
    desk.room("think_card", card=FULL)
    desk.room.branch("after")
    assert desk.room("think_card", card=FULL, branch="after")["inserted"] is False
    desk.room.refuses("CONFLICT", "think_card", card={**FULL, "title": "Other"}, branch="after")
    assert desk.room("think_card", card={**FULL, "title": "Other"}, branch="before")["inserted"] is True
    assert card_of(desk, "q1")["title"] == FULL["title"]


@holds("decisions §3: the same card_id with the same normalized content is a no-op")
def test_repeating_a_merged_card_is_no_change(desk: TaskTools) -> None:
    desk.room("init")
    desk.room.branch("what-if")
    desk.room("think_card", card=FULL, branch="what-if")
    desk.room("merge", from_="what-if", into="main", doc="trace")
    desk.room("graph_merge", from_="what-if", into="main")
    assert len(desk.room.entries(doc="trace")) == 1
    assert desk.room("think_card", card=FULL)["inserted"] is False
    assert len(desk.room.entries(doc="trace")) == 1


@holds("4 think_card: without a branch the checkout, without documents trace and graph")
def test_a_card_is_written_to_the_given_documents(desk: TaskTools) -> None:
    desk.room("init")
    desk.room.branch("b")
    answer = desk.room("think_card", card=FULL, branch="b", trace_doc="my trace", graph_doc="my graph")
    assert (answer["branch"], answer["trace_doc"], answer["graph_doc"]) == ("b", "my trace", "my graph")
    assert len(desk.room.entries("b", "my trace")) == 1
    assert list(desk.room.nodes("b", doc="my graph")) == ["q1"]
    assert desk.room.nodes("main") == desk.room.nodes("b") == {}
    assert desk.room("think_card", card=FULL, ref="b", trace_doc="my trace", graph_doc="my graph")["inserted"] is False
    desk.room.refuses("INVALID_REQUEST", "think_card", card="t", branch="b", ref="b")
    desk.room.misses("think_card", card="t", branch="typo")


@holds("4 think_card: without a branch the checkout, without documents trace and graph")
def test_without_a_branch_a_card_is_written_to_the_checkout(desk: TaskTools) -> None:
    assert desk.room("think_card", card="first")["branch"] == "main"
    desk.room.branch("b")
    desk.room("checkout", ref="b")
    assert desk.room("think_card", card="second")["branch"] == "b"
    assert len(desk.room.entries("main", "trace")) == 1


@holds("4 think_card: without a branch the checkout, without documents trace and graph")
def test_the_card_of_a_target_is_written_to_its_documents(desk: TaskTools) -> None:
    desk.task()
    answer = desk.room("think_card", target="TASK-001", card=FULL)
    assert (answer["branch"], answer["trace_doc"], answer["graph_doc"]) == (
        "task/TASK-001", "TASK-001-trace", "TASK-001-graph",
    )  # fmt: skip
    assert [entry["kind"] for entry in desk.trace("TASK-001")] == ["event", "note"]
    assert set(desk.nodes("TASK-001")) == {"q1", "task:TASK-001"}


@holds("decisions §3: think_card, think_add_* and think_context take target with branch")
def test_a_target_with_a_branch_writes_to_a_what_if_branch(desk: TaskTools) -> None:
    desk.task()
    desk.room.branch("what-if", "task/TASK-001")
    answer = desk.room("think_card", target="TASK-001", branch="what-if", card=FULL)
    assert (answer["branch"], answer["trace_doc"], answer["graph_doc"]) == (
        "what-if", "TASK-001-trace", "TASK-001-graph",
    )  # fmt: skip
    added = desk.room("think_add_test", target="TASK-001", ref="what-if", card={"id": "t1", "title": "T"})
    assert added["branch"] == "what-if"
    context = desk.room("think_context", target="TASK-001", branch="what-if")
    assert (context["branch"], context["graph_doc"]) == ("what-if", "TASK-001-graph")
    assert [card["id"] for card in context["cards"]] == ["t1", "q1"]
    assert desk.room("think_context", target="TASK-001")["cards"] == []
    assert len(desk.trace("TASK-001")) == 1
    for tool, given in (("think_card", {"card": "t"}), ("think_add_note", {"card": "t"}), ("think_context", {})):
        desk.room.misses(tool, target="TASK-001", branch="typo", **given)
        desk.room.refuses("INVALID_REQUEST", tool, target="TASK-001", branch="what-if", graph_doc="graph", **given)


@holds("shapes think: the type of think_add_* replaces card.type")
@pytest.mark.parametrize("type", TYPES)
def test_adding_a_card_of_a_type_replaces_its_given_type(desk: TaskTools, type: str) -> None:
    tool = f"think_add_{type}"
    desk.room.apply(node("a"), node("b"))
    answer = desk.room(
        tool, card={**FULL, "type": "update" if type == "note" else "note"}, supports=["a"], blocks=["b"]
    )
    assert set(answer) == {
        "workspace", "branch", "trace_doc", "graph_doc", "card_id", "inserted", "graph_applied", "last_seq",
    }  # fmt: skip
    assert card_of(desk, "q1")["type"] == type
    assert answer["graph_applied"] == {"nodes_upserted": 1, "edges_upserted": 2}
    assert desk.room("think_card", card={**FULL, "type": type}, supports=["a"], blocks=["b"])["inserted"] is False
    plain = desk.room(tool, card="Just a line")["card_id"]
    assert (card_of(desk, plain)["type"], card_of(desk, plain)["text"]) == (type, "Just a line")
    assert card_of(desk, desk.room(tool, card="title: By lines")["card_id"])["title"] == "By lines"
    assert card_of(desk, desk.room(tool, card={"title": "T", "type": "epic"})["card_id"])["type"] == type


@holds("4 think_card: atomic")
@pytest.mark.parametrize("table", ["doc_entries", "graph_versions"])
def test_a_card_that_fails_in_one_part_writes_nothing(timed: TaskTools, table: str) -> None:
    timed.room.apply(node("a"))
    with DirectStore(timed.door.home) as direct:
        direct.trap("fail", f"insert on {table}")
    before = dump(timed.door.home)
    with pytest.raises(MossError):
        timed.room("think_card", card=FULL, supports=["a"])
    assert dump(timed.door.home) == before
    with DirectStore(timed.door.home) as direct:
        direct.free("fail")
    assert timed.room("think_card", card=FULL, supports=["a"])["inserted"] is True


@holds("4 think_card: defaults of type, status and tags; CARD-<seq> if no id is given")
def test_a_generated_id_is_never_a_used_one(desk: TaskTools) -> None:
    desk.room("init")
    ahead = [f"CARD-{number}" for number in range(1, 12)]
    desk.room.apply(*(node(one, "note") for one in ahead))
    desk.room.apply(gone("CARD-3"))
    made = [desk.room("think_card", card=f"{number}")["card_id"] for number in range(5)]
    assert len(set(made) | set(ahead)) == 16
