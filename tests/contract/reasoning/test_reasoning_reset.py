"""`branchmind_reset`: a ref shows the entries that are reachable from its head, as in git."""

from __future__ import annotations

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, every_page, newest_first, node
from support.promises import holds


def heads(room: ReasoningTools, branch: str = "main") -> list[str]:
    """Return the visible contents; assert that show, log, diff, a dry merge and the document list agree."""
    shown = room.entries(branch)
    texts = [entry["content"] for entry in shown]
    logged = newest_first(room, "log", "commits", ref=branch)
    assert [row["content"] for row in reversed(logged)] == texts
    assert room("log", ref=branch)["head_seq"] == (shown[-1]["seq"] if shown else None)
    listed = {row["doc"]: row for row in room("docs_list", ref=branch)["docs"]}["notes"]
    assert (listed["entries"], listed["last_seq"]) == (len(shown), shown[-1]["seq"] if shown else None)
    if "empty" in room.branches():
        compared = room("diff", from_="empty", to=branch)["entries"]
        assert compared == shown
        assert room("merge", from_=branch, into="empty", dry_run=True)["pagination"]["count"] == len(shown)
    return texts


@holds("shapes: reset answers ref, doc, old_seq and new_seq")
def test_a_reset_returns_the_old_and_the_new_head(room: ReasoningTools) -> None:
    first, second = room.note(), room.note()
    assert room("reset", to=first) == {
        "workspace": "Shop", "ref": "main", "doc": "notes", "old_seq": second, "new_seq": first,
    }  # fmt: skip
    assert room("reset", to=first)["old_seq"] == first


@holds("decisions §3: a ref shows everything reachable from its head, for every reader")
def test_after_a_reset_every_read_shows_the_entries_reachable_from_the_head(room: ReasoningTools) -> None:
    room("init")
    room.branch("empty")
    seqs = [room.note(str(number)) for number in range(4)]
    room("reset", to=seqs[1])
    assert heads(room) == ["0", "1"]
    assert room("tag_create", name="t")["tag"]["seq"] == seqs[1]
    room("merge", from_="main", into="empty")
    assert room.texts("empty") == ["0", "1"]


@holds("decisions §3: the next write continues from the head; later rows are shown again by resetting to them")
def test_the_next_write_follows_the_new_head(room: ReasoningTools) -> None:
    room("init")
    room.branch("empty")
    seqs = [room.note(str(number)) for number in range(3)]
    room("reset", to=seqs[0])
    room.note("on")
    room("commit", artifact="and on", message="m")
    assert heads(room) == ["0", "on", "and on"]


@holds("decisions §3: the next write continues from the head; later rows are shown again by resetting to them")
def test_resetting_forward_shows_hidden_entries_again(room: ReasoningTools) -> None:
    room("init")
    room.branch("empty")
    seqs = [room.note(str(number)) for number in range(3)]
    room("reset", to=seqs[0])
    on = room.note("on")
    room("reset", to=seqs[2])
    assert heads(room) == ["0", "1", "2"]
    room("reset", to=on)
    assert heads(room) == ["0", "on"]
    room("reset", to=seqs[1])
    assert heads(room) == ["0", "1"]
    further = room.note("further")
    room("reset", to=on)
    room("reset", to=further)
    assert heads(room) == ["0", "1", "further"]


@holds("decisions §3: the next write continues from the head; later rows are shown again by resetting to them")
def test_a_reset_can_be_undone_with_the_reflog(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(3)]
    room("reset", to=seqs[0])
    lost = newest_first(room, "reflog", "entries")[0]["old_seq"]
    room("reset", to=lost)
    assert room.seqs() == seqs


@holds("shapes: reset answers ref, doc, old_seq and new_seq")
def test_a_reset_accepts_a_tag(room: ReasoningTools) -> None:
    first = room.note("0")
    room("tag_create", name="good")
    room.note("1")
    assert room("reset", to="good")["new_seq"] == first
    assert room("reset", to=str(first))["new_seq"] == first
    assert room.texts() == ["0"]


@holds("decisions §3: derived branches keep the snapshot they took")
def test_a_derived_branch_keeps_its_snapshot(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(3)]
    room.branch("before")
    room("reset", to=seqs[0])
    room.branch("after")
    room.note("on")
    room.note("own", branch="before")
    assert heads(room, "before") == ["0", "1", "2", "own"]
    assert heads(room, "after") == ["0"]
    assert heads(room) == ["0", "on"]
    room("reset", to=seqs[2])
    assert heads(room, "after") == ["0"]
    room.branch("grandchild", "after")
    assert heads(room, "grandchild") == ["0"]


