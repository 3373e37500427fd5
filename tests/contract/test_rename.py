"""`moss_rename`: another name, another workspace, everything else unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import no_artifacts as no_artifacts
from contract.doors import FULL, Clock, Door, StoreDoor
from support.direct_store import rows
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

TYPES = ("capsule", "artifact")
WRITES: dict[str, dict[str, Any]] = {
    "capsule": {"capsule_text": FULL + "okapi", "title": "Okapi"},
    "artifact": {"kind": "k", "data": {"n": 0}, "text": "okapi"},
}


def make(call: Door, type: str, name: str | None = "auth", **fields: Any) -> str:
    made: str = call(f"{type}_store", name=name, **{**WRITES[type], **fields})["id"]
    return made


def key(type: str, workspace: str, name: str) -> dict[str, str]:
    return {f"moss_{type}": name, "moss_workspace": workspace}


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_a_renamed_row_is_found_by_its_new_name_alone(call: Door, type: str) -> None:
    made = make(call, type, workspace="Shop", tags=["t"], phase="p")
    before = call(f"{type}_fetch", id=made)
    answer = call("moss_rename", type=type, workspace="shop", name="AUTH", new_name="  Sign  In ")
    version = 2 if type == "capsule" else 1
    assert answer == {"id": made, "version": version, "fetch_key": key(type, "Shop", "  Sign  In ")}
    after = call(f"{type}_fetch", workspace="shop", name="sign in")
    changed = {"name", "name_norm", "updated_at", "version", "fetch_key"}
    assert {name: value for name, value in after.items() if name not in changed} == {
        name: value for name, value in before.items() if name not in changed
    }
    assert (after["name"], after["name_norm"]) == ("  Sign  In ", "sign in")
    call.refuses("NOT_FOUND", f"{type}_fetch", workspace="shop", name="auth")
    make(call, type, workspace="Shop")


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_a_row_moves_to_another_workspace_with_or_without_a_new_name(call: Door, type: str) -> None:
    made = make(call, type)
    answer = call("moss_rename", type=type, name="auth", new_workspace="My  Shop")
    assert answer["fetch_key"] == key(type, "My  Shop", "auth")
    assert call(f"{type}_fetch", workspace="my shop", name="auth")["id"] == made
    call("moss_rename", type=type, id=made, new_workspace="default", new_name="b")
    assert call(f"{type}_fetch", name="b")["id"] == made


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_an_unnamed_row_is_given_a_name_or_moves_without_one(call: Door, type: str) -> None:
    made = make(call, type, None)
    assert call("moss_rename", type=type, id=made, new_workspace="shop")["fetch_key"] == {"moss_id": made}
    answer = call("moss_rename", type=type, id=made, new_name="now named")
    assert answer["fetch_key"] == key(type, "shop", "now named")
    assert call(f"{type}_fetch", workspace="shop", name="now named")["id"] == made


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_a_rename_to_a_taken_name_is_refused_with_the_call_that_shows_its_owner(call: Door, type: str) -> None:
    make(call, type)
    other = make(call, type, "other")
    make(call, type, workspace="shop")
    for arguments in ({"new_name": "OTHER"}, {"new_workspace": "shop"}, {"new_name": "auth", "new_workspace": "SHOP"}):
        error = call.refuses("NAME_ALREADY_EXISTS", "moss_rename", type=type, name="auth", **arguments)
        assert error.recovery is not None
        shown = call(error.recovery["tool"], **error.recovery["arguments"])
        assert (shown["id"] == other) == ("new_workspace" not in arguments)


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_a_row_may_be_given_its_own_name_in_another_spelling(call: Door, type: str) -> None:
    make(call, type)
    call("moss_rename", type=type, name="auth", new_name="AUTH")
    assert call(f"{type}_fetch", name="auth")["name"] == "AUTH"


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_a_name_of_the_other_family_and_of_a_deleted_row_is_free(call: Door, type: str) -> None:
    for family in TYPES:
        make(call, family, "taken" if family != type else "auth")
    make(call, type, "deleted")
    call(f"{type}_delete", name="deleted")
    call("moss_rename", type=type, name="auth", new_name="taken")
    call("moss_rename", type=type, name="taken", new_name="deleted")


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(
    "arguments",
    [{}, {"new_name": " "}, {"new_name": "x" * 257}, {"new_name": "a\tb"}, {"new_workspace": ""}, {"new_name": 1},
     {"new_name": "ok", "new_workspace": "\n"}, {"new_name": None}, {"name_raw": "b"}],
)  # fmt: skip
def test_a_rename_without_target_or_to_an_invalid_name_is_refused(
    call: Door, type: str, arguments: dict[str, Any]
) -> None:
    make(call, type)
    call.refuses("INVALID_REQUEST", "moss_rename", type=type, name="auth", **arguments)


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
def test_a_rename_of_a_missing_row_is_refused(call: Door) -> None:
    call.refuses("NOT_FOUND", "moss_rename", type="capsule", name="auth", new_name="b")
    made = make(call, "capsule")
    call.refuses("NOT_FOUND", "moss_rename", type="artifact", id=made, new_name="b")
    call.refuses("AMBIGUOUS_ADDRESSING", "moss_rename", type="capsule", id=made, name="auth", new_name="b")
    call.refuses("INVALID_REQUEST", "moss_rename", name="auth", new_name="b")
    call("capsule_delete", name="auth")
    error = call.refuses("NOT_FOUND", "moss_rename", type="capsule", name="auth", new_name="b")
    assert error.recovery is not None
    assert error.recovery["tool"] == "capsule_restore"


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
def test_a_title_defaulted_from_the_name_is_renamed_too(call: Door) -> None:
    make(call, "capsule", title=None)
    call("moss_rename", type="capsule", name="auth", new_name="b")
    assert call("capsule_fetch", name="b")["title"] == "b"
    assert call("capsule_fetch", name="b", version=1)["title"] == "auth"
    call("capsule_update", name="b", title="Own")
    call("moss_rename", type="capsule", name="b", new_name="c")
    assert call("capsule_fetch", name="c")["title"] == "Own"


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
def test_a_cleared_title_stays_cleared(call: Door) -> None:
    make(call, "capsule")
    call("capsule_update", name="auth", title="")
    call("moss_rename", type="capsule", name="auth", new_name="b")
    assert "title" not in call("capsule_fetch", name="b")


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_a_renamed_row_is_found_in_its_new_workspace(call: Door, type: str) -> None:
    made = make(call, type, workspace="shop")
    call("moss_rename", type=type, id=made, new_workspace="store", new_name="quagga")

    def found(query: str, **filters: Any) -> list[str]:
        return [item["id"] for item in call("moss_search", query=query, search_mode="keyword", **filters)["items"]]

    assert found("okapi", workspace="store") == [made]
    assert found("okapi", workspace="shop") == []
    assert found("okapi") == [made]
    if type == "artifact":
        assert found("quagga") == [made]


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
@pytest.mark.parametrize("type", TYPES)
def test_a_renamed_row_is_the_one_last_changed(door: StoreDoor, clock: Clock, type: str) -> None:
    make(door, type, "a")
    make(door, type, "b")
    door("moss_rename", type=type, name="a", new_name="c")
    assert door.names(f"{type}_list", workspace="default") == ["c", "b"]
    clock.advance(5)
    door("moss_rename", type=type, name="b", new_name="d")
    assert door.names(f"{type}_list", workspace="default") == ["d", "c"]
    assert door(f"{type}_fetch", name="d")["updated_at"] == clock.seconds


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
def test_the_name_of_an_expired_artifact_is_free(door: StoreDoor, clock: Clock) -> None:
    expired = make(door, "artifact", "taken", ttl_seconds=10)
    made = make(door, "artifact")
    clock.advance(10)
    door("moss_rename", type="artifact", name="auth", new_name="taken")
    assert door("artifact_fetch", name="taken")["id"] == made
    assert rows(door.home, f"select deleted_at is not null from artifacts where id = '{expired}'") == [(1,)]


@holds("decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken")
def test_an_expired_artifact_cannot_be_renamed(door: StoreDoor, clock: Clock) -> None:
    make(door, "artifact", ttl_seconds=10)
    clock.advance(10)
    door.refuses("NOT_FOUND", "moss_rename", type="artifact", name="auth", new_name="b")


@holds("decisions §10: a name in several places is listed, a renamed one is followed, an active row is not restored")
def test_a_renamed_capsule_is_found_if_its_old_workspace_no_longer_exists(call: Door) -> None:
    call("capsule_store", workspace="billing", name="inv", capsule_text=FULL)
    call("moss_rename", type="capsule", workspace="billing", name="inv", new_name="invoices", new_workspace="money")
    call("capsule_store", workspace="bilings", name="other", capsule_text=FULL)
    for tool, more in (("capsule_fetch", {}), ("capsule_append", {"section": "Decisions", "content": "- x"})):
        error = call.refuses("NOT_FOUND", tool, workspace="billing", name="inv", **more)
        assert (error.details or {})["renamed_to"] == {"workspace": "money", "name": "invoices"}
        assert error.recovery is not None
        assert call(error.recovery["tool"], **error.recovery["arguments"])["name"] == "invoices"
