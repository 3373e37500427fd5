"""`capsule_store`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL, LABELS
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

ALIKE = [
    ("Auth", "auth"),
    ("auth", "  AUTH "),
    ("My Project", "my    project"),
    ("caf\u00e9", "cafe\u0301"),
    ("CAFE\u0301", "caf\u00e9"),
]


@holds("2 §6.1: store answers id and fetch_key")
def test_storing_returns_the_id_and_the_fetch_key(call: Door) -> None:
    answer = call("capsule_store", name="auth", workspace="shop", capsule_text=FULL)
    assert set(answer) == {"id", "fetch_key", "version", "created_workspace"}
    assert answer["version"] == 1
    assert answer["fetch_key"] == {"moss_capsule": "auth", "moss_workspace": "shop"}


@holds("2 §4: an id is a ULID, sortable by creation")
def test_an_id_is_a_ulid_of_26_characters(call: Door) -> None:
    answer = call("capsule_store", capsule_text=FULL)
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", answer["id"])


@holds("2 §4: an id is a ULID, sortable by creation")
def test_ids_sort_by_creation(call: Door) -> None:
    ids = [call("capsule_store", capsule_text=FULL)["id"] for _ in range(20)]
    assert ids == sorted(set(ids))


@holds("2 §6.1: store answers id and fetch_key")
def test_an_unnamed_capsule_is_found_by_its_id_alone(call: Door) -> None:
    answer = call("capsule_store", capsule_text=FULL)
    assert answer["fetch_key"] == {"moss_id": answer["id"]}
    fetched = call("capsule_fetch", id=answer["id"])
    assert "name" not in fetched
    assert "title" not in fetched


@holds("2 §4.1: a missing workspace is default")
def test_the_workspace_is_default_when_none_is_given(call: Door) -> None:
    answer = call("capsule_store", name="auth", capsule_text=FULL)
    assert answer["fetch_key"]["moss_workspace"] == "default"
    assert call("capsule_fetch", workspace="default", name="auth")["id"] == answer["id"]


@holds("decisions §0: null means absent for optional arguments")
def test_null_means_absent_for_an_optional_argument(call: Door) -> None:
    answer = call("capsule_store", capsule_text=FULL, name=None, workspace=None, tags=None, mode=None)
    assert call("capsule_fetch", id=answer["id"])["workspace"] == "default"


@holds("2 §4.2: names and workspaces are stored raw and compared normalized")
@pytest.mark.parametrize(
    ("raw", "norm"),
    [("StartupA", "startupa"), ("  My Project  ", "my project"), ("LOUD_NAME", "loud_name")],
)
def test_names_and_workspaces_are_stored_raw_and_compared_normalized(call: Door, raw: str, norm: str) -> None:
    call("capsule_store", workspace=raw, name=raw, capsule_text=FULL)
    fetched = call("capsule_fetch", workspace=norm, name=norm)
    shown = {key: fetched[key] for key in ("workspace", "workspace_norm", "name", "name_norm")}
    assert shown == {"workspace": raw, "workspace_norm": norm, "name": raw, "name_norm": norm}
    assert fetched["fetch_key"] == {"moss_capsule": raw, "moss_workspace": raw}


@holds("2 §4.2: names and workspaces are stored raw and compared normalized")
@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_normalize_alike_collide(call: Door, one: str, other: str) -> None:
    call("capsule_store", name=one, capsule_text=FULL)
    error = call.refuses("NAME_ALREADY_EXISTS", "capsule_store", name=other, capsule_text=FULL)
    assert error.status == 409


@holds("2 §4.2: names and workspaces are stored raw and compared normalized")
@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_workspaces_that_normalize_alike_are_one(call: Door, one: str, other: str) -> None:
    stored = call("capsule_store", workspace=one, name="auth", capsule_text=FULL)
    assert call("capsule_fetch", workspace=other, name="AUTH")["id"] == stored["id"]


@holds("2 §4.3: names are unique within a workspace, when there is one")
def test_two_workspaces_may_use_the_same_name(call: Door) -> None:
    one = call("capsule_store", workspace="a", name="auth", capsule_text=FULL)
    other = call("capsule_store", workspace="b", name="auth", capsule_text=FULL)
    assert one["id"] != other["id"]


@holds("2 §4.3: names are unique within a workspace, when there is one")
def test_unnamed_capsules_never_collide(call: Door) -> None:
    assert len({call("capsule_store", capsule_text=FULL)["id"] for _ in range(3)}) == 3


@holds("2 §6.1: mode error refuses a taken name")
def test_a_taken_name_is_refused_with_the_call_that_shows_its_owner(call: Door) -> None:
    stored = call("capsule_store", workspace="Shop", name="Auth", capsule_text=FULL)
    error = call.refuses(
        "NAME_ALREADY_EXISTS", "capsule_store", workspace="shop", name="auth", capsule_text=FULL, mode="error"
    )
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["id"] == stored["id"]


@holds("decisions §1: replace keeps id, created_at and raw names and clears every field that is not given again")
def test_replace_overwrites_and_keeps_id_created_at_and_raw_names(call: Door) -> None:
    stored = call("capsule_store", workspace="Shop", name="Auth", capsule_text=FULL)
    before = call("capsule_fetch", id=stored["id"])
    replaced = call("capsule_store", workspace="shop", name="AUTH", capsule_text=FULL + "more", mode="replace")
    after = call("capsule_fetch", id=stored["id"])
    kept = {key: stored[key] for key in ("id", "fetch_key")}
    assert replaced == {**kept, "version": 2, "previous_version": 1}
    assert after["capsule_text"] == FULL + "more"
    for key in ("id", "created_at", "workspace", "name"):
        assert after[key] == before[key]


@holds("decisions §1: replace keeps id, created_at and raw names and clears every field that is not given again")
def test_replace_clears_every_optional_field_not_given_again(call: Door) -> None:
    call(
        "capsule_store",
        name="auth",
        capsule_text=FULL,
        title="T",
        tags=["a"],
        source="s",
        run_id="r",
        phase="p",
        role="o",
    )
    call("capsule_store", name="auth", capsule_text=FULL, mode="replace")
    fetched = call("capsule_fetch", name="auth")
    assert fetched["title"] == "auth"
    assert not fetched["tags"]
    assert not {"source", "run_id", "phase", "role"} & set(fetched)


@holds("decisions §1: replace keeps id, created_at and raw names and clears every field that is not given again")
def test_a_title_that_replace_defaults_is_the_name_that_replace_keeps(call: Door) -> None:
    call("capsule_store", name="Auth", capsule_text=FULL)
    call("capsule_store", name="AUTH", capsule_text=FULL, mode="replace")
    fetched = call("capsule_fetch", name="auth")
    assert (fetched["name"], fetched["title"]) == ("Auth", "Auth")


@holds("2 §10: replace creates when there is no active capsule, and revives none")
def test_replace_creates_when_no_active_capsule_has_the_name(call: Door) -> None:
    stored = call("capsule_store", name="auth", capsule_text=FULL, mode="replace")
    assert call("capsule_fetch", name="auth")["id"] == stored["id"]


@holds("2 §10: replace creates when there is no active capsule, and revives none")
def test_replace_does_not_revive_a_deleted_capsule(call: Door) -> None:
    old = call("capsule_store", name="auth", capsule_text=FULL)
    call("capsule_delete", name="auth")
    new = call("capsule_store", name="auth", capsule_text=FULL, mode="replace")
    assert new["id"] != old["id"]
    assert "deleted_at" in call("capsule_fetch", id=old["id"], include_deleted=True)


@holds("2 §6.1: a deleted capsule does not hold its name")
def test_deleting_a_capsule_frees_its_name(call: Door) -> None:
    call("capsule_store", name="auth", capsule_text=FULL)
    call("capsule_delete", name="auth")
    call("capsule_store", name="auth", capsule_text=FULL)


@holds("2 §3.2: a capsule above capsule_max_chars is refused with both sizes")
def test_a_text_of_exactly_the_limit_is_stored(call: Door) -> None:
    text = FULL + "x" * (12_000 - len(FULL))
    stored = call("capsule_store", capsule_text=text)
    assert call("capsule_fetch", id=stored["id"])["capsule_chars"] == 12_000


@holds("2 §3.2: a capsule above capsule_max_chars is refused with both sizes")
def test_a_text_above_the_limit_is_refused_with_both_sizes(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_LARGE", "capsule_store", capsule_text=FULL + "x" * (12_001 - len(FULL)))
    assert error.status == 413
    assert error.details == {"max_chars": 12_000, "actual_chars": 12_001}


@holds("decisions §1: characters are Unicode code points; size is checked before structure")
def test_text_size_is_counted_in_code_points(call: Door) -> None:
    text = FULL + "\U0001f331" * (12_000 - len(FULL))
    stored = call("capsule_store", capsule_text=text)
    assert call("capsule_fetch", id=stored["id"])["capsule_chars"] == 12_000


@holds("decisions §1: characters are Unicode code points; size is checked before structure")
def test_size_is_checked_before_structure(call: Door) -> None:
    call.refuses("CAPSULE_TOO_LARGE", "capsule_store", capsule_text="thin " * 3_000)


@holds("2 §3.2: the six required sections must be there, found by header, label or JSON key")
@pytest.mark.parametrize("left_out", LABELS)
def test_a_capsule_without_a_required_section_is_too_thin(call: Door, left_out: str) -> None:
    text = "\n".join(f"## {label}\n" for label in LABELS if label != left_out)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", capsule_text=text)
    assert error.status == 422
    assert error.details == {"missing": [left_out]}


@holds("decisions §1: missing names the canonical sections in the order of the table")
def test_missing_sections_are_named_in_the_order_of_the_table(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", capsule_text="Risks: none\n# Goal")
    assert error.details == {"missing": ["Current status", "Decisions", "Next actions", "Key locations"]}


@holds("2 §3.2: the content of a section is not checked")
def test_the_contents_of_sections_are_not_checked(call: Door) -> None:
    call("capsule_store", capsule_text="\n".join(f"## {label}" for label in LABELS))


@holds("2 §3.2: allow_thin bypasses the section check and nothing else")
def test_allow_thin_bypasses_the_section_check_only(call: Door) -> None:
    call("capsule_store", capsule_text="just a line", allow_thin=True)
    call.refuses("CAPSULE_TOO_LARGE", "capsule_store", capsule_text="x" * 12_001, allow_thin=True)


@holds("decisions §0: not found carries the one best next call")
def test_the_recovery_from_a_thin_store_keeps_name_and_workspace(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", workspace="shop", name="a", capsule_text="x")
    assert error.recovery is not None
    assert error.recovery["tool"] == "capsule_store"
    call("capsule_store", **{**error.recovery["arguments"], "capsule_text": FULL})
    assert call.names("capsule_list", workspace="shop") == ["a"]


@holds("decisions §1: an empty text is invalid")
@pytest.mark.parametrize("text", ["", " \n\t "])
@pytest.mark.parametrize("allow_thin", [False, True])
def test_an_empty_text_is_refused(call: Door, text: str, allow_thin: bool) -> None:
    call.refuses("INVALID_REQUEST", "capsule_store", capsule_text=text, allow_thin=allow_thin)


@holds("decisions §1: an empty text is invalid")
def test_a_text_is_required(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "capsule_store", name="auth")


@holds("decisions §1: an unknown mode is invalid")
def test_an_unknown_mode_is_refused(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "capsule_store", capsule_text=FULL, mode="upsert")


@holds("decisions §0: unknown arguments are refused, naming the nearest known one")
def test_an_unknown_argument_is_refused_with_its_name_and_the_nearest(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "capsule_store", capsule_text=FULL, workspce="shop")
    assert "workspce" in error.message
    assert "workspace" in error.message


@holds("decisions §1: the title defaults to the name")
def test_the_title_defaults_to_the_name(call: Door) -> None:
    call("capsule_store", name="Auth", capsule_text=FULL)
    assert call("capsule_fetch", name="auth")["title"] == "Auth"


@holds("2 §6.1: optional fields come back as given")
def test_the_optional_fields_come_back_as_given(call: Door) -> None:
    given = {
        "title": "Auth + sessions",
        "tags": ["auth", "sessions"],
        "source": "claude-code",
        "run_id": "pr-review-abc123",
        "phase": "design",
        "role": "design-intent",
    }
    call("capsule_store", name="auth", capsule_text=FULL, **given)
    fetched = call("capsule_fetch", name="auth")
    assert {key: fetched[key] for key in given} == given


@holds("decisions §1: run_id, phase and role are trimmed, blank means none")
def test_run_id_phase_and_role_are_trimmed_and_blank_means_none(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL, run_id=" r1 ", phase="\tdesign\n", role="  ")
    fetched = call("capsule_fetch", name="a")
    assert (fetched["run_id"], fetched["phase"]) == ("r1", "design")
    assert "role" not in fetched


@holds("decisions §0: tags are trimmed, unique, in order, at most 50 of 100 characters, never blank")
def test_tags_are_trimmed_without_duplicates_in_the_order_given(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL, tags=["z", " a ", "z", "Z", "a"])
    assert call("capsule_fetch", name="a")["tags"] == ["z", "a", "Z"]


@holds("decisions §0: tags are trimmed, unique, in order, at most 50 of 100 characters, never blank")
@pytest.mark.parametrize("tags", [["ok", "  "], [""], ["t" * 101], [f"t{number}" for number in range(51)]], ids=str)
def test_blank_long_and_too_many_tags_are_refused(call: Door, tags: list[str]) -> None:
    call.refuses("INVALID_REQUEST", "capsule_store", capsule_text=FULL, tags=tags)


@holds("decisions §0: tags are trimmed, unique, in order, at most 50 of 100 characters, never blank")
def test_fifty_tags_of_a_hundred_characters_are_stored(call: Door) -> None:
    tags = [f"{number:0100}" for number in range(50)]
    call("capsule_store", name="a", capsule_text=FULL, tags=tags)
    assert call("capsule_fetch", name="a")["tags"] == tags


@holds("decisions §0: names have at most 256 characters, no control character, and are not blank")
@pytest.mark.parametrize("argument", ["name", "workspace"])
@pytest.mark.parametrize(
    "bad", ["", "   ", "\u2003", "a\tb", "a\nb", "a\rb", "\x1b[31m", "a\x7fb", "a\x85b", "x" * 257]
)
def test_blank_long_and_control_character_names_are_refused(call: Door, argument: str, bad: str) -> None:
    call.refuses("INVALID_REQUEST", "capsule_store", capsule_text=FULL, **{argument: bad})


@holds("decisions §0: names have at most 256 characters, no control character, and are not blank")
@pytest.mark.parametrize("argument", ["name", "workspace"])
@pytest.mark.parametrize("good", ["x" * 256, "../../etc/passwd", "a'; drop table capsules;--", "\u202eabc", "名前"])
def test_names_may_look_dangerous_and_be_256_characters_long(call: Door, argument: str, good: str) -> None:
    address = {"name": "n", "workspace": "w", argument: good}
    stored = call("capsule_store", capsule_text=FULL, **address)
    assert call("capsule_fetch", **address)["id"] == stored["id"]


@holds("1 §9: tokens are words times 1.3, rounded up")
def test_tokens_are_estimated_as_words_times_1_3_rounded_up(call: Door) -> None:
    text = "one two\tthree\nfour  five"
    call("capsule_store", name="a", capsule_text=text, allow_thin=True)
    assert call("capsule_fetch", name="a")["tokens_estimate"] == math.ceil(5 * 1.3)


@holds("decisions §0: LF and CRLF are kept; a text comes back as it was")
@pytest.mark.parametrize(
    "text", [FULL.replace("\n", "\r\n"), FULL + " \n\n\t", FULL + "\ufeff\u0001\u001f<b>&\U0001f331 e\u0301"]
)
def test_a_text_comes_back_byte_for_byte(call: Door, text: str) -> None:
    call("capsule_store", name="a", capsule_text=text)
    assert call("capsule_fetch", name="a")["capsule_text"] == text


@holds("2 §3.2: the six required sections must be there, found by header, label or JSON key")
def test_sections_may_be_labels_with_a_colon(call: Door) -> None:
    call("capsule_store", capsule_text="".join(f"{label}: x\n" for label in LABELS))


@holds("2 §3.2: the six required sections must be there, found by header, label or JSON key")
def test_sections_may_be_json_keys(call: Door) -> None:
    keys = ", ".join(f'"{label.lower().replace(" ", "_")}": 1' for label in LABELS)
    call("capsule_store", capsule_text="{" + keys + "}")
