"""`artifact_store`: fields, modes, versions, replacement and limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import no_artifacts as no_artifacts
from artifact.samples import put
from support.direct_store import dump, rows
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

WHOLE: dict[str, Any] = {
    "workspace": "Plan Room",
    "name": "Run-1 Explorer",
    "kind": "explorer-finding",
    "data": {"b": 1, "a": [None, True, {"x": "\u00e9"}]},
    "text": "# Found\n",
    "run_id": "run-1",
    "phase": "exploring",
    "role": "code-explorer",
    "tags": ["one", "two"],
    "ttl_seconds": 3600,
}
ALIKE = [
    ("Code-Explorer", "code-explorer"),
    ("auth", "  AUTH "),
    ("My Project", "my    project"),
    ("caf\u00e9", "cafe\u0301"),
]


@holds("3 store: answers id, workspace, name, kind, version, sizes and expires_at")
def test_storing_an_artifact_returns_the_documented_fields(call: Door) -> None:
    answer = call("artifact_store", **WHOLE)
    assert set(answer) == {
        "id", "workspace", "created_workspace", "name", "kind", "version", "data_chars", "text_chars", "expires_at",
    }  # fmt: skip
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", answer["id"])
    assert (answer["workspace"], answer["name"]) == ("Plan Room", "Run-1 Explorer")
    assert (answer["kind"], answer["version"]) == ("explorer-finding", 1)
    assert (answer["data_chars"], answer["text_chars"]) == (len('{"b":1,"a":[null,true,{"x":"e"}]}'), 8)
    fetched = call("artifact_fetch", id=answer["id"])
    assert answer["expires_at"] == fetched["expires_at"] == fetched["created_at"] + 3600


@holds("3 store: kind and data are required, everything else has its default")
def test_an_artifact_needs_only_a_kind_and_data(call: Door) -> None:
    answer = call("artifact_store", kind="run-record", data={})
    assert (answer["workspace"], answer["name"], answer["version"]) == ("default", None, 1)
    assert (answer["data_chars"], answer["text_chars"], answer["expires_at"]) == (2, None, None)
    assert call("artifact_fetch", id=answer["id"])["data"] == {}


@holds("3 store: kind and data are required, everything else has its default")
@pytest.mark.parametrize("missing", ["kind", "data"])
def test_an_artifact_without_kind_or_data_is_refused(call: Door, missing: str) -> None:
    arguments: dict[str, Any] = {"kind": "freeform", "data": {}}
    del arguments[missing]
    call.refuses("INVALID_REQUEST", "artifact_store", **arguments)
    call.refuses("INVALID_REQUEST", "artifact_store", **arguments, **{missing: None})


@holds("decisions §2: data is a JSON object")
@pytest.mark.parametrize("data", [[], [{}], "text", 5, True])
def test_data_other_than_an_object_is_refused(call: Door, data: Any) -> None:
    error = call.refuses("INVALID_REQUEST", "artifact_store", kind="freeform", data=data)
    assert (error.details or {})["path"] == "data"


@holds("decisions §2: a blank kind is invalid, wherever one is given")
@pytest.mark.parametrize("kind", ["", " ", "\t"])
def test_a_blank_kind_is_refused(call: Door, kind: str) -> None:
    call.refuses("INVALID_REQUEST", "artifact_store", kind=kind, data={})
    call.refuses("INVALID_REQUEST", "artifact_list", kind=kind)
    call.refuses("INVALID_REQUEST", "artifact_bulk_delete", workspace="w", kind=kind)
    call.refuses("INVALID_REQUEST", "artifact_bulk_update", workspace="w", kind=kind, set_phase="p")
    put(call, "a", text="t")
    call.refuses("INVALID_REQUEST", "artifact_compose", items=[{"name": "a"}], store_as={"name": "b", "kind": kind})


@holds("3 kinds: Moss stores kind and data without judging them")
def test_data_is_not_checked_by_default(call: Door) -> None:
    put(call, kind="explorer-finding", data={"nothing": "like a finding"})
    put(call, kind="a kind of my own", data={})


@holds("3 normalization: names and workspaces are stored raw and compared normalized")
def test_artifact_names_are_stored_raw_and_compared_normalized(call: Door) -> None:
    stored = call("artifact_store", **WHOLE)
    fetched = call("artifact_fetch", workspace=" plan  ROOM", name="RUN-1 explorer")
    assert fetched["id"] == stored["id"]
    assert (fetched["workspace"], fetched["workspace_norm"]) == ("Plan Room", "plan room")
    assert (fetched["name"], fetched["name_norm"]) == ("Run-1 Explorer", "run-1 explorer")


@holds("3 normalization: names and workspaces are stored raw and compared normalized")
@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_artifact_names_that_normalize_alike_collide(call: Door, first: str, second: str) -> None:
    stored = put(call, first)
    error = call.refuses("NAME_ALREADY_EXISTS", "artifact_store", name=second, kind="freeform", data={})
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["id"] == stored
    call.refuses("NAME_ALREADY_EXISTS", "artifact_store", name=second, kind="freeform", data={}, mode="error")


@holds("3 normalization: names and workspaces are stored raw and compared normalized")
def test_an_artifacts_name_is_unique_within_its_workspace_only(call: Door) -> None:
    put(call, "a")
    put(call, "a", workspace="other")
    put(call, None)
    put(call, None)
    assert len(call("artifact_list")["items"]) == 4


@holds("3 normalization: names and workspaces are stored raw and compared normalized")
@pytest.mark.parametrize("bad", ["", "  ", "a\tb", "a\nb", "a\x85b", "n" * 257])
def test_a_bad_artifact_name_or_workspace_is_refused(call: Door, bad: str) -> None:
    call.refuses("INVALID_REQUEST", "artifact_store", name=bad, kind="freeform", data={})
    call.refuses("INVALID_REQUEST", "artifact_store", workspace=bad, kind="freeform", data={})
    call.refuses("INVALID_REQUEST", "artifact_fetch", name=bad)


@holds("3 normalization: names and workspaces are stored raw and compared normalized")
def test_an_artifact_and_a_capsule_may_share_a_name(call: Door) -> None:
    put(call, "same")
    call("capsule_store", name="same", capsule_text="thin", allow_thin=True)
    assert call("artifact_fetch", name="same")["kind"] == "freeform"


@holds("3 store: replace creates, or makes the next version")
def test_replace_creates_an_artifact_when_the_name_is_free(call: Door) -> None:
    assert call("artifact_store", name="a", kind="k", data={}, mode="replace")["version"] == 1


@holds("3 store: replace creates, or makes the next version")
def test_replace_makes_the_next_version_and_keeps_id_creation_and_first_spelling(call: Door) -> None:
    first = call("artifact_store", **WHOLE)
    created = call("artifact_fetch", id=first["id"])["created_at"]
    second = call(
        "artifact_store", workspace="plan room", name="RUN-1  EXPLORER", kind="other", data={"n": 2}, mode="replace"
    )
    assert (second["id"], second["version"]) == (first["id"], 2)
    assert (second["workspace"], second["name"], second["kind"]) == ("Plan Room", "Run-1 Explorer", "other")
    fetched = call("artifact_fetch", id=first["id"])
    assert (fetched["workspace"], fetched["name"], fetched["created_at"]) == ("Plan Room", "Run-1 Explorer", created)


@holds("3 store: replacing overwrites every field")
@pytest.mark.parametrize("how", [{"mode": "replace"}, {"expected_version": 1}])
def test_replacing_an_artifact_clears_fields_that_are_not_given(call: Door, how: dict[str, Any]) -> None:
    stored = call("artifact_store", **WHOLE)
    answer = call("artifact_store", workspace="plan room", name=WHOLE["name"], kind="k", data={"n": 2}, **how)
    assert (answer["version"], answer["text_chars"], answer["expires_at"]) == (2, None, None)
    fetched = call("artifact_fetch", id=stored["id"])
    cleared = ("text", "text_chars", "run_id", "phase", "role", "ttl_seconds", "expires_at")
    assert {key: fetched[key] for key in cleared} == dict.fromkeys(cleared)
    assert (fetched["tags"], fetched["data"], fetched["kind"]) == ([], {"n": 2}, "k")


@holds("3 store: replace creates, or makes the next version")
def test_replace_does_not_revive_a_deleted_artifact(call: Door) -> None:
    first = put(call, "a")
    call("artifact_delete", name="a")
    answer = call("artifact_store", name="a", kind="k", data={}, mode="replace")
    assert answer["version"] == 1
    assert answer["id"] != first
    assert call("artifact_fetch", id=first, include_deleted=True)["data"] == {"n": 1}


@holds("3 store: expected_version updates that version and no other, in every mode")
def test_the_expected_version_makes_the_next_one(call: Door) -> None:
    stored = put(call, "a")
    for version in (1, 2, 3):
        answer = call("artifact_store", name="a", kind="k", data={"n": version}, expected_version=version)
        assert (answer["id"], answer["version"]) == (stored, version + 1)
    assert call("artifact_fetch", name="a")["data"] == {"n": 3}


@holds("3 store: expected_version updates that version and no other, in every mode")
@pytest.mark.parametrize("mode", ["error", "replace"])
@pytest.mark.parametrize("expected", [0, 1, 3, -1, 2**62])
def test_an_unexpected_version_is_a_mismatch_in_every_mode(call: Door, mode: str, expected: int) -> None:
    put(call, "A")
    call("artifact_store", name="a", kind="k", data={"n": 2}, expected_version=1)
    error = call.refuses(
        "VERSION_MISMATCH", "artifact_store", name="a", kind="k", data={"n": 3}, expected_version=expected, mode=mode
    )
    assert error.status == 409
    assert error.details == {"expected": expected, "actual": 2}
    assert error.recovery is not None
    assert error.recovery["tool"] == "artifact_fetch"
    assert call("artifact_fetch", **error.recovery["arguments"])["version"] == 2


@holds("3 store: expected_version updates that version and no other, in every mode")
@pytest.mark.parametrize("mode", ["error", "replace"])
def test_an_expected_version_updates_and_ignores_the_mode(call: Door, mode: str) -> None:
    put(call, "a")
    assert call("artifact_store", name="a", kind="k", data={}, expected_version=1, mode=mode)["version"] == 2


@holds("3 store: expected_version updates that version and no other, in every mode")
def test_an_expected_version_of_a_missing_artifact_is_not_found(call: Door) -> None:
    arguments: dict[str, Any] = {"kind": "k", "data": {}, "expected_version": 1}
    call.refuses("NOT_FOUND", "artifact_store", name="a", **arguments)
    call.refuses("NOT_FOUND", "artifact_store", name="a", mode="replace", **arguments)
    put(call, "a")
    call("artifact_delete", name="a")
    call.refuses("NOT_FOUND", "artifact_store", name="a", **arguments)
    put(call, "b", workspace="elsewhere")
    call.refuses("NOT_FOUND", "artifact_store", name="b", **arguments)


@holds("3 store: without a name an artifact is always new, and has no version to expect")
def test_an_expected_version_without_a_name_is_refused(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "artifact_store", kind="k", data={}, expected_version=1)
    call.refuses("INVALID_REQUEST", "artifact_store", kind="k", data={}, expected_version=1, mode="replace")


@holds("3 store: without a name an artifact is always new, and has no version to expect")
def test_an_unnamed_artifact_is_always_new(call: Door) -> None:
    ids = [call("artifact_store", kind="k", data={}, mode=mode)["id"] for mode in ("error", "replace", "replace")]
    assert len(set(ids)) == 3


@holds("3 store: the modes are error and replace")
def test_an_unknown_artifact_mode_is_refused(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "artifact_store", name="a", kind="k", data={}, mode="rename")


@holds("3 version: only content raises it")
def test_only_content_changes_increment_the_version(call: Door) -> None:
    stored = put(call, "a", run_id="r")
    call("artifact_touch", id=stored, ttl_seconds=60)
    call("artifact_bulk_update", run_id="r", set_phase="p", set_role="x", set_tags=["t"], set_ttl_seconds=90)
    assert call("artifact_fetch", id=stored)["version"] == 1
    call("artifact_store", name="a", kind="k", data={}, expected_version=1)
    call("artifact_store", name="a", kind="k", data={}, mode="replace")
    assert call("artifact_fetch", id=stored)["version"] == 3
    call("artifact_delete", id=stored)
    assert call("artifact_fetch", id=stored, include_deleted=True)["version"] == 3


@holds("decisions §2: the answer of fetch can be sent back unchanged, nulls included")
@pytest.mark.parametrize("optional", [True, False], ids=["with everything", "with nothing"])
def test_a_fetched_artifact_can_be_stored_again_unchanged(call: Door, optional: bool) -> None:
    taken = ("workspace", "name", "kind", "data", "text", "run_id", "phase", "role", "tags", "ttl_seconds")
    given = WHOLE if optional else {"name": "a", "kind": "k", "data": {}}
    call("artifact_store", **given)
    before = call("artifact_fetch", workspace=given.get("workspace", "default"), name=given["name"])
    sent = {key: before[key] for key in taken}
    assert call("artifact_store", **sent, expected_version=before["version"])["version"] == 2
    after = call("artifact_fetch", id=before["id"])
    moved = ("version", "updated_at", "expires_at")
    assert {key: after[key] for key in after if key not in moved} == {
        key: before[key] for key in before if key not in moved
    }
    assert call("artifact_store", **sent, mode="replace")["version"] == 3


@holds("3 errors: data has at most 50,000 characters of compact JSON, text 12,000")
def test_data_of_exactly_the_limit_is_stored_and_one_more_refused(call: Door) -> None:
    whole = {"k": "\u00e9" * (50_000 - len('{"k":""}'))}
    assert call("artifact_store", kind="k", data=whole)["data_chars"] == 50_000
    error = call.refuses("DATA_TOO_LARGE", "artifact_store", kind="k", data={"k": whole["k"] + "x"})
    assert error.status == 413
    assert error.details == {"max_chars": 50_000, "actual_chars": 50_001}


@holds("3 errors: data has at most 50,000 characters of compact JSON, text 12,000")
def test_a_text_of_exactly_the_limit_is_stored_with_its_artifact_and_one_more_refused(call: Door) -> None:
    text = "\U0001f600" * 12_000
    assert call("artifact_store", kind="k", data={}, text=text)["text_chars"] == 12_000
    error = call.refuses("TEXT_TOO_LARGE", "artifact_store", kind="k", data={}, text=text + "x")
    assert error.status == 413
    assert error.details == {"max_chars": 12_000, "actual_chars": 12_001}


@holds("3 store: answers id, workspace, name, kind, version, sizes and expires_at")
def test_the_size_of_data_is_measured_as_compact_json(call: Door) -> None:
    answer = call("artifact_store", kind="k", data={"a b": [1, 2.5, "\u00fc\n"], "c": {}})
    assert answer["data_chars"] == len('{"a b":[1,2.5,"u\\n"],"c":{}}')


@holds("3 errors: data has at most 50,000 characters of compact JSON, text 12,000")
def test_capsules_and_artifacts_have_separate_limits(call: Door) -> None:
    answer = call("artifact_store", kind="k", data={"k": "x" * 40_000}, text="y" * 12_000)
    assert (answer["data_chars"], answer["text_chars"]) == (40_008, 12_000)


@holds("decisions §2: ttl_seconds is a positive integer, null means no expiry")
@pytest.mark.parametrize("ttl", [0, -1, 1.5, "60", True, 2**63])
def test_a_ttl_other_than_a_positive_integer_is_refused(call: Door, ttl: Any) -> None:
    error = call.refuses("INVALID_REQUEST", "artifact_store", kind="k", data={}, ttl_seconds=ttl)
    assert (error.details or {})["path"] == "ttl_seconds"
    put(call, "a")
    call.refuses("INVALID_REQUEST", "artifact_touch", name="a", ttl_seconds=ttl)
    error = call.refuses("INVALID_REQUEST", "artifact_bulk_update", workspace="default", set_ttl_seconds=ttl)
    assert (error.details or {})["path"] == "set_ttl_seconds"


@holds("decisions §2: ttl_seconds is a positive integer, null means no expiry")
@pytest.mark.parametrize("ttl", [10**12, 2**63 - 1])
def test_a_ttl_out_of_range_is_refused_with_its_argument_name(call: Door, ttl: int) -> None:
    error = call.refuses("INVALID_REQUEST", "artifact_store", kind="k", data={}, ttl_seconds=ttl)
    assert (error.details or {})["path"] == "ttl_seconds"
    put(call, "a")
    error = call.refuses("INVALID_REQUEST", "artifact_bulk_update", workspace="default", set_ttl_seconds=ttl)
    assert (error.details or {})["path"] == "set_ttl_seconds"
    assert error.message.startswith("`set_ttl_seconds`")


@holds("decisions §2: ttl_seconds is a positive integer, null means no expiry")
def test_a_null_ttl_means_no_expiry(call: Door) -> None:
    assert call("artifact_store", kind="k", data={}, ttl_seconds=None)["expires_at"] is None


@holds("decisions §0: labels and tags of artifacts follow the rules of all")
def test_labels_and_kind_of_an_artifact_are_trimmed_and_blank_labels_mean_none(call: Door) -> None:
    stored = put(call, kind=" k ", run_id=" r ", phase="  ", role="")
    fetched = call("artifact_fetch", id=stored)
    assert (fetched["kind"], fetched["run_id"], fetched["phase"], fetched["role"]) == ("k", "r", None, None)
    assert len(call("artifact_list", kind=" k", run_id="r ")["items"]) == 1


@holds("decisions §0: labels and tags of artifacts follow the rules of all")
def test_tags_of_an_artifact_follow_the_general_rules_of_tags(call: Door) -> None:
    stored = put(call, tags=[" b", "a", "b ", "A"])
    assert call("artifact_fetch", id=stored)["tags"] == ["b", "a", "A"]
    for bad in (["a", " "], ["x" * 101], [str(number) for number in range(51)]):
        call.refuses("INVALID_REQUEST", "artifact_store", kind="k", data={}, tags=bad)


@holds("decisions §0: a refused artifact leaves no row, a change leaves one event, a read none")
def test_a_failed_artifact_store_writes_no_row(call: Door) -> None:
    put(call, "a")
    before = dump(call.home)
    call.refuses("NAME_ALREADY_EXISTS", "artifact_store", name="a", kind="k", data={})
    call.refuses("DATA_TOO_LARGE", "artifact_store", name="b", kind="k", data={"k": "x" * 50_000})
    assert dump(call.home) == before


@holds("decisions §0: a refused artifact leaves no row, a change leaves one event, a read none")
def test_each_change_of_an_artifact_writes_one_event_without_content(call: Door) -> None:
    secret = "xyzzy-never-logged"  # noqa: S105
    fields = {"name": "a", "kind": secret, "data": {secret: secret}, "text": secret, "tags": [secret]}
    stored = call("artifact_store", **fields)["id"]
    made: list[tuple[str, dict[str, Any]]] = [
        ("artifact_store", {**fields, "mode": "replace"}),
        ("artifact_touch", {"name": "a", "ttl_seconds": 60}),
        ("artifact_bulk_update", {"workspace": "default", "set_phase": secret}),
        ("artifact_compose", {"items": [{"name": "a"}], "store_as": {"name": "b", "kind": "k"}}),
        ("artifact_delete", {"name": "a"}),
        ("artifact_bulk_delete", {"workspace": "default"}),
    ]
    for tool, arguments in made:
        call(tool, **arguments)
    found = rows(call.home, "select tool, workspace, address, payload from events order by seq")
    assert [tool for tool, *_ in found] == ["artifact_store", *(tool for tool, _ in made)]
    assert found[0] == ("artifact_store", "default", stored, None)
    assert found[2] == ("artifact_touch", "default", stored, None)
    assert secret not in str(rows(call.home, "select * from events"))


@holds("decisions §0: a refused artifact leaves no row, a change leaves one event, a read none")
def test_reads_and_refusals_of_artifacts_write_no_event(call: Door) -> None:
    put(call, "a", text="t")
    reads: list[tuple[str, dict[str, Any]]] = [
        ("artifact_fetch", {"name": "a"}),
        ("artifact_list", {}),
        ("artifact_kinds", {}),
        ("artifact_compose", {"items": [{"name": "a"}]}),
    ]
    for tool, arguments in reads:
        call(tool, **arguments)
    call.refuses("NOT_FOUND", "artifact_delete", name="b")
    assert len(rows(call.home, "select seq from events")) == 1
