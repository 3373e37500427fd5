"""`retrieve_records`: filters, order, pages, counts and full-text search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import StoreDoor
from contract.records.archive import SAMPLES, TYPES, Archive
from moss_memory.tools.record import record_queries
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock

COUNTED = {
    "capability_id": "lab:reading:v1",
    "entity_type": "reading",
    "fields": {
        "probe": {"type": "string", "required": True},
        "level": {"type": "number"},
        "valid": {"type": "boolean"},
    },
    "identity": ["probe"],
    "title": "probe",
}
"""A capability with a number and a boolean, which no built-in capability has."""


def units(archive: Archive, *numbers: int, **fields: Any) -> list[str]:
    """Submit feature units and return the ids of their records."""
    return [archive.submit("feature_unit", id=f"FU-{number}", **fields)["payload_id"] for number in numbers]


@holds("5 retrieve_records: a record has id, type, properties, created_at and updated_at")
def test_a_record_has_the_documented_fields(timed: Archive, clock: Clock) -> None:
    answer = timed.submit("feature_unit", workspace="Shop")
    clock.advance(1)
    [record] = timed.records()
    assert {name: record[name] for name in ("id", "type", "properties", "created_at", "updated_at", "workspace")} == {
        "id": answer["payload_id"],
        "type": "feature_unit",
        "properties": SAMPLES["feature_unit"],
        "created_at": "2030-03-17T17:46:40.000Z",
        "updated_at": "2030-03-17T17:46:40.000Z",
        "workspace": "Shop",
    }


@holds("decisions §5: newest first if there is no search; offset pages")
def test_without_filters_every_record_is_shown_newest_first(archive: Archive) -> None:
    ids = [archive.submit(kind)["payload_id"] for kind in TYPES]
    assert archive.ids() == ids[::-1]
    archive.submit(TYPES[0])
    assert archive.ids() == ids[::-1], "a repeated payload moved up"


@holds("decisions §5: newest first if there is no search; offset pages")
def test_the_newest_record_is_the_last_arrival_regardless_of_the_clock(timed: Archive, clock: Clock) -> None:
    ids = units(timed, 1)
    clock.advance(-3600)
    ids += units(timed, 2)
    assert timed.ids() == ids[::-1]
    assert timed.ids(type="feature_unit", properties={"status": "in_progress"}) == ids[::-1]


@holds("5 retrieve_records: filters by type")
def test_a_type_shows_its_records_only(archive: Archive) -> None:
    ids = {kind: archive.submit(kind)["payload_id"] for kind in TYPES}
    for kind in TYPES:
        assert archive.ids(type=kind) == [ids[kind]]
    for unknown in ("", "nothing", "Feature_Unit", "feature"):
        assert archive.ids(type=unknown) == []
        assert archive.ids(type=unknown, properties={"status": "completed"}) == []


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_a_property_equals_a_scalar(archive: Archive) -> None:
    one, two = units(archive, 1, status="completed") + units(archive, 2, status="deployed")
    assert archive.ids(type="feature_unit", properties={"status": "completed"}) == [one]
    assert archive.ids(properties={"status": "deployed"}) == [two]
    for other in ("Completed", "complete", "%", "comp%", "completed ", "", "completed' or 1=1 --"):
        assert archive.ids(type="feature_unit", properties={"status": other}) == []
    assert archive.ids(type="feature_unit", properties={"status": 1}) == []


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_a_property_is_contained_in_an_array(archive: Archive) -> None:
    [one] = units(archive, 1, dependencies=["a", "b", "a"])
    [two] = units(archive, 2, dependencies=["b", "c, d"])
    units(archive, 3, dependencies=[])
    found = {item: archive.ids(type="feature_unit", properties={"dependencies": item}) for item in "abcd"}
    assert found == {"a": [one], "b": [two, one], "c": [], "d": []}
    assert archive.ids(properties={"dependencies": "c, d"}) == [two]


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_every_property_must_match(archive: Archive) -> None:
    [one] = units(archive, 1, status="completed", risk_level="low", dependencies=["x"])
    [two] = units(archive, 2, status="completed", risk_level="high", dependencies=["x", "y"])
    units(archive, 3, status="planning", risk_level="low", dependencies=["y"])
    assert archive.ids(properties={"status": "completed", "risk_level": "low"}) == [one]
    assert archive.ids(properties={"status": "completed", "dependencies": "x"}) == [two, one]
    assert archive.ids(properties={"dependencies": "x", "risk_level": "high", "status": "completed"}) == [two]
    assert archive.ids(properties={"status": "planning", "dependencies": "x"}) == []
    assert len(archive.ids(properties={})) == 3


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_a_field_that_is_null_or_missing_equals_nothing(archive: Archive) -> None:
    units(archive, 1, risk_level=None)
    for value in ("", "null", "None", 0, False):
        assert archive.ids(type="feature_unit", properties={"risk_level": value}) == []


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
@pytest.mark.parametrize("typed", [{"type": "feature_unit"}, {}], ids=["with its type", "without a type"])
def test_a_time_in_a_property_is_compared_as_an_instant(archive: Archive, typed: dict[str, str]) -> None:
    for stored, others in {
        "2025-12-31T11:00:00+01:00": ["2025-12-31T10:00:00Z", "2025-12-31T10:00", "2025-12-31T05:00:00-05:00"],
        "2025-12-30": ["2025-12-30T00:00:00Z", "2025-12-30T00:00:00.000Z"],
        "2025-12-29T10:00:00.500Z": ["2025-12-29T10:00:00.5Z"],
    }.items():
        [made] = units(archive, 1, created_at=stored)
        for text in (stored, *others):
            assert archive.ids(**typed, properties={"created_at": text}) == [made], f"{stored} is not found by {text}"
    assert archive.ids(**typed, properties={"created_at": "yesterday"}) == []


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
@pytest.mark.parametrize("typed", [{"type": "feature_unit"}, {}], ids=["with its type", "without a type"])
def test_a_time_does_not_equal_its_stored_form(archive: Archive, typed: dict[str, str]) -> None:
    units(archive, 1, created_at="2025-12-30")
    seconds = 1_767_052_800
    for number in (seconds, seconds * 1000, seconds * 1_000_000):
        assert archive.ids(**typed, properties={"created_at": str(number)}) == []
        assert archive.ids(**typed, properties={"created_at": number}) == []
    units(archive, 2, description=str(seconds * 1_000_000))
    assert archive.ids(**typed, properties={"description": "2025-12-30"}) == []


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_numbers_and_booleans_are_compared_by_value(archive: Archive) -> None:
    archive.add_capability("reading.json", COUNTED)
    sent = [("a", 1, True), ("b", 1.5, False), ("c", 0, True), ("d", 2.0, None), ("e", -7, False)]
    ids = {}
    for probe, level, valid in sent:
        body = {"probe": probe, "level": level, "valid": valid}
        ids[probe] = archive.submit("reading", capability_id="lab:reading:v1", body=body)["payload_id"]
    for level, found in ((1, "a"), (1.0, "a"), (1.5, "b"), (0, "c"), (2, "d"), (2.0, "d"), (-7, "e"), (3, "")):
        assert archive.ids(type="reading", properties={"level": level}) == [ids[probe] for probe in found]
    assert archive.ids(type="reading", properties={"valid": True}) == [ids["c"], ids["a"]]
    assert archive.ids(type="reading", properties={"valid": False}) == [ids["e"], ids["b"]]
    for wrong in ({"valid": 1}, {"level": True}, {"level": "1"}, {"valid": "true"}):
        assert archive.ids(type="reading", properties=wrong) == []


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_long_values_are_compared_to_the_last_character(archive: Archive) -> None:
    long = "word " * 300
    [one] = units(archive, 1, description=long + "a", dependencies=[long])
    [two] = units(archive, 2, description=long + "b", dependencies=[long + "c"])
    assert archive.ids(properties={"description": long + "a"}) == [one]
    assert archive.ids(properties={"description": long + "b"}) == [two]
    assert archive.ids(properties={"description": long}) == []
    assert archive.ids(properties={"dependencies": long}) == [one]


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_a_filter_that_is_no_scalar_is_refused_by_its_path(archive: Archive) -> None:
    units(archive, 1)
    for value in (None, [], ["FU-090"], {}, {"a": 1}):
        for typed in ({"type": "feature_unit"}, {}):
            asked: dict[str, Any] = {**typed, "properties": {"dependencies": value}}
            error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", **asked)
            assert (error.details or {})["path"] == "properties.dependencies"


@holds("decisions §5: a property filter equals a scalar or is contained in an array")
def test_more_properties_than_a_query_can_hold_are_refused(archive: Archive) -> None:
    units(archive, 1)
    for searched in ({}, {"search": "walrus", "search_mode": "keyword"}):
        many = {f"p{number}": "2025-12-01" for number in range(100)}
        assert archive.ids(properties=many, **searched) == []
        for more in (101, 1_200, 40_000):
            many = {f"p{number}": "2025-12-01" for number in range(more)}
            error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", properties=many, **searched)
            assert (error.details or {})["path"] == "properties"


@holds("decisions §5: with a type, an unknown property is refused")
def test_an_unknown_property_is_refused_with_a_type_and_finds_nothing_without(archive: Archive) -> None:
    units(archive, 1)
    for name in ("stat", "Status", "version", "", "name"):
        asked: dict[str, Any] = {"properties": {"status": "in_progress", name: "x"}}
        error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", type="feature_unit", **asked)
        assert (error.details or {})["path"] == f"properties.{name}"
        assert "status" in error.message
        assert archive.ids(**asked) == []


@holds("5 retrieve_records: filters by ids")
def test_records_are_selected_by_ids(archive: Archive) -> None:
    one, two, three = units(archive, 1, 2, 3)
    assert archive.ids(ids=[one, three]) == [three, one]
    assert archive.ids(ids=[two, two]) == [two]
    assert archive.ids(ids=[]) == []
    assert archive.ids(ids=["nothing", "", two.upper(), two[:-1]]) == []
    assert archive.ids(ids=[one, two], properties={"id": "FU-2"}) == [two]
    assert archive.ids(ids=[one], type="release") == []


@holds("decisions §5: an optional workspace, default on submit, no filter on reads")
def test_records_of_all_workspaces_are_shown_unless_one_is_named(archive: Archive) -> None:
    ids = [archive.submit("release", workspace=name)["payload_id"] for name in ("one", "other")]
    assert archive.ids() == ids[::-1]
    assert archive.ids(workspace="one") == [ids[0]]
    assert archive.ids(workspace=" OTHER ", type="release", properties={"status": "planning"}) == [ids[1]]
    assert archive.ids(workspace="one", ids=[ids[1]]) == []
    assert archive.ids(workspace="nowhere") == []
    assert [record["workspace"] for record in archive.records()] == ["other", "one"]


@holds("decisions §5: newest first if there is no search; offset pages")
def test_pages_show_every_record_once_in_one_order(archive: Archive) -> None:
    ids = units(archive, *range(7))[::-1]
    for filters in ({}, {"type": "feature_unit"}, {"properties": {"status": "in_progress"}}):
        pages = [archive.ids(limit=3, offset=offset, **filters) for offset in range(0, 12, 3)]
        assert pages == [ids[:3], ids[3:6], ids[6:], []]


@holds("decisions §5: limit 100 by default, 500 at most, never below 1")
def test_a_limit_is_100_by_default_and_500_at_most(timed: Archive) -> None:
    ids = units(timed, *range(501))[::-1]
    assert isinstance(timed.door, StoreDoor)
    timed.door.store.config = timed.door.store.config.replace(page_max_chars=10**9)  # no page ends before its limit
    assert timed.ids() == ids[:100]
    assert timed.ids(limit=500) == ids[:500]
    assert timed.ids(limit=501) == ids[:500]
    assert timed.ids(limit=2**62, offset=499) == ids[499:]
    assert timed.ids(limit=5.0) == ids[:5]
    for tool, name in (("retrieve_entities", "entities"), ("list_timeline_events", "events")):
        assert len(timed.door(tool)[name]) == 100
        answer = timed.door(tool, limit=100_000)
        assert len(answer[name]) == 500
        assert answer["pagination"]["limit"] == 500


@holds("decisions §0: a limit above the maximum is clamped and shown")
def test_a_clamped_limit_is_reported_in_the_pagination(timed: Archive) -> None:
    units(timed, 1, 2)
    for asked, more in (({"limit": 501}, False), ({"limit": 1}, True), ({"limit": 1, "offset": 1}, False)):
        for search in ({}, {"search": ["token"], "search_mode": "keyword"}):
            pagination = timed.door("retrieve_records", **asked, **search)["pagination"]
            assert pagination["limit"] == min(asked["limit"], 500)
            assert pagination["offset"] == asked.get("offset", 0)
            assert pagination["has_more"] is more


@holds("decisions §5: limit 100 by default, 500 at most, never below 1")
@pytest.mark.parametrize("tool", ["retrieve_records", "retrieve_entities", "list_timeline_events"])
def test_an_invalid_page_is_refused(archive: Archive, tool: str) -> None:
    for name, values in {"limit": (0, -1, -(2**63)), "offset": (-1, -(2**63))}.items():
        for value in values:
            error = archive.door.refuses("VALIDATION_ERROR", tool, **{name: value})
            assert (error.details or {})["path"] == name


@holds("5 include_total_count: counts the matches of the filters")
def test_the_total_counts_the_records_that_match_the_filters(archive: Archive) -> None:
    units(archive, *range(5), status="planning")
    units(archive, 7, 8, status="deployed", description="a rare walrus", workspace="other")
    assert "total_count" not in archive.door("retrieve_records")
    assert "total_count" not in archive.door("retrieve_records", include_total_count=False)
    for filters, total in (
        ({}, 7),
        ({"type": "feature_unit"}, 7),
        ({"type": "release"}, 0),
        ({"properties": {"status": "planning"}}, 5),
        ({"properties": {"status": "planning", "risk_level": "medium"}}, 5),
        ({"type": "feature_unit", "properties": {"status": "deployed"}, "workspace": "other"}, 2),
        ({"ids": archive.ids(limit=3)}, 3),
        ({"search": ["walrus"], "search_mode": "keyword"}, 2),
        ({"search": ["walrus"], "search_mode": "keyword", "properties": {"status": "planning"}}, 0),
    ):
        for page in ({"limit": 1}, {"limit": 1, "offset": 1}, {"offset": 100}, {}):
            answer = archive.door("retrieve_records", include_total_count=True, **filters, **page)
            assert answer["total_count"] == total, filters
            repeated = archive.door("retrieve_records", **filters, **page)
            assert repeated["pagination"] == answer["pagination"]
            assert repeated["pagination"]["total"] == total, filters


@holds("5 include_total_count: counts the matches of the filters")
def test_matches_beyond_a_page_are_counted_on_request_only(archive: Archive) -> None:
    units(archive, *range(record_queries.COUNTED + 1))
    for asked in ({"limit": 1}, {"limit": record_queries.COUNTED}):
        assert "total" not in archive.door("retrieve_records", **asked)["pagination"]
    for asked in (
        {"limit": 1, "include_total_count": True},
        {"limit": record_queries.COUNTED + 1},
        {"offset": record_queries.COUNTED * 2},
    ):
        assert archive.door("retrieve_records", **asked)["pagination"]["total"] == record_queries.COUNTED + 1


@holds("5 search: terms find records by their words")
@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("feature_unit", "description"), ("release", "version"), ("release", "acceptance_criteria"),
        ("agent_decision", "decision"), ("agent_decision", "rationale"), ("agent_decision", "context"),
        ("agent_session", "session_id"), ("agent_session", "outcomes"), ("validation_result", "validation_type"),
        ("codebase_entity", "name"), ("codebase_entity", "description"), ("architectural_decision", "decision"),
        ("architectural_decision", "rationale"), ("architectural_decision", "impact"),
        ("architectural_decision", "alternatives"),
    ],
)  # fmt: skip
def test_a_new_record_is_found_at_once_by_its_words(archive: Archive, kind: str, field: str) -> None:
    for other in TYPES:
        archive.submit(other)
    value: Any = "the great walrus of Tunis"
    listed = isinstance(SAMPLES[kind][field], list)
    made = archive.submit(kind, **{field: [value] if listed else value})["payload_id"]
    assert archive.words("walrus") == [made]
    assert archive.words("WALRUS tunis") == [made]
    assert archive.words("narwhal") == []


@holds("5 search: terms find records by their words")
def test_actions_of_sessions_and_findings_of_checks_are_searched_too(archive: Archive) -> None:
    session = archive.submit("agent_session", actions=[{"tool": "edit", "why": ["a walrus"]}])["payload_id"]
    check = archive.submit("validation_result", details={"failed": {"test_tunis": "expected 3"}})["payload_id"]
    assert archive.words("walrus") == [session]
    assert archive.words("expected") == [check]


@holds("decisions §5: several search terms are alternatives")
def test_several_terms_are_alternatives(archive: Archive) -> None:
    [walrus] = units(archive, 1, description="a walrus")
    [heron] = units(archive, 2, description="a heron")
    units(archive, 3, description="an otter")
    assert sorted(archive.words("walrus", "heron")) == sorted([walrus, heron])
    assert archive.words("walrus", "nothing") == [walrus]
    assert archive.words("nothing", "never") == []
    assert archive.door("retrieve_records", search="heron", search_mode="keyword")["records"][0]["id"] == heron


@holds("decisions §0: ordered by the number of words matched")
def test_the_record_with_more_of_the_words_is_ranked_first(archive: Archive) -> None:
    [both] = units(archive, 1, description="a walrus and a heron stand on the quiet shore of a long river")
    [one] = units(archive, 2, description="walrus")
    assert archive.words("walrus", "heron") == [both, one]


@holds("decisions §5: filters apply before the limit")
def test_a_search_stays_within_its_filters_before_the_limit(archive: Archive) -> None:
    [wanted] = units(archive, 1, description="one walrus among many others of its kind", status="deployed")
    units(archive, *range(2, 12), description="walrus", status="planning")
    archive.submit("agent_decision", decision="walrus")
    [elsewhere] = units(archive, 1, description="walrus", status="deployed", workspace="other")
    assert archive.words("walrus", workspace="default", properties={"status": "deployed"}, limit=1) == [wanted]
    assert archive.words("walrus", workspace="other", limit=1) == [elsewhere]
    assert archive.words("walrus", ids=[wanted], limit=1) == [wanted]
    assert len(archive.words("walrus", type="agent_decision", limit=1)) == 1


@holds("decisions §5: filters apply before the limit")
def test_a_search_with_several_properties_must_match_all(archive: Archive) -> None:
    [wanted] = units(archive, 1, description="a walrus", status="deployed", risk_level="low")
    units(archive, 2, description="a walrus", status="deployed", risk_level="high")
    units(archive, 3, description="a heron", status="deployed", risk_level="low")
    found = archive.words("walrus", type="feature_unit", properties={"status": "deployed", "risk_level": "low"})
    assert found == [wanted]


@holds("decisions §5: filters apply before the limit")
def test_pages_of_a_search_show_every_record_once(archive: Archive) -> None:
    ids = units(archive, *range(7), description="the same walrus")
    pages = [archive.words("walrus", limit=3, offset=offset) for offset in range(0, 12, 3)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert sorted(found for page in pages for found in page) == sorted(ids)


@holds("5 search: terms find records by their words")
def test_a_search_without_a_word_is_refused_and_punctuation_finds_nothing(archive: Archive) -> None:
    units(archive, 1)
    for blank in ([], [""], [" ", "\n"], "", " "):
        error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", search=blank)
        assert (error.details or {})["path"] == "search"
    assert archive.words("...", "?!") == []


@holds("5 search: terms find records by their words")
def test_ordinary_text_is_searched_as_text_in_records(archive: Archive) -> None:
    [made] = units(archive, 1, description="see pr-123, src/auth and foo.go: it's in C++ (walrus")
    for text in ("pr-123", "src/auth", "foo.go", "it's walrus", "C++", "(walrus)", "walrus and", "call(walrus)"):
        assert archive.words(text) == [made], text


@holds("decisions §0: operators have their exact meaning in every family, malformed ones are refused")
@pytest.mark.parametrize(
    ("terms", "hits"),
    [
        (["herd*"], {2, 3}), (["herdsm*"], {3}), (['"quiet herd"'], {2}), (['"herd quiet"'], set()),
        (["NOT walrus"], {2, 3}), (["quiet NOT walrus"], {2}), (["quiet AND walrus"], {1}),
        (["walrus OR herd"], {1, 2}),
        (['"quiet herd"', "walrus"], {1, 2}), (["herdsm*", '"herd quiet"', "..."], {3}), (["herdsm*", " "], {3}),
        (["herdsm*", "a walrus elsewhere"], {1, 3}),
    ],
)  # fmt: skip
def test_operators_in_a_search_term_are_applied_exactly(archive: Archive, terms: list[str], hits: set[int]) -> None:
    said = {1: "a quiet walrus", 2: "the quiet herd", 3: "one herdsman"}
    made = {units(archive, number, description=text)[0]: number for number, text in said.items()}
    assert {made[found] for found in archive.words(*terms)} == hits


@holds("decisions §0: operators have their exact meaning in every family, malformed ones are refused")
def test_a_malformed_search_term_is_refused(archive: Archive) -> None:
    units(archive, 1, description="a walrus")
    for text in ('"walrus', "(walrus", "walrus)", "walrus AND", "NOT", "walrus OR NOT heron"):
        for terms in (text, [text], ["heron", text]):
            archive.door.refuses("VALIDATION_ERROR", "retrieve_records", search=terms, search_mode="keyword")
    archive.door.refuses("VALIDATION_ERROR", "retrieve_records", search=["walrus", "NOT heron"])


@holds("5 search: terms find records by their words")
def test_a_search_that_is_too_long_is_refused_by_the_name_of_its_argument(archive: Archive) -> None:
    units(archive, 1)
    error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", search=["walrus " * 2000])
    assert "search" in error.message
    assert (error.details or {})["path"].startswith("search")


@holds("5 search_mode: semantic, keyword or both")
def test_the_mode_of_a_search_is_one_of_three(archive: Archive) -> None:
    [made] = units(archive, 1, description="a walrus")
    assert made in archive.ids(search=["walrus"])
    assert made in archive.ids(search=["walrus"], search_mode="both")
    assert archive.ids(search_mode="keyword") == [made]
    for wrong in ("", "Keyword", "fuzzy"):
        error = archive.door.refuses("VALIDATION_ERROR", "retrieve_records", search=["walrus"], search_mode=wrong)
        assert (error.details or {})["path"] == "search_mode"
        assert "semantic" in error.message


@holds("decisions §0: records are found by the one search, and cannot forge a highlight")
def test_a_hit_of_moss_search_has_the_address_of_its_record(archive: Archive) -> None:
    [made] = units(archive, 1, description="a walrus", workspace="Shop")
    hits = [
        hit
        for hit in archive.door("moss_search", search_mode="keyword", query="walrus")["items"]
        if hit["type"] == "record"
    ]
    assert [hit["id"] for hit in hits] == [made]
    assert archive.ids(**hits[0]["fetch"]["arguments"]) == [made]


@holds("decisions §0: records are found by the one search, and cannot forge a highlight")
def test_markup_in_a_record_cannot_forge_a_highlight(archive: Archive) -> None:
    units(archive, 1, description="<b>forged</b> & a walrus <script>")
    [hit] = archive.door("moss_search", search_mode="keyword", query="walrus")["items"]
    assert "<b>walrus</b>" in hit["snippet"]
    assert "<b>forged" not in hit["snippet"]
    assert "<script>" not in hit["snippet"]
