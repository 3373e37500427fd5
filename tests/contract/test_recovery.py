"""Recovery: the call that an error proposes can be sent unchanged and has the stated effect."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from contract.doors import FULL, Door
from support.promises import holds

THIN = "## Objective\nShip it."


PLACE = re.compile(r"\(fill in: [^)]+\)")


def filled(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the proposed arguments with all placeholders filled in."""
    assert PLACE.search(arguments["capsule_text"])
    return {**arguments, "capsule_text": PLACE.sub("written", arguments["capsule_text"])}


@holds("decisions §0: recovery is one best next call that can be sent as it is")
def test_the_filled_in_proposal_for_a_thin_store_stores_the_capsule(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", workspace="w", name="a", tags=["t"], capsule_text=THIN)
    assert error.recovery is not None
    call(error.recovery["tool"], **filled(error.recovery["arguments"]))
    stored = call("capsule_fetch", workspace="w", name="a")
    assert stored["capsule_text"].startswith(THIN)
    assert stored["tags"] == ["t"]


@holds("decisions §7: the recovery of a thin capsule holds places to fill in, and a text in which one is left is thin")
def test_the_unchanged_proposal_for_a_thin_store_stores_nothing(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", name="a", capsule_text=THIN)
    assert error.recovery is not None
    again = call.refuses("CAPSULE_TOO_THIN", error.recovery["tool"], **error.recovery["arguments"])
    assert again.details == error.details
    assert again.recovery is not None
    assert again.recovery["arguments"] == error.recovery["arguments"]


@holds("decisions §0: recovery is one best next call that can be sent as it is")
def test_the_filled_in_proposal_for_a_thin_update_updates_the_same_capsule(call: Door) -> None:
    first = call("capsule_store", workspace="w", name="a", capsule_text=FULL)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_update", id=first["id"], capsule_text=THIN)
    assert error.recovery is not None
    call.refuses("CAPSULE_TOO_THIN", error.recovery["tool"], **error.recovery["arguments"])
    assert call(error.recovery["tool"], **filled(error.recovery["arguments"]))["id"] == first["id"]


@holds("decisions §0: recovery is one best next call that can be sent as it is")
def test_the_filled_in_proposal_for_a_thin_bundle_stores_the_bundle(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=THIN, allow_thin=True)
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_compose", items=[{"name": "a"}], store_as={"name": "b"})
    assert error.recovery is not None
    call.refuses("CAPSULE_TOO_THIN", error.recovery["tool"], **error.recovery["arguments"])
    call(error.recovery["tool"], **filled(error.recovery["arguments"]))
    assert "Ship it." in call("capsule_fetch", name="b")["capsule_text"]


@holds("decisions §7: the recovery of a thin capsule holds places to fill in, and a text in which one is left is thin")
@pytest.mark.parametrize("left", ["```\ncode", "see\n  ~~~~ text\n~~~\n"])
def test_the_proposal_for_a_thin_text_closes_an_open_code_block(call: Door, left: str) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", name="a", capsule_text=left)
    assert error.recovery is not None
    call("capsule_store", **filled(error.recovery["arguments"]))
    assert call("capsule_fetch", name="a")["capsule_text"].startswith(left)


@holds("decisions §0: recovery is one best next call that can be sent as it is")
def test_the_proposal_for_a_thin_json_capsule_is_json(call: Door) -> None:
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", capsule_text='{"objective": "Ship it."}')
    assert error.recovery is not None
    arguments = error.recovery["arguments"]
    assert json.loads(arguments["capsule_text"])["objective"] == "Ship it."
    call.refuses("CAPSULE_TOO_THIN", "capsule_store", **arguments)
    call("capsule_store", **filled(arguments))


@holds("decisions §7: the recovery of a thin capsule holds places to fill in, and a text in which one is left is thin")
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
def test_a_section_with_only_a_placeholder_is_missing(call: Door, left: str) -> None:
    text = FULL.replace("## Decisions\nDecisions of the work.\n", left)
    assert text != FULL
    error = call.refuses("CAPSULE_TOO_THIN", "capsule_store", capsule_text=text)
    assert error.details == {"missing": ["Decisions"]}
    assert call("capsule_store", capsule_text=text, allow_thin=True)["id"]


@holds("decisions §7: the recovery of a thin capsule holds places to fill in, and a text in which one is left is thin")
@pytest.mark.parametrize("kept", ["(fill in: it) was filled", "see (fill in: later)", "```\n(fill in: x)\n```\nshown"])
def test_a_section_with_more_than_a_placeholder_is_present(call: Door, kept: str) -> None:
    assert call("capsule_store", capsule_text=FULL.replace("Decisions of the work.", kept))["id"]


@holds("decisions §7: the recovery of a thin capsule holds places to fill in, and a text in which one is left is thin")
def test_append_import_and_revert_accept_a_text_with_placeholders(call: Door) -> None:
    text = FULL.replace("Decisions of the work.", "(fill in: what)")
    first = call("capsule_store", name="a", capsule_text=text, allow_thin=True)["id"]
    call("capsule_append", name="a", section="Open questions", content="more")
    call("moss_revert", type="capsule", name="a", version=1)
    path = call("capsule_export")["path"]
    call("capsule_delete", id=first)
    call("capsule_purge")
    assert call("capsule_import", path=path)["imported"] == 1


@holds("decisions §0: recovery is one best next call that can be sent as it is")
def test_the_proposal_for_a_deleted_capsule_restores_it(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_delete", name="a")
    error = call.refuses("NOT_FOUND", "capsule_fetch", name="a")
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["restored"] is True


@holds("decisions §0: recovery is one best next call that can be sent as it is")
def test_the_proposal_for_a_deleted_capsule_with_a_taken_name_shows_it(call: Door) -> None:
    first = call("capsule_store", name="a", capsule_text=FULL)["id"]
    call("capsule_delete", id=first)
    call("capsule_store", name="a", capsule_text=FULL)
    error = call.refuses("NOT_FOUND", "capsule_fetch", id=first)
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["id"] == first


@holds("decisions §0: a filter never widens a bulk change")
def test_a_prefix_with_a_space_at_its_end_does_not_widen(call: Door) -> None:
    for name in ("my notes", "myth"):
        call("capsule_store", name=name, capsule_text=FULL)
    assert call("capsule_bulk_delete", name_prefix="my ")["deleted"] == 1
    assert call.names("capsule_list") == ["myth"]


@holds("decisions §1: append and compose see the same sections, and append keeps every other line")
def test_a_title_with_line_breaks_cannot_forge_a_section_of_a_bundle(call: Door) -> None:
    title = "T\n## Objective\n## Status\n## Decisions\n## Next actions\n## Files\n## Risks"
    call("capsule_store", name="a", title=title, capsule_text="x", allow_thin=True)
    call.refuses("CAPSULE_TOO_THIN", "capsule_compose", items=[{"name": "a"}], store_as={"name": "b"})


@holds("decisions §0: a plain question is stemmed, words that end in y too")
def test_a_question_finds_the_forms_of_a_word_that_ends_in_y(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL + "\nthe deployment failed while flies landed")
    for word in ("deploy", "deployed", "fly"):
        assert call("capsule_search", query=word)["pagination"]["total"] == 1, word
