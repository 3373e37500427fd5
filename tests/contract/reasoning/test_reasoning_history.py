"""Commits, logs, lists of documents, tags and the reflog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, edge, every_page, gone, newest_first, node
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock


def commit(room: ReasoningTools, message: str, artifact: str = "a", **asked: Any) -> int:
    """Commit and return the number of the first entry."""
    seq: int = room("commit", message=message, artifact=artifact, **asked)["commits"][0]["seq"]
    return seq


def logged(room: ReasoningTools, **asked: Any) -> list[str]:
    return [row["message"] for row in newest_first(room, "log", "commits", **asked)]


@holds("4 commit: a note with the artifact as content, in notes or the documents named")
def test_a_commit_returns_its_record(room: ReasoningTools) -> None:
    answer = room("commit", artifact="the text", message="Decide", meta={"a": 1})
    assert set(answer) == {"workspace", "created_workspace", "branch", "docs", "commits"}
    assert (answer["workspace"], answer["branch"], answer["docs"]) == ("Shop", "main", ["notes"])
    [record] = answer["commits"]
    [entry] = room.entries()
    assert record == {
        "seq": entry["seq"], "ts": entry["ts"], "ts_ms": entry["ts_ms"], "branch": "main", "doc": "notes",
        "message": "Decide",
    }  # fmt: skip
    assert (entry["kind"], entry["title"], entry["content"], entry["meta"]) == ("note", "Decide", "the text", {"a": 1})


@holds("4 commit: a note with the artifact as content, in notes or the documents named")
def test_a_commit_is_written_to_every_named_document(room: ReasoningTools) -> None:
    assert room("commit", artifact="x", message="m", docs="plans")["docs"] == ["plans"]
    answer = room("commit", artifact="y", message="m", docs=["notes", "plans", "notes"])
    assert answer["docs"] == ["notes", "plans"]
    assert [record["doc"] for record in answer["commits"]] == ["notes", "plans"]
    assert room.texts(doc="notes") == ["y"]
    assert room.texts(doc="plans") == ["x", "y"]


@holds("4 commit: a note with the artifact as content, in notes or the documents named")
def test_a_commit_without_artifact_message_or_document_is_refused(room: ReasoningTools) -> None:
    room("init")
    for arguments in (
        {"message": "m"}, {"artifact": "x"}, {"artifact": "", "message": "m"},
        {"artifact": "x", "message": "m", "docs": []}, {"artifact": "x", "message": "m", "docs": ["plans", ""]},
        {"artifact": "x", "message": "m", "docs": [5]}, {"artifact": "x", "message": "m", "docs": 5},
        {"artifact": "x", "message": "x" * 10_001},
    ):  # fmt: skip
        room.refuses("INVALID_REQUEST", "commit", **arguments)
    room.refuses("TEXT_TOO_LARGE", "commit", artifact="x" * 200_001, message="m")


@holds("shapes: log is every note of the document, newest first, with head_seq")
def test_a_log_lists_every_note_of_the_document_newest_first(room: ReasoningTools) -> None:
    first = commit(room, "one", "text one", meta={"m": 1})
    room.note("text two", title="two")
    third = commit(room, "three", "text\nthree")
    answer = room("log")
    assert set(answer) == {"workspace", "ref", "doc", "head_seq", "commits", "pagination", "truncated"}
    assert (answer["workspace"], answer["ref"], answer["doc"]) == ("Shop", "main", "notes")
    assert answer["head_seq"] == third
    assert [row["message"] for row in answer["commits"]] == ["three", "two", "one"]
    assert [row["content"] for row in answer["commits"]] == ["text\nthree", "text two", "text one"]
    assert set(answer["commits"][0]) == {"seq", "ts", "ts_ms", "message", "content"}
    assert answer["commits"][2]["meta"] == {"m": 1}
    assert answer["commits"][2]["seq"] == first
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 20, "count": 3}
    assert answer["truncated"] is False


@holds("shapes: log is every note of the document, newest first, with head_seq")
def test_a_log_covers_one_document_notes_by_default(room: ReasoningTools) -> None:
    commit(room, "note")
    commit(room, "plan", docs="plans")
    assert logged(room) == ["note"]
    assert logged(room, doc="plans") == ["plan"]
    room.misses("log", doc="typo")
    room.misses("log", ref="typo")


@holds("shapes: log is every note of the document, newest first, with head_seq")
def test_a_log_lists_the_entries_visible_on_its_ref(room: ReasoningTools) -> None:
    head = commit(room, "shared")
    room.branch("b")
    commit(room, "main only")
    assert room("log", ref="b")["head_seq"] == head
    room.note("own", branch="b", title="own")
    assert logged(room, ref="b") == ["own", "shared"]
    assert logged(room, ref="main") == ["main only", "shared"]


@holds("shapes: log is every note of the document, newest first, with head_seq")
def test_the_head_of_an_empty_log_is_null(room: ReasoningTools) -> None:
    room("init")
    answer = room("log")
    assert (answer["head_seq"], answer["commits"]) == (None, [])


@holds("shapes: log is every note of the document, newest first, with head_seq")
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_of_a_log_show_every_commit_once_and_the_same_head(room: ReasoningTools, limit: int) -> None:
    seqs = [commit(room, str(number)) for number in range(7)]
    pages = every_page(room, "log", limit=limit)
    assert [row["seq"] for page in pages for row in page["commits"]] == seqs[::-1]
    assert {page["head_seq"] for page in pages} == {seqs[-1]}


@holds("shapes: log is every note of the document, newest first, with head_seq")
def test_a_log_shows_20_commits_by_default_and_at_most_200(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(21)]
    answer = room("log")
    assert [row["seq"] for row in answer["commits"]] == seqs[:0:-1]
    assert answer["pagination"]["next_cursor"] == seqs[1]
    assert room("log", limit=5000)["pagination"]["limit"] == 200


@holds("shapes: docs_list shows doc, entries and last_seq")
def test_documents_are_listed_by_name_with_their_entries_and_last_number(room: ReasoningTools) -> None:
    room("init")
    empty = {"entries": 0, "last_seq": None}
    assert room("docs_list") == {
        "workspace": "Shop", "ref": "main", "truncated": False,
        "docs": [{"doc": "graph", **empty}, {"doc": "notes", **empty}, {"doc": "trace", **empty}],
    }  # fmt: skip
    room.note()
    last = room.note()
    plan = room.note(doc="plans")
    graph = room.apply(node("a"), node("a", title="again"), gone("a"))["last_seq"]
    assert room("docs_list")["docs"] == [
        {"doc": "graph", "entries": 3, "last_seq": graph}, {"doc": "notes", "entries": 2, "last_seq": last},
        {"doc": "plans", "entries": 1, "last_seq": plan}, {"doc": "trace", **empty},
    ]  # fmt: skip


@holds("shapes: docs_list shows doc, entries and last_seq")
def test_documents_are_listed_with_the_entries_visible_on_the_ref(room: ReasoningTools) -> None:
    first = room.note()
    room.branch("b")
    room.note(doc="late")
    room.note()
    own = room.note(doc="own", branch="b")
    listed = {row["doc"]: (row["entries"], row["last_seq"]) for row in room("docs_list", ref="b")["docs"]}
    assert listed == {"graph": (0, None), "notes": (1, first), "own": (1, own), "trace": (0, None)}
    assert {row["doc"] for row in room("docs_list")["docs"]} == {"graph", "late", "notes", "trace"}
    room.misses("docs_list", ref="typo")


@holds("shapes: tag_create points to the checkout's head, a seq or a tag")
def test_a_tag_points_to_the_head_of_the_checkout_by_default(room: ReasoningTools) -> None:
    room.note()
    seq = room.note()
    room.note(doc="plans")
    answer = room("tag_create", name="v1")
    assert set(answer) == {"workspace", "tag"}
    assert answer["workspace"] == "Shop"
    tag = answer["tag"]
    assert isinstance(tag["created_at_ms"], int)
    assert tag == {
        "name": "v1", "branch": "main", "doc": "notes", "seq": seq, "created_at_ms": tag["created_at_ms"],
    }  # fmt: skip
    assert room("tag_list") == {"workspace": "Shop", "tags": [tag], "truncated": False}


@holds("shapes: tag_create points to the checkout's head, a seq or a tag")
def test_a_tag_points_to_an_entry_or_to_the_entry_of_another_tag(room: ReasoningTools) -> None:
    first = room.note()
    plan = room.note(doc="plans")
    room.branch("b")
    own = room.note(branch="b")
    for name, from_, branch, doc, seq in (
        ("by number", first, "main", "notes", first), ("in a document", plan, "main", "plans", plan),
        ("elsewhere", own, "b", "notes", own), ("by tag", "elsewhere", "b", "notes", own),
        ("by digits", str(first), "main", "notes", first),
    ):  # fmt: skip
        tag = room("tag_create", name=name, from_=from_)["tag"]
        assert (tag["branch"], tag["doc"], tag["seq"]) == (branch, doc, seq)
    assert sorted(room.tags()) == ["by digits", "by number", "by tag", "elsewhere", "in a document"]


@holds("shapes: tag_create points to the checkout's head, a seq or a tag")
def test_a_tag_of_nothing_is_not_found(room: ReasoningTools) -> None:
    room("init")
    room.misses("tag_create", name="t")
    seq = room.apply(node("a"), edge("a", "to", "a"))["last_seq"]
    for from_ in (0, 99, seq, "typo", "99"):
        room.misses("tag_create", name="t", from_=from_)
    assert room.tags() == {}


@holds("shapes: a taken tag is a conflict")
def test_a_taken_tag_is_a_conflict_unless_it_is_forced(room: ReasoningTools) -> None:
    first, second = room.note(), room.note()
    room("tag_create", name="t", from_=first)
    room.refuses("CONFLICT", "tag_create", name="t", from_=second)
    room.refuses("CONFLICT", "tag_create", name="t", from_=first, force=False)
    assert room("tag_create", name="t", from_=second, force=True)["tag"]["seq"] == second
    assert room.tags()["t"]["seq"] == second


@holds("shapes: tag_create points to the checkout's head, a seq or a tag")
def test_a_tag_does_not_move(room: ReasoningTools) -> None:
    first = room.note()
    second = room.note()
    room("tag_create", name="t")
    room.note()
    room("reset", to=first)
    assert room.tags()["t"]["seq"] == second


@holds("decisions §3: branch, document and tag names are compared exactly")
def test_names_of_tags_are_compared_exactly_and_bad_ones_refused(room: ReasoningTools) -> None:
    room.note()
    for name in ("v1", "V1", " v1", "x" * 256):
        room("tag_create", name=name)
    assert len(room.tags()) == 4
    for name in ("", " ", "a\nb", "x" * 257):
        room.refuses("INVALID_REQUEST", "tag_create", name=name)
    room.misses("tag_delete", name="v1 ")


@holds("shapes: tag_delete answers deleted, an unknown tag is not found")
def test_deleting_a_tag_keeps_its_entry(room: ReasoningTools) -> None:
    room.note("x")
    room("tag_create", name="t")
    assert room("tag_delete", name="t") == {"workspace": "Shop", "name": "t", "deleted": True}
    assert room.tags() == {}
    assert room.texts() == ["x"]
    room.misses("tag_delete", name="t")


@holds("shapes: reflog lists commits and resets of a ref")
def test_a_reflog_lists_commits_and_resets_newest_first(room: ReasoningTools) -> None:
    first = commit(room, "one")
    second = room.note("two", title="two")
    room("reset", to=first)
    third = commit(room, "three")
    plan = commit(room, "plan", docs="plans")
    answer = room("reflog")
    assert set(answer) == {"workspace", "ref", "entries", "pagination", "truncated"}
    assert (answer["workspace"], answer["ref"], answer["truncated"]) == ("Shop", "main", False)
    assert all(set(row) == {"ts", "ts_ms", "doc", "old_seq", "new_seq", "message"} for row in answer["entries"])
    moved = [(row["doc"], row["old_seq"], row["new_seq"]) for row in answer["entries"]]
    assert moved == [
        ("plans", None, plan), ("notes", first, third), ("notes", second, first), ("notes", first, second),
        ("notes", None, first),
    ]  # fmt: skip
    messages = [row["message"] for row in answer["entries"]]
    assert messages[:2] + messages[3:] == ["plan", "three", "two", "one"]
    assert "reset" in messages[2]
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 50, "count": 5}


@holds("shapes: reflog lists commits and resets of a ref")
def test_a_reflog_covers_one_ref(room: ReasoningTools) -> None:
    shared = room.note("shared")
    room.branch("b")
    own = room.note("own", branch="b")
    room.note("main", branch="main")
    [row] = newest_first(room, "reflog", "entries", ref="b")
    assert (row["old_seq"], row["new_seq"]) == (shared, own)
    room.misses("reflog", ref="typo")


@holds("shapes: reflog lists commits and resets of a ref")
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_of_a_reflog_show_every_movement_once(room: ReasoningTools, limit: int) -> None:
    first = room.note("0")
    seqs = [first]
    for number in range(1, 4):
        seqs.append(room.note(str(number)))
        room("reset", to=first)
        seqs.append(first)
    rows = newest_first(room, "reflog", "entries", limit=limit)
    assert [row["new_seq"] for row in rows] == seqs[::-1]
    assert room("reflog", limit=5000)["pagination"]["limit"] == 200


@holds("decisions §0: one event for each change of reasoning, never a text")
def test_every_mutation_writes_one_event_without_text(room: ReasoningTools) -> None:
    secret = "xyzzy-never-logged"  # noqa: S105
    done: list[str] = []

    def make(tool: str, **arguments: Any) -> dict[str, Any]:
        answer = room(tool, **arguments)
        done.append(f"branchmind_{tool}")
        assert [event[3] for event in dump(room.door.home)["events"]] == done
        return answer

    make("init")
    seq = make("notes_commit", content=secret, title=secret)["entry"]["seq"]
    make("graph_apply", ops=[node("a", title=secret)])
    make("branch_create", name="b")
    make("commit", artifact=secret, message=secret)
    make("notes_commit", content=secret, branch="b")
    make("graph_apply", ops=[node("a", title="theirs")], branch="b")
    make("graph_apply", ops=[node("a", title="ours")])
    make("merge", from_="b", into="main")
    conflict_id = make("graph_merge", from_="b", into="main")["conflict_ids"][0]
    make("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_from")
    make("tag_create", name="t")
    make("tag_delete", name="t")
    make("reset", to=seq)
    make("checkout", ref="b")
    make("branch_rename", old="b", new="c")
    make("checkout", ref="main")
    make("branch_delete", name="c")
    assert secret not in str(dump(room.door.home)["events"])


@holds("decisions §0: one event for each change of reasoning, never a text")
def test_reads_and_dry_runs_write_no_event(room: ReasoningTools) -> None:
    room.note()
    room.branch("b")
    room.note(branch="b")
    before = dump(room.door.home)
    pair = {"from_": "main", "to": "b"}
    for tool, arguments in (
        ("status", {}), ("show", {}), ("log", {}), ("docs_list", {}), ("tag_list", {}), ("reflog", {}),
        ("branch_list", {}), ("graph_query", {}), ("graph_validate", {}), ("diff", pair), ("graph_diff", pair),
        ("graph_conflicts", {"into": "main"}), ("merge", {"from_": "b", "into": "main", "dry_run": True}),
        ("graph_merge", {"from_": "b", "into": "main", "dry_run": True}),
    ):  # fmt: skip
        room(tool, **arguments)
    assert dump(room.door.home) == before


@holds("decisions §3: one series of numbers for documents and graphs of the whole store")
def test_entries_are_ordered_by_number_when_the_clock_steps_back(timed: ReasoningTools, clock: Clock) -> None:
    seqs = [timed.note("before")]
    clock.advance(-3600)
    seqs += [timed.note("after")]
    timed.branch("b")
    assert timed.seqs("b") == seqs == sorted(seqs)
    assert timed("log")["head_seq"] == seqs[-1]
