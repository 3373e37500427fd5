"""What an error offers as the next call can be sent as it is, and leads where it says."""

from __future__ import annotations

from contract.doors import FULL, Door

THIN = "## Objective\nShip it."


def test_the_call_after_a_thin_store_stores_the_capsule_with_places_to_fill(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", workspace="w", name="a", tags=["t"], capsule_text=THIN)
    assert error.recovery is not None
    call(error.recovery["tool"], **error.recovery["arguments"])
    stored = call("capsule_fetch", workspace="w", name="a")
    assert stored["capsule_text"].startswith(THIN)
    assert stored["tags"] == ["t"]


def test_the_call_after_a_thin_update_updates_the_same_capsule(call: Door) -> None:
    first = call("capsule_store", workspace="w", name="a", capsule_text=FULL)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_update", id=first["id"], capsule_text=THIN)
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["id"] == first["id"]


def test_the_call_after_a_thin_bundle_stores_the_bundle(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=THIN, allow_thin=True)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_compose", items=[{"name": "a"}], store_as={"name": "b"})
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["stored"]["id"]


def test_the_call_after_fetching_a_deleted_capsule_brings_it_back(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_delete", name="a")
    error = call.refuses("NOT_FOUND", "capsule_fetch", name="a")
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["restored"] is True


def test_the_call_after_fetching_a_deleted_capsule_whose_name_is_taken_shows_it(call: Door) -> None:
    first = call("capsule_store", name="a", capsule_text=FULL)["id"]
    call("capsule_delete", id=first)
    call("capsule_store", name="a", capsule_text=FULL)
    error = call.refuses("NOT_FOUND", "capsule_fetch", id=first)
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["id"] == first


def test_a_prefix_with_a_space_at_its_end_does_not_widen(call: Door) -> None:
    for name in ("my notes", "myth"):
        call("capsule_store", name=name, capsule_text=FULL)
    assert call("capsule_bulk_delete", name_prefix="my ")["deleted"] == 1
    assert call.names("capsule_list") == ["myth"]


def test_a_title_with_line_breaks_forges_no_section_of_a_bundle(call: Door) -> None:
    title = "T\n## Objective\n## Status\n## Decisions\n## Next actions\n## Files\n## Risks"
    call("capsule_store", name="a", title=title, capsule_text="x", allow_thin=True)
    call.refuses("CAPSULE_TOO_THIN", "capsule_compose", items=[{"name": "a"}], store_as={"name": "b"})


def test_a_question_finds_the_forms_of_a_word_that_ends_in_y(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL + "\nthe deployment failed while flies landed")
    for word in ("deploy", "deployed", "fly"):
        assert call("capsule_search", query=word)["pagination"]["total"] == 1, word
