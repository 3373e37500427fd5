"""`moss_search` over notes and graph nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.doors import open_test_store
from contract.reasoning.reasoning_tools import ReasoningTools, edge, gone, node
from support.direct_store import DirectStore
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock

MARKUP = "<script>zebra & <b>zebra</b></script>"


def items(room: ReasoningTools, query: str, **asked: Any) -> list[dict[str, Any]]:
    answer = room.door("moss_search", search_mode="keyword", query=query, **asked)
    assert answer["pagination"]["total"] == len(answer["items"])
    found: list[dict[str, Any]] = answer["items"]
    return found


def hits(room: ReasoningTools, query: str, **asked: Any) -> list[str]:
    return sorted(item["title"] for item in items(room, query, **asked))


def shown(room: ReasoningTools, item: dict[str, Any]) -> dict[str, Any]:
    """Return the only entry at the address of a note."""
    [entry] = room.door("branchmind_show", **item["fetch"]["arguments"])["entries"]
    assert isinstance(entry, dict)
    return entry


def check_index(room: ReasoningTools) -> None:
    """Assert that the search index matches the stored rows."""
    with DirectStore(room.door.home) as direct:
        assert direct.problems() == []


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_note_is_found_by_its_title_and_its_content(room: ReasoningTools) -> None:
    room.note("stripes", title="the zebra")
    room.note("a zebra crossing", title="road")
    room.note("nothing", title="else", meta={"zebra": "zebra"})
    assert hits(room, "zebra") == ["road", "the zebra"]
    for item in items(room, "zebra"):
        assert item["type"] == "note"
        assert item["workspace"] == "Shop"
        assert isinstance(item["score"], float)
        assert item["fetch"]["tool"] == "branchmind_show"
        assert "content" not in item
    [item] = items(room, "crossing")
    assert "<b>crossing</b>" in item["snippet"]


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_note_of_any_document_is_found_and_gets_a_title(room: ReasoningTools) -> None:
    room.note("zebra in the plans", doc="plans")
    room.note("zebra in the trace", doc="trace")
    found = items(room, "zebra")
    assert len(found) == 2
    assert all(item["title"] for item in found)


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_node_is_found_by_its_title_its_text_and_its_id(room: ReasoningTools) -> None:
    room.apply(node("a", title="the zebra"), node("b", title="road", text="a zebra crossing"), node("zebra"))
    room.apply(edge("a", "zebra", "b", meta={"zebra": 1}), node("c", title="x", meta={"m": "zebra"}))
    assert hits(room, "zebra") == ["road", "the zebra", "zebra"]
    assert {item["type"] for item in items(room, "zebra")} == {"node"}
    [item] = items(room, "crossing")
    assert "<b>crossing</b>" in item["snippet"]


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_hit_has_the_address_of_its_note_or_node(room: ReasoningTools) -> None:
    room.branch("b")
    seqs = [room.note(f"a zebra {number}", branch="b", doc="plans") for number in range(3)]
    room.apply(node("n", title="an okapi"), node("m"), branch="b", doc="ideas")
    found = items(room, "zebra")
    assert {shown(room, item)["seq"] for item in found} == set(seqs)
    assert all(shown(room, item)["content"] in item["snippet"].replace("<b>", "").replace("</b>", "") for item in found)
    [item] = items(room, "okapi")
    assert (item["fetch"]["arguments"]["workspace"], item["fetch"]["arguments"]["branch"]) == ("Shop", "b")
    assert [found["id"] for found in room.door("branchmind_graph_query", **item["fetch"]["arguments"])["nodes"]] == [
        "n"
    ]


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_notes_and_nodes_are_found_together_with_capsules_or_by_type(room: ReasoningTools) -> None:
    room.note("one zebra", title="note")
    room.apply(node("n", title="node", text="one zebra"))
    room.door("capsule_store", name="capsule", capsule_text="one zebra", allow_thin=True, workspace="Shop")
    for query in ("zebra", '"one zebra"', "zeb*", "zebra NOT okapi"):
        assert hits(room, query) == ["capsule", "node", "note"]
        assert hits(room, query, types=["note"]) == ["note"]
        assert hits(room, query, types=["node"]) == ["node"]
        assert hits(room, query, types=["note", "node"]) == ["node", "note"]
        assert hits(room, query, types=["capsule"]) == ["capsule"]
        assert hits(room, query, workspace="SHOP") == ["capsule", "node", "note"]
        assert hits(room, query, workspace="other") == []
    assert room.door("capsule_search", query="zebra")["pagination"]["total"] == 1


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_note_belongs_to_no_run(room: ReasoningTools) -> None:
    room.note("zebra")
    room.apply(node("zebra"))
    assert hits(room, "zebra", run_id="r") == []


@holds("search: hidden, superseded and deleted rows are not found")
def test_a_note_hidden_by_a_reset_is_not_found_until_it_is_shown_again(room: ReasoningTools) -> None:
    first = room.note("okapi", title="first")
    second = room.note("zebra", title="second")
    room("reset", to=first)
    assert (hits(room, "zebra"), hits(room, "okapi")) == ([], ["first"])
    room.note("zebra", title="third")
    assert hits(room, "zebra") == ["third"]
    room("reset", to=second)
    assert hits(room, "zebra") == ["second"]
    check_index(room)


@holds("search: hidden, superseded and deleted rows are not found")
def test_a_note_that_a_derived_branch_still_shows_is_found(room: ReasoningTools) -> None:
    first = room.note("okapi", title="first")
    room.note("zebra", title="second")
    room.branch("b")
    room("reset", to=first)
    [item] = items(room, "zebra")
    assert shown(room, item)["title"] == "second"
    room("reset", ref="b", to=first)
    assert hits(room, "zebra") == []
    check_index(room)


@holds("search: hidden, superseded and deleted rows are not found")
def test_a_note_that_only_a_deleted_branch_showed_is_not_found(room: ReasoningTools) -> None:
    first = room.note("okapi", title="first")
    second = room.note("zebra", title="second")
    room.branch("b")
    room("reset", to=first)
    room("branch_delete", name="b")
    assert hits(room, "zebra") == []
    room("reset", to=second)
    assert hits(room, "zebra") == ["second"]
    check_index(room)


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_an_inherited_note_or_node_is_found_once(room: ReasoningTools) -> None:
    room.note("zebra", title="note")
    room.apply(node("n", title="zebra node"))
    room.branch("b")
    room.branch("c", "b")
    assert hits(room, "zebra") == ["note", "zebra node"]


@holds("search: hidden, superseded and deleted rows are not found")
def test_a_superseded_or_deleted_node_is_not_found(room: ReasoningTools) -> None:
    room.apply(node("a", title="zebra"), node("b", title="zebra"))
    room.apply(node("a", title="okapi"))
    assert (hits(room, "zebra"), hits(room, "okapi")) == (["zebra"], ["okapi"])
    room.apply(gone("b"))
    assert hits(room, "zebra") == []
    room.apply(node("b", title="zebra again"))
    assert hits(room, "zebra") == ["zebra again"]
    check_index(room)


@holds("search: hidden, superseded and deleted rows are not found")
def test_a_change_on_a_branch_does_not_hide_the_node_of_its_base(room: ReasoningTools) -> None:
    room.apply(node("a", title="zebra"), node("b", title="zebra two"))
    room.branch("b")
    room.apply(node("a", title="okapi"), gone("b"), branch="b")
    assert (hits(room, "zebra"), hits(room, "okapi")) == (["zebra", "zebra two"], ["okapi"])


@holds("search: hidden, superseded and deleted rows are not found")
def test_notes_and_nodes_of_a_deleted_branch_are_not_found(room: ReasoningTools) -> None:
    room.branch("b")
    room.note("zebra", branch="b")
    room.apply(node("zebra"), branch="b")
    assert len(hits(room, "zebra")) == 2
    room("branch_delete", name="b")
    assert hits(room, "zebra") == []
    check_index(room)


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_renamed_branch_is_found_under_its_new_name(room: ReasoningTools) -> None:
    room.branch("b")
    room.note("zebra", branch="b")
    room("branch_rename", old="b", new="c")
    [item] = items(room, "zebra")
    assert item["fetch"]["arguments"]["branch"] == "c"


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_merged_copy_is_found_once(room: ReasoningTools) -> None:
    room.branch("b")
    room.note("zebra", branch="b", title="note")
    room.apply(node("n", title="zebra"), branch="b")
    room("merge", from_="b", into="main")
    room("graph_merge", from_="b", into="main")
    assert hits(room, "zebra") == ["note", "zebra"]
    room("branch_delete", name="b")
    assert hits(room, "zebra") == ["note", "zebra"]


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_markup_in_a_note_or_node_cannot_forge_a_highlight(room: ReasoningTools) -> None:
    room.note(MARKUP)
    room.apply(node("n", title="x", text=MARKUP))
    found = items(room, "zebra")
    assert len(found) == 2
    for item in found:
        shown = item["snippet"].replace("<b>zebra</b>", "zebra")
        assert "<" not in shown
        assert "&lt;script&gt;" in shown


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_search_pages_over_notes_and_nodes_show_every_hit_once(room: ReasoningTools) -> None:
    for number in range(7):
        room.note("zebra", title=f"note {number}")
        room.apply(node(f"n{number}", title=f"zebra {number}"))
    found = []
    for offset in range(0, 16, 3):
        answer = room.door("moss_search", search_mode="keyword", query="zebra", limit=3, offset=offset)
        assert answer["pagination"]["total"] == 14
        found += [item["title"] for item in answer["items"]]
    assert len(found) == len(set(found)) == 14


@holds("search: notes and graph nodes are found beside capsules, each hit with its address")
def test_a_disabled_family_is_not_searched(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, disabled_types=["reasoning"]) as store:
        store.call("branchmind_notes_commit", {"workspace": "w", "content": "zebra"})
        store.call("capsule_store", {"name": "c", "capsule_text": "zebra", "allow_thin": True})
        assert [
            item["title"] for item in store.call("moss_search", {"search_mode": "keyword", "query": "zebra"})["items"]
        ] == ["c"]
