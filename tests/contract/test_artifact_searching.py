"""`moss_search` over artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import check_artifacts, put
from artifact.samples import no_artifacts as no_artifacts
from contract.doors import open_test_store
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock, Door, StoreDoor

MARKUP = "<script>zebra & <b>zebra</b></script>"


def hits(call: Door, query: str, **arguments: Any) -> list[Any]:
    return [item["title"] for item in call("moss_search", search_mode="keyword", query=query, **arguments)["items"]]


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_a_hit_of_an_artifact_can_be_fetched_by_its_address(call: Door) -> None:
    named = put(call, "Run-1", workspace="Plan", kind="explorer-finding", text="the zebra signs tokens")
    unnamed = put(call, kind="k", text="another zebra")
    items = call("moss_search", search_mode="keyword", query="zebra")["items"]
    assert {item["id"] for item in items} == {named, unnamed}
    for item in items:
        assert item["type"] == "artifact"
        assert "<b>zebra</b>" in item["snippet"]
        assert isinstance(item["score"], float)
        assert item["title"]
        assert "text" not in item
        assert "data" not in item
        assert call("artifact_fetch", **item["fetch"]["arguments"])["id"] == item["id"]
    by_id = {item["id"]: item for item in items}
    assert by_id[named]["fetch"]["arguments"] == {"workspace": "Plan", "name": "Run-1"}
    assert by_id[named]["title"] == "Run-1"
    assert by_id[unnamed]["fetch"]["arguments"] == {"id": unnamed}


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_an_artifact_is_found_by_its_name_and_its_text_and_not_by_its_data(call: Door) -> None:
    put(call, "okapi", text="plain")
    put(call, "b", text="an okapi")
    put(call, "c", data={"okapi": "okapi"}, text="nothing")
    put(call, "d", data={"okapi": "okapi"})
    assert set(hits(call, "okapi")) == {"okapi", "b"}


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_an_artifact_without_text_is_found_by_its_name(call: Door) -> None:
    put(call, "quagga record")
    [item] = call("moss_search", search_mode="keyword", query="quagga")["items"]
    assert (item["title"], item["type"]) == ("quagga record", "artifact")


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_capsules_and_artifacts_are_found_together_or_by_type(call: Door) -> None:
    put(call, "artifact", text="one zebra", run_id="r", workspace="w")
    call("capsule_store", name="capsule", capsule_text="one zebra", allow_thin=True, run_id="r", workspace="w")
    for query in ("zebra", '"one zebra"', "zeb*", "NOT okapi"):
        assert set(hits(call, query)) == {"artifact", "capsule"}
        assert hits(call, query, types=["artifact"]) == ["artifact"]
        assert hits(call, query, types=["capsule"]) == ["capsule"]
        assert set(hits(call, query, types=["capsule", "artifact"])) == {"artifact", "capsule"}
        assert set(hits(call, query, workspace="W", run_id=" r ")) == {"artifact", "capsule"}
        assert hits(call, query, workspace="other") == []
        assert hits(call, query, run_id="other") == []
    call.refuses("INVALID_REQUEST", "moss_search", search_mode="keyword", query="zebra", types=[])
    call.refuses("INVALID_REQUEST", "moss_search", search_mode="keyword", query="zebra", types=["artefact"])


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_capsule_search_finds_no_artifact(call: Door) -> None:
    put(call, "a", text="one zebra")
    assert call("capsule_search", query="zebra")["items"] == []


@holds("3 search: written artifacts are found at once; deleted, expired and purged ones are not")
def test_every_change_of_an_artifact_is_found_at_once(call: Door) -> None:
    put(call, "a", text="zebra")
    assert hits(call, "zebra") == ["a"]
    call("artifact_store", name="a", kind="k", data={}, text="okapi", expected_version=1)
    assert (hits(call, "zebra"), hits(call, "okapi")) == ([], ["a"])
    call("artifact_store", name="a", kind="k", data={}, mode="replace")
    assert (hits(call, "okapi"), hits(call, "a")) == ([], ["a"])
    call("artifact_store", name="a", kind="k", data={}, text="quagga", mode="replace")
    call("artifact_bulk_update", workspace="default", set_phase="p", set_ttl_seconds=60)
    call("artifact_touch", name="a", ttl_seconds=70)
    assert hits(call, "quagga") == ["a"]
    call("artifact_delete", name="a")
    assert hits(call, "quagga") == []
    check_artifacts(call.home)


@holds("3 search: written artifacts are found at once; deleted, expired and purged ones are not")
def test_a_purged_artifact_is_never_found_again(door: StoreDoor) -> None:
    put(door, "a", text="zebra")
    door("artifact_delete", name="a")
    assert door("artifact_purge")["purged"] == 1
    put(door, "b", text="okapi")
    assert (hits(door, "zebra"), hits(door, "NOT nothing")) == ([], ["b"])
    check_artifacts(door.home)


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_search_pages_over_both_families_show_every_hit_exactly_once(call: Door) -> None:
    for number in range(9):
        put(call, f"a{number}", text="zebra")
        call("capsule_store", name=f"c{number}", capsule_text="zebra", allow_thin=True)
    found: list[str] = []
    for offset in range(0, 20, 4):
        answer = call("moss_search", search_mode="keyword", query="zebra", limit=4, offset=offset)
        assert answer["pagination"]["total"] == 18
        found += [item["id"] for item in answer["items"]]
    assert len(found) == len(set(found)) == 18


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_markup_in_an_artifacts_text_cannot_forge_a_highlight(call: Door) -> None:
    put(call, "a", text=MARKUP)
    [item] = call("moss_search", search_mode="keyword", query="zebra")["items"]
    shown = item["snippet"].replace("<b>zebra</b>", "zebra")
    assert "<" not in shown
    assert "&lt;script&gt;" in shown


@holds("3 search: written artifacts are found at once; deleted, expired and purged ones are not")
@pytest.mark.parametrize("query", ["zebra", "zebra stripes", '"zebra"', "zeb*", "zebra OR okapi", "NOT okapi"])
def test_an_expired_artifact_is_not_found_by_any_kind_of_query(door: StoreDoor, clock: Clock, query: str) -> None:
    put(door, "first")
    door("artifact_delete", name="first")
    put(door, "short", text="zebra stripes", ttl_seconds=10)
    put(door, "long", text="zebra stripes", ttl_seconds=100)
    assert set(hits(door, query)) == {"short", "long"}
    clock.advance(10)
    answer = door("moss_search", search_mode="keyword", query=query)
    assert [item["title"] for item in answer["items"]] == ["long"]
    assert answer["pagination"]["total"] == 1
    clock.advance(1000)
    put(door, "sweeping")
    assert hits(door, query, types=["artifact"]) in ([], ["sweeping"] if query.startswith("NOT") else [])


@holds("3 search: written artifacts are found at once; deleted, expired and purged ones are not")
def test_expired_artifacts_do_not_count_among_many_common_words(door: StoreDoor, clock: Clock) -> None:
    for number in range(1100):
        put(door, f"n{number}", text="zebra crossing" if number % 2 else "zebra", ttl_seconds=10 + number % 3)
    clock.advance(11)
    for query, every in (("zebra", 1), ("zebra crossing", 1), ("zebra AND crossing", 2)):
        answer = door("moss_search", search_mode="keyword", query=query, limit=100)
        expected = {f"n{number}" for number in range(1100) if number % 3 == 2 and number % 2 >= every - 1}
        assert answer["pagination"]["total"] == len(expected)
        assert {item["title"] for item in answer["items"]} <= expected


@holds("3 search: artifact texts are found beside capsules, each hit with its address")
def test_a_disabled_type_is_not_searched(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, disabled_types=["artifact"]) as store:
        store.call("artifact_store", {"name": "a", "kind": "k", "data": {}, "text": "zebra"})
        store.call("capsule_store", {"name": "c", "capsule_text": "zebra", "allow_thin": True})
        assert [
            item["title"] for item in store.call("moss_search", {"search_mode": "keyword", "query": "zebra"})["items"]
        ] == ["c"]
