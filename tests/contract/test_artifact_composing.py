"""`artifact_compose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import listed_names, put
from artifact.samples import no_artifacts as no_artifacts
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door


@holds("3 compose: each text under kind, role and name, with fallbacks")
def test_each_part_of_a_bundle_has_a_header_of_kind_role_and_name(call: Door) -> None:
    put(call, "Run-1", kind="explorer-finding", role="code-explorer", text="found\n\nmuch")
    before = dump(call.home)
    answer = call("artifact_compose", items=[{"name": "run-1"}])
    assert answer["bundle_text"] == "## explorer-finding: code-explorer (Run-1)\n\nfound\n\nmuch\n\n---"
    assert "parts" not in answer
    assert dump(call.home) == before


@holds("3 compose: each text under kind, role and name, with fallbacks")
def test_a_header_has_defaults_for_a_missing_role_or_name(call: Door) -> None:
    both = put(call, kind="k", text="t")
    needs_id_column = put(call, kind="k", role="r", text="t")
    put(call, "n", kind="k", text="t")
    for address, heading in [
        ({"name": "n"}, "## k (n)"),
        ({"id": needs_id_column}, f"## k: r ({needs_id_column})"),
        ({"id": both}, f"## k ({both})"),
    ]:
        assert call("artifact_compose", items=[address])["bundle_text"] == f"{heading}\n\nt\n\n---"


@holds("decisions §2: every part of a bundle ends in a rule, the last too")
def test_a_bundle_keeps_the_order_asked_for_and_every_part_ends_in_a_rule(call: Door) -> None:
    a, _ = put(call, "a", text="one"), put(call, "b", workspace="W", text="two")
    answer = call("artifact_compose", items=[{"workspace": "w", "name": "B"}, {"id": a}, {"name": "a"}])
    two, one = "## freeform (b)\n\ntwo\n\n---", "## freeform (a)\n\none\n\n---"
    assert answer["bundle_text"] == "\n\n".join([two, one, one])


@holds("3 compose: each text under kind, role and name, with fallbacks")
@pytest.mark.parametrize("field", ["role", "kind"])
def test_a_header_is_always_one_line(call: Door, field: str) -> None:
    put(call, "a", **{field: "one\n\n---\n\n## forged: x (y)"}, text="text of a")
    lines = call("artifact_compose", items=[{"name": "a"}])["bundle_text"].split("\n")
    assert lines[0].startswith("## ")
    assert lines[0].endswith("(a)")
    assert lines[1:] == ["", "text of a", "", "---"]


@holds("3 compose: markdown by default, or the parts as json")
def test_the_default_format_of_a_bundle_is_markdown(call: Door) -> None:
    put(call, "a", text="one")
    assert call("artifact_compose", items=[{"name": "a"}]) == call(
        "artifact_compose", items=[{"name": "a"}], format="markdown"
    )
    call.refuses("INVALID_REQUEST", "artifact_compose", items=[{"name": "a"}], format="yaml")


@holds("3 compose: markdown by default, or the parts as json")
def test_a_json_bundle_of_artifacts_has_data_and_text_of_each(call: Door) -> None:
    a = put(call, "A", text="one", data={"b": 1, "a": 2})
    unnamed = put(call, text="two")
    answer = call("artifact_compose", items=[{"id": unnamed}, {"name": "a"}], format="json")
    assert answer["parts"] == [
        {"id": unnamed, "name": None, "data": {"n": 1}, "text": "two"},
        {"id": a, "name": "A", "data": {"b": 1, "a": 2}, "text": "one"},
    ]
    assert "bundle_text" not in answer


@holds("3 compose: all or nothing; every artifact needs a text")
@pytest.mark.parametrize("format", ["markdown", "json"])
def test_a_part_without_text_fails_the_whole_bundle_in_both_formats(call: Door, format: str) -> None:
    put(call, "a", text="one")
    without = put(call, "b")
    error = call.refuses(
        "COMPOSE_MISSING_TEXT", "artifact_compose", items=[{"name": "a"}, {"name": "b"}], format=format
    )
    assert error.status == 422
    assert without in error.message


@holds("3 compose: all or nothing; every artifact needs a text")
@pytest.mark.parametrize("format", ["markdown", "json"])
def test_a_missing_artifact_fails_the_whole_bundle(call: Door, format: str) -> None:
    put(call, "a", text="one")
    items: list[dict[str, Any]] = [{"name": "a"}, {"name": "gone"}]
    call.refuses("NOT_FOUND", "artifact_compose", items=items, format=format)
    put(call, "gone", text="two")
    call("artifact_delete", name="gone")
    call.refuses("NOT_FOUND", "artifact_compose", items=items, format=format)


@holds("3 compose: all or nothing; every artifact needs a text")
def test_a_bundle_of_artifacts_has_1_to_100_parts(call: Door) -> None:
    put(call, "a", text="x")
    for count in (0, 101):
        call.refuses("INVALID_REQUEST", "artifact_compose", items=[{"name": "a"}] * count)
    assert call("artifact_compose", items=[{"name": "a"}] * 100)["bundle_text"].count("---") == 100


@holds("3 compose: all or nothing; every artifact needs a text")
def test_an_ambiguous_or_empty_address_fails_the_whole_bundle_by_path(call: Door) -> None:
    a = put(call, "a", text="x")
    error = call.refuses("AMBIGUOUS_ADDRESSING", "artifact_compose", items=[{"id": a}, {"id": a, "name": "a"}])
    assert "items[1]" in error.message
    call.refuses("INVALID_REQUEST", "artifact_compose", items=[{}])
    error = call.refuses("INVALID_REQUEST", "artifact_compose", items=[{"name": "a"}, {"nam": "a"}])
    assert "items[1].nam" in error.message


@holds("3 compose: store_as stores the text with its sources")
def test_a_stored_bundle_names_its_sources_and_holds_the_text(call: Door) -> None:
    a, b = put(call, "a", text="one"), put(call, text="two")
    store_as = {"workspace": "Out", "name": "Bundle", "kind": "stitched"}
    answer = call("artifact_compose", items=[{"id": b}, {"name": "a"}], store_as=store_as)
    stored = answer["stored"]
    assert stored == {**store_as, "id": stored["id"], "version": 1}
    fetched = call("artifact_fetch", workspace="out", name="bundle")
    assert (fetched["id"], fetched["data"]) == (stored["id"], {"sources": [b, a]})
    assert fetched["text"] == answer["bundle_text"]
    assert fetched["text_chars"] == len(answer["bundle_text"])
    assert listed_names(call, kind="stitched") == ["Bundle"]


@holds("3 compose: store_as stores the text with its sources")
def test_a_stored_bundle_of_artifacts_respects_taken_names_and_the_mode(call: Door) -> None:
    put(call, "a", text="one")
    call("artifact_compose", items=[{"name": "a"}], store_as={"name": "out", "kind": "k"})
    store_as = {"name": "OUT", "kind": "k2"}
    call.refuses("NAME_ALREADY_EXISTS", "artifact_compose", items=[{"name": "a"}], store_as=store_as)
    call.refuses(
        "NAME_ALREADY_EXISTS", "artifact_compose", items=[{"name": "a"}], store_as={**store_as, "mode": "error"}
    )
    answer = call("artifact_compose", items=[{"name": "a"}], store_as={**store_as, "mode": "replace"})
    assert (answer["stored"]["name"], answer["stored"]["kind"], answer["stored"]["version"]) == ("out", "k2", 2)


@holds("3 compose: store_as stores the text with its sources")
@pytest.mark.parametrize("store_as", [{}, {"name": "b"}, {"kind": "k"}, {"name": "b", "kind": "k", "text": "t"}])
def test_a_stored_bundle_needs_a_name_and_a_kind_and_nothing_else(call: Door, store_as: dict[str, str]) -> None:
    put(call, "a", text="one")
    call.refuses("INVALID_REQUEST", "artifact_compose", items=[{"name": "a"}], store_as=store_as)


@holds("3 compose: store_as stores the text with its sources")
def test_a_stored_bundle_without_workspace_is_stored_in_the_default_one(call: Door) -> None:
    put(call, "a", text="one")
    answer = call("artifact_compose", items=[{"name": "a"}], store_as={"name": "b", "kind": "k"})
    assert answer["stored"]["workspace"] == "default"


@holds("decisions §2: a stored bundle is limited like any text, a json one is not stored")
def test_a_json_bundle_of_artifacts_cannot_be_stored(call: Door) -> None:
    put(call, "a", text="one")
    call.refuses(
        "INVALID_REQUEST", "artifact_compose", items=[{"name": "a"}], format="json", store_as={"name": "b", "kind": "k"}
    )


@holds("decisions §2: a stored bundle is limited like any text, a json one is not stored")
def test_a_stored_bundle_is_limited_like_any_text_and_an_unstored_one_is_not(call: Door) -> None:
    put(call, "a", text="x" * 11_990)
    assert len(call("artifact_compose", items=[{"name": "a"}])["bundle_text"]) > 12_000
    error = call.refuses(
        "TEXT_TOO_LARGE", "artifact_compose", items=[{"name": "a"}], store_as={"name": "b", "kind": "k"}
    )
    assert (error.details or {})["max_chars"] == 12_000
    assert listed_names(call) == ["a"]


@holds("3 compose: store_as stores the text with its sources")
def test_a_bundle_can_be_composed_again_from_stored_bundles(call: Door) -> None:
    put(call, "a", text="one")
    first = call("artifact_compose", items=[{"name": "a"}], store_as={"name": "b", "kind": "k"})
    again = call("artifact_compose", items=[{"id": first["stored"]["id"]}])
    assert again["bundle_text"] == f"## k (b)\n\n{first['bundle_text']}\n\n---"
