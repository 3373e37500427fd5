"""`capsule_update`, `capsule_delete`, `capsule_restore` and `capsule_append`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, LABELS
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door


@holds("2 §6.4: update changes the editable fields and no other")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("capsule_text", FULL + "\nmore"),
        ("title", "New"),
        ("tags", ["x", "y"]),
        ("source", "codex"),
        ("run_id", "r2"),
        ("phase", "build"),
        ("role", "reviewer"),
    ],
)
def test_an_update_changes_one_field_and_leaves_the_others(call: Door, field: str, value: Any) -> None:
    given: dict[str, Any] = {"title": "T", "tags": ["a"], "source": "s", "run_id": "r", "phase": "p", "role": "o"}
    stored = call("capsule_store", name="auth", capsule_text=FULL, **given)
    before = call("capsule_fetch", name="auth")
    assert call("capsule_update", name="auth", **{field: value}) == {
        "id": stored["id"],
        "fetch_key": stored["fetch_key"],
        "version": 2,
    }
    after = call("capsule_fetch", name="auth")
    assert after[field] == value
    measured = {"capsule_chars", "tokens_estimate"} if field == "capsule_text" else set()
    assert after["version"] == before["version"] + 1 == 2
    for key in set(before) - {field, "updated_at", "version"} - measured:
        assert after[key] == before[key]


@holds("2 §6.4: update changes the editable fields and no other")
def test_an_update_by_id_of_an_unnamed_capsule_returns_its_fetch_key(call: Door) -> None:
    stored = call("capsule_store", capsule_text=FULL)
    key = {"id": stored["id"], "fetch_key": {"moss_id": stored["id"]}}
    assert call("capsule_update", id=stored["id"], title="T") == {**key, "workspace": "default", "version": 2}


@holds("2 §6.4: update changes the editable fields and no other")
def test_an_update_of_the_text_measures_it_anew(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_update", name="a", capsule_text="one two three", allow_thin=True)
    fetched = call("capsule_fetch", name="a")
    assert (fetched["capsule_chars"], fetched["tokens_estimate"]) == (13, 4)


@holds("2 §6.4: an update without a change is invalid")
@pytest.mark.parametrize("flags", [{}, {"allow_thin": True}, {"title": None}])
def test_an_update_of_nothing_is_refused(call: Door, flags: dict[str, Any]) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    assert "no fields to update" in call.refuses("INVALID_REQUEST", "capsule_update", name="a", **flags).message


@holds("2 §6.4: update changes the editable fields and no other")
@pytest.mark.parametrize("argument", ["new_name", "set_name", "deleted_at", "created_at", "name_raw"])
def test_an_update_cannot_rename(call: Door, argument: str) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call.refuses("INVALID_REQUEST", "capsule_update", name="a", title="T", **{argument: "b"})


@holds("2 §6.4: size and structure are checked when the text changes, and only then")
def test_an_update_to_a_text_above_the_limit_is_refused(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    error = call.refuses("CAPSULE_TOO_LARGE", "capsule_update", name="a", capsule_text="x" * 12_001)
    assert error.details == {"max_chars": 12_000, "actual_chars": 12_001}


@holds("2 §6.4: size and structure are checked when the text changes, and only then")
def test_an_update_to_a_thin_text_is_refused_unless_allowed(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_update", name="a", capsule_text="# Goal")
    assert error.details == {"missing": list(LABELS[1:])}
    call("capsule_update", name="a", capsule_text="# Goal", allow_thin=True)


@holds("decisions §0: not found carries the one best next call")
def test_the_recovery_from_a_thin_update_addresses_the_same_capsule(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    stored = call("capsule_store", workspace="shop", name="a", capsule_text=FULL)
    for address in ({"id": stored["id"]}, {"workspace": "shop", "name": "a"}):
        error = call.refuses("CAPSULE_TOO_THIN", "capsule_update", capsule_text="x", **address)
        assert error.recovery is not None
        again = call(error.recovery["tool"], **{**error.recovery["arguments"], "capsule_text": FULL})
        assert again["id"] == stored["id"]


@holds("2 §6.4: size and structure are checked when the text changes, and only then")
def test_an_update_to_an_empty_text_is_refused(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call.refuses("INVALID_REQUEST", "capsule_update", name="a", capsule_text="")


@holds("2 §6.4: size and structure are checked when the text changes, and only then")
def test_metadata_of_a_thin_capsule_can_be_updated(call: Door) -> None:
    call("capsule_store", name="a", capsule_text="thin", allow_thin=True)
    call("capsule_update", name="a", phase="build")


@holds("decisions §1: empty strings and an empty list clear")
def test_empty_strings_and_an_empty_list_clear_fields(call: Door) -> None:
    call(
        "capsule_store", name="a", capsule_text=FULL,
        title="T", tags=["a"], source="s", run_id="r", phase="p", role="o",
    )  # fmt: skip
    call("capsule_update", name="a", title="", tags=[], source="", run_id="", phase="", role="")
    fetched = call("capsule_fetch", name="a")
    assert not fetched.get("tags")
    assert not {"title", "source", "run_id", "phase", "role"} & set(fetched)


@holds("1 §6.5: update works on active capsules only")
def test_a_deleted_capsule_cannot_be_updated(call: Door) -> None:
    stored = call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_delete", name="a")
    call.refuses("NOT_FOUND", "capsule_update", name="a", title="T")
    call.refuses("NOT_FOUND", "capsule_update", id=stored["id"], title="T")


@holds("2 §6.5: delete is soft, answers the id, and counts as a change")
def test_a_delete_returns_the_id_and_cannot_be_repeated(call: Door) -> None:
    stored = call("capsule_store", name="a", capsule_text=FULL)
    assert call("capsule_delete", name="a") == {"deleted": True, "id": stored["id"], "workspace": "default"}
    call.refuses("NOT_FOUND", "capsule_delete", name="a")
    call.refuses("NOT_FOUND", "capsule_delete", id=stored["id"])


@holds("2 §6.5: delete is soft, answers the id, and counts as a change")
def test_a_delete_moves_the_capsule_to_the_front_of_the_changes(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_store", name="b", capsule_text=FULL)
    call("capsule_delete", name="a")
    assert call("capsule_latest", include_deleted=True)["item"]["name"] == "a"
    assert call("capsule_latest")["item"]["name"] == "b"


@holds("decisions §1: restore brings a capsule back unless its name is taken")
def test_a_restored_capsule_is_active_under_its_name_again(call: Door) -> None:
    stored = call("capsule_store", workspace="W", name="A", capsule_text=FULL, tags=["t"])
    before = call("capsule_fetch", id=stored["id"])
    call("capsule_delete", id=stored["id"])
    assert call("capsule_restore", id=stored["id"])["id"] == stored["id"]
    after = call("capsule_fetch", workspace="w", name="a")
    assert {**after, "updated_at": 0} == {**before, "updated_at": 0}


@holds("decisions §1: restore brings a capsule back unless its name is taken")
def test_a_capsule_whose_name_was_taken_is_not_restored(call: Door) -> None:
    stored = call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_delete", name="a")
    call("capsule_store", name="A", capsule_text=FULL)
    call.refuses("NAME_ALREADY_EXISTS", "capsule_restore", id=stored["id"])


@holds("decisions §1: restore brings a capsule back unless its name is taken")
def test_an_unnamed_capsule_is_restored(call: Door) -> None:
    stored = call("capsule_store", capsule_text=FULL)
    call("capsule_delete", id=stored["id"])
    call("capsule_restore", id=stored["id"])
    assert "deleted_at" not in call("capsule_fetch", id=stored["id"])


@holds("decisions §1: restore brings a capsule back unless its name is taken")
def test_an_unknown_capsule_cannot_be_restored(call: Door) -> None:
    call.refuses("NOT_FOUND", "capsule_restore", id="01ARZ3NDEKTSV4RRFFQ69G5FAV")


@holds("decisions §1: restore brings a capsule back unless its name is taken")
def test_restoring_an_active_capsule_does_not_change_it(call: Door) -> None:
    stored = call("capsule_store", name="a", capsule_text=FULL)
    before = call("capsule_fetch", name="a")
    call.refuses("CONFLICT", "capsule_restore", id=stored["id"])
    assert call("capsule_fetch", name="a") == before


TEXT = "## Design Reviews\n\nfirst\n\n## Status\n(pending)\n\n## Empty\n\n## Last\nend"


def appended(call: Door, section: str, content: str, text: str = TEXT) -> tuple[dict[str, Any], str]:
    call("capsule_store", workspace="feat", name="auth", capsule_text=text, allow_thin=True, mode="replace")
    answer = call("capsule_append", workspace="feat", name="auth", section=section, content=content)
    return answer, call("capsule_fetch", workspace="feat", name="auth")["capsule_text"]


@holds("2 §6.16: append adds below the content after a blank line and answers the section it changed")
def test_an_append_goes_below_the_content_after_a_blank_line(call: Door) -> None:
    answer, text = appended(call, "Design Reviews", "second")
    assert text == TEXT.replace("first\n", "first\n\nsecond\n")
    assert answer["section_hit"] == "## Design Reviews"
    assert answer["replaced"] is False
    assert answer["fetch_key"] == {"moss_capsule": "auth", "moss_workspace": "feat"}
    assert set(answer) == {"id", "fetch_key", "section_hit", "replaced", "version"}


@holds("2 §6.16: sections match by exact header in any case, without synonyms or labels")
def test_an_append_finds_the_section_in_any_case(call: Door) -> None:
    assert appended(call, "design REVIEWS", "second")[0]["section_hit"] == "## Design Reviews"


@holds("decisions §1: a placeholder that is the whole content is replaced")
@pytest.mark.parametrize(
    "placeholder",
    ["(pending)", "(none)", "(empty)", "(tbd)", "(n/a)", "tbd", "n/a", "none", "pending", "todo", "-", "...", "",
     "TBD", "N/A", "  Todo  ", "(Pending)"],
)  # fmt: skip
def test_an_append_replaces_a_placeholder(call: Door, placeholder: str) -> None:
    text = f"## A\n{placeholder}\n\n## B\nkept\n"
    answer, after = appended(call, "A", "real", text)
    assert answer["replaced"] is True
    assert after.split() == ["##", "A", "real", "##", "B", "kept"]
    assert after.endswith("\n\n## B\nkept\n")


@holds("decisions §1: a placeholder that is the whole content is replaced")
@pytest.mark.parametrize("content", ["none yet", "- item", "todo: x", "tbd\ntbd", "(pending) soon", "-- "])
def test_content_that_only_starts_like_a_placeholder_is_kept(call: Door, content: str) -> None:
    answer, after = appended(call, "A", "real", f"## A\n{content}\n\n## B\n")
    assert answer["replaced"] is False
    assert content.strip() in after


@holds("2 §6.16: append adds below the content after a blank line and answers the section it changed")
def test_an_append_to_the_last_section_ends_the_text(call: Door) -> None:
    assert appended(call, "Last", "more")[1] == TEXT + "\n\nmore"


@holds("decisions §1: every heading starts a flat section and the first match wins")
def test_an_append_goes_to_the_first_section_of_that_name(call: Door) -> None:
    assert appended(call, "A", "x", "# A\none\n\n## A\ntwo\n")[1] == "# A\none\n\nx\n\n## A\ntwo\n"


@holds("decisions §1: every heading starts a flat section and the first match wins")
def test_a_heading_of_any_level_ends_a_section(call: Door) -> None:
    assert appended(call, "A", "x", "# A\none\n\n###### Sub\ntwo\n")[1] == "# A\none\n\nx\n\n###### Sub\ntwo\n"


@holds("decisions §1: append keeps line ends and every other byte")
def test_an_append_keeps_crlf(call: Door) -> None:
    _, text = appended(call, "A", "x\ny", "## A\r\none\r\n\r\n## B\r\n")
    assert text == "## A\r\none\r\n\r\nx\r\ny\r\n\r\n## B\r\n"


@holds("decisions §1: headings inside fenced code do not count")
def test_headings_in_fenced_code_are_not_sections(call: Door) -> None:
    text = "## A\n```\n## B\n```\n\n## B\nreal\n"
    assert appended(call, "B", "x", text)[1] == text.rstrip() + "\n\nx\n"
    assert appended(call, "A", "x", text)[1] == "## A\n```\n## B\n```\n\nx\n\n## B\nreal\n"


@holds("2 §6.16: sections match by exact header in any case, without synonyms or labels")
def test_an_append_does_not_resolve_synonyms(call: Door) -> None:
    call("capsule_store", name="a", capsule_text="## Goal\nx\n", allow_thin=True)
    call.refuses("INVALID_REQUEST", "capsule_append", name="a", section="Objective", content="y")


@holds("2 §6.16: sections match by exact header in any case, without synonyms or labels")
def test_an_append_ignores_labels_with_a_colon(call: Door) -> None:
    call("capsule_store", name="a", capsule_text="# X\nStatus: fine\n", allow_thin=True)
    call.refuses("INVALID_REQUEST", "capsule_append", name="a", section="Status", content="y")


@holds("2 §6.16: a missing section is refused with a list of the existing ones; JSON has none")
def test_a_missing_section_is_refused_with_the_existing_ones(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=TEXT, allow_thin=True)
    error = call.refuses("INVALID_REQUEST", "capsule_append", name="a", section="Risks", content="y")
    for shown in ("Risks", "Design Reviews", "Status", "Empty", "Last"):
        assert shown in error.message


@holds("2 §6.16: a missing section is refused with a list of the existing ones; JSON has none")
def test_a_json_capsule_has_no_section_to_append_to(call: Door) -> None:
    call("capsule_store", name="a", capsule_text='{"Objective": "x"}', allow_thin=True)
    call.refuses("INVALID_REQUEST", "capsule_append", name="a", section="Objective", content="y")


@holds("2 §6.16: blank content is invalid")
@pytest.mark.parametrize("content", ["", "  \n\t"])
def test_blank_content_is_not_appended(call: Door, content: str) -> None:
    call("capsule_store", name="a", capsule_text=TEXT, allow_thin=True)
    call.refuses("INVALID_REQUEST", "capsule_append", name="a", section="Status", content=content)


@holds("2 §6.16: the size limit holds for appends, the section check does not")
def test_an_append_past_the_limit_is_refused(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    error = call.refuses("CAPSULE_TOO_LARGE", "capsule_append", name="a", section="Objective", content="x" * 12_000)
    assert error.details is not None
    assert error.details["max_chars"] == 12_000
    assert error.details["actual_chars"] > 12_000


@holds("2 §6.16: the size limit holds for appends, the section check does not")
def test_an_append_is_not_checked_for_sections(call: Door) -> None:
    assert appended(call, "Status", "thin is fine")[0]["replaced"] is True


@holds("decisions §1: append omits fetch_key for an unnamed capsule")
def test_an_append_to_an_unnamed_capsule_returns_no_fetch_key(call: Door) -> None:
    stored = call("capsule_store", capsule_text=FULL)
    answer = call("capsule_append", id=stored["id"], section="Objective", content="x")
    assert set(answer) == {"id", "section_hit", "replaced", "version", "workspace"}


@holds("2 §6.16: append adds below the content after a blank line and answers the section it changed")
def test_an_append_measures_the_text_anew_and_counts_as_a_change(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_store", name="b", capsule_text=FULL)
    call("capsule_append", name="a", section="Objective", content="two words")
    item = call("capsule_latest", include_text=True)["item"]
    assert item["name"] == "a"
    assert item["capsule_chars"] == len(item["capsule_text"]) == len(FULL) + len("\n\ntwo words")