@holds("decisions §3: derived branches keep the snapshot they took")
def test_a_derived_branch_resets_into_its_snapshot(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(3)]
    room.branch("b")
    late = room.note("late", branch="main")
    own = room.note("own", branch="b")
    room.branch("child", "b")
    room("reset", ref="b", to=seqs[1])
    assert heads(room, "b") == ["0", "1"]
    assert heads(room, "child") == ["0", "1", "2", "own"]
    room.note("on", branch="b")
    assert heads(room, "b") == ["0", "1", "on"]
    room("reset", ref="b", to=own)
    assert heads(room, "b") == ["0", "1", "2", "own"]
    assert heads(room) == ["0", "1", "2", "late"]
    room.misses("reset", ref="b", to=late)


@holds("decisions §3: a seq that the ref never showed is not found")
def test_a_number_never_visible_on_the_ref_is_not_found(room: ReasoningTools) -> None:
    first = room.note("0")
    hidden = room.note("1")
    room("reset", to=first)
    room.branch("b")
    own = room.note("own", branch="b")
    later = room.note("later", branch="main")
    plan = room.note(doc="plans")
    version = room.apply(node("a"))["last_seq"]
    for to in (own, plan, version, 0, 10_000):
        room.misses("reset", to=to)
    for to in (hidden, later):
        room.misses("reset", ref="b", to=to)
    for to in ("typo", "10000", ""):
        room.refuses("NOT_FOUND" if to else "INVALID_REQUEST", "reset", to=to)
    room.misses("reset", ref="typo", to=first)
    room("tag_create", name="elsewhere", from_=own)
    room.misses("reset", to="elsewhere")


@holds("decisions §3: a seq that the ref never showed is not found")
def test_an_empty_branch_has_nothing_to_reset_to(room: ReasoningTools) -> None:
    room("init")
    room.misses("reset", to=1)


@holds("decisions §3: reset is for notes")
def test_a_reset_applies_to_notes_only(room: ReasoningTools) -> None:
    first = room.note()
    room.note()
    room.note("plan", doc="plans")
    room.note("step", doc="trace")
    room.apply(node("a"))
    room("reset", to=first)
    assert (room.texts(doc="plans"), room.texts(doc="trace"), list(room.nodes())) == (["plan"], ["step"], ["a"])


@holds("decisions §3: a ref shows everything reachable from its head, for every reader")
def test_a_merge_after_a_reset_copies_hidden_copies_again_but_no_hidden_notes(room: ReasoningTools) -> None:
    room.note("shared")
    room.branch("b")
    kept = room.note("b0", branch="b")
    room.note("b1", branch="b")
    base = room.seqs("main")[-1]
    room("merge", from_="b", into="main")
    room("reset", ref="main", to=base)
    assert room.texts("main") == ["shared"]
    room("reset", ref="b", to=kept)
    answer = room("merge", from_="b", into="main")
    assert (answer["merged"], answer["skipped"]) == (1, 0)
    assert room.texts("main") == ["shared", "b0"]


@holds("decisions §3: a ref shows everything reachable from its head, for every reader")
def test_a_diff_after_a_reset_compares_visible_entries(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(3)]
    room.branch("b")
    room("reset", to=seqs[0])
    assert [entry["content"] for entry in room("diff", from_="main", to="b")["entries"]] == ["1", "2"]
    assert room("diff", from_="b", to="main")["entries"] == []


@holds("decisions §3: a ref shows everything reachable from its head, for every reader")
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_after_resets_show_every_entry_once(room: ReasoningTools, limit: int) -> None:
    seqs = [room.note(str(number)) for number in range(4)]
    room("reset", to=seqs[1])
    seqs[2:] = [room.note("on"), room.note("and on")]
    pages = every_page(room, "show", doc="notes", limit=limit)
    assert [entry["seq"] for page in reversed(pages) for entry in page["entries"]] == seqs


@holds("decisions §3: derived branches keep the snapshot they took")
def test_after_resets_each_branch_of_a_chain_shows_its_reachable_entries(room: ReasoningTools) -> None:
    room.note("0")
    first = room.note("1")
    room.branch("a")
    room.note("a0", branch="a")
    middle = room.note("a1", branch="a")
    room.branch("b", "a")
    room("reset", ref="a", to=first)
    room("reset", ref="b", to=first)
    room.note("b0", branch="b")
    room.branch("c", "b")
    room("reset", ref="b", to=middle)
    assert heads(room, "a") == ["0", "1"]
    assert heads(room, "b") == ["0", "1", "a0", "a1"]
    assert heads(room, "c") == ["0", "1", "b0"]


@holds("decisions §3: the next write continues from the head; later rows are shown again by resetting to them")
def test_a_branch_can_be_reset_any_number_of_times(timed: ReasoningTools) -> None:
    seqs = []
    for _ in range(1100):
        seqs.append(timed.note())
        timed("reset", to=seqs[-1])
    assert timed.seqs() == seqs
