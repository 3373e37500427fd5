"""`artifact_fetch`, `artifact_delete` and `artifact_touch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import listed_names, put
from artifact.samples import no_artifacts as no_artifacts
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

ADDRESSED: list[tuple[str, dict[str, Any]]] = [
    ("artifact_fetch", {}),
    ("artifact_delete", {}),
    ("artifact_touch", {"ttl_seconds": 60}),
]
FIELDS = {
    "id", "workspace", "workspace_norm", "name", "name_norm", "kind", "data", "text", "run_id", "phase", "role", "tags",
    "version", "ttl_seconds", "expires_at", "created_at", "updated_at", "deleted_at",
}  # fmt: skip


@holds("3 fetch: the whole artifact, by id or by workspace and name")
def test_a_fetch_shows_the_whole_artifact(call: Door) -> None:
    stored = put(call, "a", workspace="W", text="t", run_id="r", phase="p", role="x", tags=["t"], ttl_seconds=60)
    fetched = call("artifact_fetch", workspace="w", name="A")
    assert set(fetched) >= FIELDS
    assert {key: fetched[key] for key in ("id", "data", "text", "run_id", "phase", "role", "tags")} == {
        "id": stored, "data": {"n": 1}, "text": "t", "run_id": "r", "phase": "p", "role": "x", "tags": ["t"],
    }  # fmt: skip
    assert (fetched["version"], fetched["ttl_seconds"], fetched["deleted_at"]) == (1, 60, None)
    assert fetched["created_at"] == fetched["updated_at"] == fetched["expires_at"] - 60
    assert call("artifact_fetch", id=stored) == fetched


@holds("3 fetch: the whole artifact, by id or by workspace and name")
def test_absent_fields_of_an_artifact_are_null(call: Door) -> None:
    fetched = call("artifact_fetch", id=put(call))
    assert set(fetched) >= FIELDS
    empty = ("name", "name_norm", "text", "run_id", "phase", "role", "ttl_seconds", "expires_at", "deleted_at")
    assert [fetched[key] for key in empty] == [None] * len(empty)
    assert fetched["tags"] == []


@holds("3 fetch: the whole artifact, by id or by workspace and name")
def test_a_name_without_workspace_is_looked_up_in_the_default_workspace(call: Door) -> None:
    here, there = put(call, "a"), put(call, "a", workspace="other")
    assert call("artifact_fetch", name="a")["id"] == here
    assert call("artifact_fetch", workspace="other", name="a")["id"] == there
    assert call("artifact_delete", name="a")["id"] == here


@holds("3 addressing: id or workspace and name, not both, not neither")
@pytest.mark.parametrize(("tool", "more"), ADDRESSED)
def test_an_artifacts_id_beside_a_name_or_workspace_is_ambiguous(call: Door, tool: str, more: dict[str, Any]) -> None:
    stored = put(call, "a")
    for address in ({"name": "a"}, {"workspace": "default"}, {"workspace": "default", "name": "a"}):
        error = call.refuses("AMBIGUOUS_ADDRESSING", tool, id=stored, **address, **more)
        assert error.status == 400


@holds("3 addressing: id or workspace and name, not both, not neither")
@pytest.mark.parametrize(("tool", "more"), ADDRESSED)
def test_an_artifact_must_be_addressed(call: Door, tool: str, more: dict[str, Any]) -> None:
    put(call, "a")
    call.refuses("INVALID_REQUEST", tool, **more)
    call.refuses("INVALID_REQUEST", tool, workspace="default", **more)
    call.refuses("INVALID_REQUEST", tool, id=" ", **more)


@holds("3 errors: a missing artifact is NOT_FOUND, with the call that lists the existing ones")
@pytest.mark.parametrize(("tool", "more"), ADDRESSED)
def test_a_missing_artifact_is_not_found_and_proposes_the_list(call: Door, tool: str, more: dict[str, Any]) -> None:
    there = put(call, "there", workspace="W")
    for address in ({"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, {"workspace": "w", "name": "gone"}):
        error = call.refuses("NOT_FOUND", tool, **address, **more)
        assert error.recovery is not None
        found = call(error.recovery["tool"], **error.recovery["arguments"])
        assert [item["id"] for item in found["items"]] == [there]


@holds("3 errors: a missing artifact is NOT_FOUND, with the call that lists the existing ones")
@pytest.mark.parametrize(("tool", "more"), ADDRESSED)
def test_a_deleted_artifact_is_not_found(call: Door, tool: str, more: dict[str, Any]) -> None:
    stored = put(call, "a")
    call("artifact_delete", id=stored)
    call.refuses("NOT_FOUND", tool, id=stored, **more)
    call.refuses("NOT_FOUND", tool, name="a", **more)


@holds("3 delete: soft, answers the id, frees the name")
def test_deleting_an_artifact_returns_its_id_and_frees_its_name(call: Door) -> None:
    first = put(call, "a")
    assert call("artifact_delete", name=" A ") == {"deleted": True, "id": first, "workspace": "default"}
    second = put(call, "a")
    assert call("artifact_delete", id=second) == {"deleted": True, "id": second, "workspace": "default"}
    assert listed_names(call) == []


@holds("3 delete: soft, answers the id, frees the name")
def test_a_deleted_artifact_is_kept_and_shown_on_request(call: Door) -> None:
    stored = put(call, "a", text="t")
    call("artifact_delete", id=stored)
    fetched = call("artifact_fetch", id=stored, include_deleted=True)
    assert (fetched["data"], fetched["text"]) == ({"n": 1}, "t")
    assert fetched["deleted_at"] == fetched["updated_at"]
    [item] = call("artifact_list", include_deleted=True)["items"]
    assert (item["id"], item["deleted_at"]) == (stored, fetched["deleted_at"])


@holds("3 delete: soft, answers the id, frees the name")
def test_a_name_finds_the_active_artifact_else_the_last_deleted_one(call: Door) -> None:
    ids = []
    for _ in range(3):
        ids.append(put(call, "a"))
        call("artifact_delete", name="a")
    assert call("artifact_fetch", name="a", include_deleted=True)["id"] == ids[-1]
    active = put(call, "a")
    assert call("artifact_fetch", name="a", include_deleted=True)["id"] == active


@holds("3 touch: a new life from now; content and version stay")
def test_a_touch_returns_the_new_expiry_and_keeps_content_and_version(call: Door) -> None:
    stored = put(call, "a", text="t", tags=["t"], ttl_seconds=60)
    before = call("artifact_fetch", id=stored)
    answer = call("artifact_touch", name="a", ttl_seconds=7200)
    after = call("artifact_fetch", id=stored)
    told = {"id": stored, "workspace": "default", "ttl_seconds": 7200, "version": 1}
    assert answer == {**told, "expires_at": after["expires_at"]}
    assert after["ttl_seconds"] == 7200
    assert after["expires_at"] == after["updated_at"] + 7200
    moved = ("ttl_seconds", "expires_at", "updated_at")
    assert {key: after[key] for key in after if key not in moved} == {
        key: before[key] for key in before if key not in moved
    }


@holds("3 touch: a new life from now; content and version stay")
def test_a_touch_can_add_or_shorten_a_time_to_live(call: Door) -> None:
    stored = put(call, "a")
    assert call("artifact_touch", id=stored, ttl_seconds=7200)["ttl_seconds"] == 7200
    assert call("artifact_touch", id=stored, ttl_seconds=60)["ttl_seconds"] == 60


@holds("3 touch: a new life from now; content and version stay")
def test_a_touch_needs_its_seconds(call: Door) -> None:
    stored = put(call, "a")
    call.refuses("INVALID_REQUEST", "artifact_touch", id=stored)
    call.refuses("INVALID_REQUEST", "artifact_touch", id=stored, ttl_seconds=None)


@holds("3 touch: a new life from now; content and version stay")
def test_a_touch_counts_as_a_change_of_the_artifact(call: Door) -> None:
    for name in "abc":
        put(call, name)
    call("artifact_touch", name="a", ttl_seconds=60)
    assert listed_names(call) == ["a", "c", "b"]
