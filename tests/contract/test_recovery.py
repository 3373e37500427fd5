"""What an error offers as the next call can be sent as it is, and leads where it says."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from contract.doors import FULL, Door

THIN = "## Objective\nShip it."


PLACE = re.compile(r"\(fill in: [^)]+\)")


def filled(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call as an agent sends them that writes what they ask for."""
    assert PLACE.search(arguments["capsule_text"])
    return {**arguments, "capsule_text": PLACE.sub("written", arguments["capsule_text"])}


def test_the_call_after_a_thin_store_stores_the_capsule_once_it_is_filled_in(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", workspace="w", name="a", tags=["t"], capsule_text=THIN)
    assert error.recovery is not None
    call(error.recovery["tool"], **filled(error.recovery["arguments"]))
    stored = call("capsule_fetch", workspace="w", name="a")
    assert stored["capsule_text"].startswith(THIN)
    assert stored["tags"] == ["t"]


def test_the_call_after_a_thin_store_sent_as_it_is_stores_nothing(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", name="a", capsule_text=THIN)
    assert error.recovery is not None
    again = call.refuses("CAPSULE_TOO_THIN", error.recovery["tool"], **error.recovery["arguments"])
    assert again.details == error.details
    assert again.recovery is not None
    assert again.recovery["arguments"] == error.recovery["arguments"]


def test_the_call_after_a_thin_update_updates_the_same_capsule(call: Door) -> None:
    first = call("capsule_store", workspace="w", name="a", capsule_text=FULL)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_update", id=first["id"], capsule_text=THIN)
    assert error.recovery is not None
    call.refuses("CAPSULE_TOO_THIN", error.recovery["tool"], **error.recovery["arguments"])
    assert call(error.recovery["tool"], **filled(error.recovery["arguments"]))["id"] == first["id"]


def test_the_call_after_a_thin_bundle_stores_the_bundle_once_it_is_filled_in(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=THIN, allow_thin=True)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_compose", items=[{"name": "a"}], store_as={"name": "b"})
    assert error.recovery is not None
    call.refuses("CAPSULE_TOO_THIN", error.recovery["tool"], **error.recovery["arguments"])
    call(error.recovery["tool"], **filled(error.recovery["arguments"]))
    assert "Ship it." in call("capsule_fetch", name="b")["capsule_text"]


@pytest.mark.parametrize("left", ["```\ncode", "see\n  ~~~~ text\n~~~\n"])
def test_the_call_after_a_thin_text_that_ends_in_code_closes_it(call: Door, left: str) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", name="a", capsule_text=left)
    assert error.recovery is not None
    call("capsule_store", **filled(error.recovery["arguments"]))
    assert call("capsule_fetch", name="a")["capsule_text"].startswith(left)


def test_the_call_after_a_thin_json_capsule_stays_json(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", capsule_text='{"objective": "Ship it."}')
    assert error.recovery is not None
    arguments = error.recovery["arguments"]
    assert json.loads(arguments["capsule_text"])["objective"] == "Ship it."
    call.refuses("CAPSULE_TOO_THIN", "capsule_store", **arguments)
    call("capsule_store", **filled(arguments))


@pytest.mark.parametrize(
    "left",
    [
        "## Decisions\n(fill in: what)\n",
        "## Choices:\n\n(Fill in: what)  \n",
        "**Decisions:** (fill in: what was)\n",
        "Decisions:\n(fill in: what)\n",
        "**Decisions:**\n\n(fill in: what)\n\n",
        "## Decisions\n(fill in: what)\nGoal: to be done\n",
    ],
)
def test_a_section_that_only_asks_to_be_filled_in_is_missing(call: Door, left: str) -> None:
    text = FULL.replace("## Decisions\nDecisions of the work.\n", left)
    assert text != FULL
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", capsule_text=text)
    assert error.details == {"missing": ["Decisions"]}
    assert call("capsule_store", capsule_text=text, allow_thin=True)["id"]


@pytest.mark.parametrize("kept", ["(fill in: it) was filled", "see (fill in: later)", "```\n(fill in: x)\n```\nshown"])
def test_a_section_that_says_more_than_what_to_fill_in_is_there(call: Door, kept: str) -> None:
    assert call("capsule_store", capsule_text=FULL.replace("Decisions of the work.", kept))["id"]


def test_append_import_and_revert_take_a_text_with_places_to_fill(call: Door) -> None:
    text = FULL.replace("Decisions of the work.", "(fill in: what)")
    first = call("capsule_store", name="a", capsule_text=text, allow_thin=True)["id"]
    call("capsule_append", name="a", section="Open questions", content="more")
    call("moss_revert", type="capsule", name="a", version=1)
    path = call("capsule_export")["path"]
    call("capsule_delete", id=first)
    call("capsule_purge")
    assert call("capsule_import", path=path)["imported"] == 1


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
