"""Record commands: submitting from words, files and stdin, finding by words and properties, and tables."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.terminal import as_table, on_terminal
from moss_memory import open_store
from moss_memory.cli.render.cell import cells
from moss_memory.search.embedding.embedder import unload_models
from moss_memory.tools.record.record_summary import table_row

if TYPE_CHECKING:
    from support.cli_typist import Cli

UNIT, DECISION, RELEASE, CHECK = (
    f"neotoma:store_{name}:v1" for name in ("feature_unit", "agent_decision", "release", "validation_result")
)
TIMES = {"created_at": "2025-11-01T10:00:00Z", "updated_at": "2025-12-01"}
DECIDED = {
    "decision": "Sessions live in Redis",
    "rationale": "They survive a restart of the process",
    "timestamp": "2025-12-02T09:00:00Z",
}
HOSTILE = "x\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"


def unit(id: str, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": id, "description": f"Rotate the signing keys of {id}", "status": status, **TIMES, **more}


@pytest.fixture
def filled(cli: Cli) -> Cli:
    """Submit two units, a decision and a release."""
    submissions: list[tuple[str, dict[str, Any]]] = [
        (UNIT, {"body": unit("FU-061", risk_level="low", dependencies=["FU-001"])}),
        (UNIT, {"body": unit("FU-062", "planning")}),
        (DECISION, {"body": DECIDED, "workspace": "shop", "provenance": {"agent_id": "ada", "source_refs": ["a.md"]}}),
        (RELEASE, {"body": {"id": "R1", "version": "1.0", "status": "planning", **TIMES}}),
    ]
    with open_store(cli.home) as store:
        for capability, arguments in submissions:
            store.call("submit_payload", {"capability_id": capability, **arguments})
    return cli


@pytest.mark.parametrize("given", ["word", "option", "at", "file", "stdin", "dash"])
def test_a_body_comes_from_words_a_file_or_stdin(cli: Cli, given: str) -> None:
    text = json.dumps(DECIDED)
    with open("decision.json", "w", encoding="utf-8") as file:
        file.write(text)
    words = {"word": [text], "option": ["--body", text], "at": ["--body", "@decision.json"],
             "file": ["--file", "decision.json"], "stdin": [], "dash": ["-"]}[given]  # fmt: skip
    answer = cli("record", "submit", DECISION, *words, "-w", "shop", stdin=text).json
    assert (answer["created"], answer["workspace"]) == (True, "shop")
    found = cli("record", "find", "--ids", answer["payload_id"]).json["records"]
    assert [record["properties"] for record in found] == [DECIDED]


def test_a_submitted_record_is_found_by_words(filled: Cli) -> None:
    for words in (["restart process"], ["restart", "process"], ["--search", "restart", "--search", "nothing"]):
        found = filled("record", "find", *words).json["records"]
        assert [record["properties"]["decision"] for record in found] == ["Sessions live in Redis"], words
    assert filled("record", "find", "restart", "-w", "default").json["records"] == []


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["--properties", '{"status": "completed"}'], ["FU-061"]),
        (["--properties", "status=completed"], ["FU-061"]),
        (["--properties=status=planning"], ["R1", "FU-062"]),
        (["--properties", "status=completed", "--properties", "risk_level=low"], ["FU-061"]),
        (["--properties", "status=planning", "--properties", '{"id": "R1"}'], ["R1"]),
        (["--properties", "version=1.0"], ["R1"]),
        (["--properties", "dependencies=FU-001"], ["FU-061"]),
        (["--properties", "@p.json"], ["FU-062"]),
        (["--properties", "id=a=b"], []),
    ],
)
def test_properties_are_names_and_values_or_json(filled: Cli, words: list[str], ids: list[str]) -> None:
    with open("p.json", "w", encoding="utf-8") as file:
        file.write('{"id": "FU-062"}')
    found = filled("record", "find", *words).json["records"]
    assert [record["properties"]["id"] for record in found] == ids


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["find", "--properties", "status"], 2, "moss: --properties needs NAME=VALUE, JSON, or @FILE"),
        (["find", "--properties", "=x"], 2, "moss: --properties needs NAME=VALUE"),
        (["find", "--properties", "id=1", "--properties", "id=2"], 2, "moss: --properties gives 'id' twice"),
        (["find", "--properties", "{"], 2, "moss: --properties needs JSON"),
        (["find", "--properties", "[1]"], 1, "[VALIDATION_ERROR] "),
        (["find", "--type", "release", "--properties", "entity_type=1"], 1,
         "[VALIDATION_ERROR] properties.entity_type is no field of release (known: acceptance_criteria, "),
        (["find", "--limit", "0"], 1, "[VALIDATION_ERROR] --limit is 0"),
        (["submit", UNIT, "{}"], 1, f"[VALIDATION_ERROR] body.id is required by {UNIT}"),
        (["submit", "nope", "{}"], 1, "[UNKNOWN_CAPABILITY] there is no capability 'nope'; known: neotoma:"),
        (["submit", UNIT, "nope"], 2, "moss: --body needs JSON"),
        (["submit"], 2, "moss: --capability-id is needed by `moss record submit`"),
        (["entities", "--as-of", "then"], 1, "[VALIDATION_ERROR] --as-of is no ISO 8601 date"),
        (["list"], 2, "moss: unknown command 'list'; did you mean record find?"),
        (["search"], 2, "moss: unknown command 'search'; did you mean record find?"),
    ],
)  # fmt: skip
def test_invalid_record_commands_are_refused_in_the_words_of_the_user(
    filled: Cli, words: list[str], code: int, says: str
) -> None:
    outcome = filled("record", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.startswith(says)


def test_a_body_from_stdin_that_is_not_json_is_refused_like_a_record(filled: Cli) -> None:
    outcome = filled("record", "submit", UNIT, stdin=b"{")
    assert outcome.err.startswith("[VALIDATION_ERROR] the body is not valid JSON")


def test_an_unavailable_semantic_search_names_no_option(filled: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    unload_models()
    outcome = filled("record", "find", "keys", "--search-mode", "semantic")
    assert outcome.err.startswith("[SEMANTIC_UNAVAILABLE] no model to search by meaning is installed; ")
    assert "pip install" in outcome.err
    assert outcome.err.rstrip().endswith("or search with --search-mode keyword")


def test_the_keys_of_a_bad_file_are_not_taken_for_options(filled: Cli) -> None:
    os.makedirs(os.path.join(filled.home, "capabilities"))
    with open(os.path.join(filled.home, "capabilities", "bad.json"), "w", encoding="utf-8") as file:
        file.write("{}")
    assert "it lacks capability_id, entity_type, fields" in filled("record", "submit", "nope", "{}").err


def test_records_are_a_table_of_names_and_summaries(filled: Cli) -> None:
    listing = filled("record", "find", "--table").out.partition("\n\n")[0]
    header, *rows = listing.splitlines()
    assert header.split() == ["type", "title", "status", "text", "workspace", "submitted", "id"]
    uuid = r"[\da-f]{8}-[\da-f-]{27}"
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    expected = [
        rf"release +R1 +planning +version 1\.0 +default +{when} +{uuid}",
        rf"agent_decision +Sessions live in Redis +- +They survive a restart of the process +shop +{when} +{uuid}",
        rf"feature_unit +FU-062 +planning +Rotate the signing keys of FU-062 +default +{when} +{uuid}",
        r"feature_unit +FU-061 +completed +Rotate the signing keys of FU-061; .*dependencies FU-001.* +default .*",
    ]
    for row, pattern in zip(rows, expected, strict=True):
        assert re.fullmatch(pattern, row), row


def test_entities_are_a_table_with_their_number_of_observations(filled: Cli) -> None:
    filled("record", "submit", UNIT, json.dumps(unit("FU-062", "deployed"))).json  # noqa: B018
    shown = filled("record", "entities", "--entity-type", "feature_unit", "--table").out
    assert re.search(r"^feature_unit +FU-062 +deployed +Rotate .* +default +2 +ent_[\da-f]{32}$", shown, re.MULTILINE)
    assert shown.endswith("\n\n2 of 2\n")
    plain = filled("record", "entities", "--no-include-snapshots", "--table", "--limit", "1").out
    assert plain.splitlines()[0].split() == ["type", "workspace", "seen", "id"]
    assert plain.endswith("\n\n1 of 4; more with --offset 1\n")


def test_the_sources_of_an_entity_are_shown_field_by_field(filled: Cli) -> None:
    words = ["--entity-type", "agent_decision", "--include-provenance"]
    shown = filled("record", "entities", *words, "--table").out
    assert re.search(r"^agent_decision ent_[\da-f]{32}:\nfield +value +observed +agent +sources$", shown, re.MULTILINE)
    row = r"^rationale +They survive a restart of the process +\d{4}-\d\d-\d\dT[\d:.]+Z +ada +a\.md$"
    assert re.search(row, shown, re.MULTILINE)


def test_the_timeline_shows_time_event_and_entity(filled: Cli) -> None:
    lines = filled("record", "timeline", "--after-date", "2025-12-01", "--table").out.splitlines()
    assert lines[0].split() == ["when", "what", "of", "workspace", "entity", "record", "event_id"]
    first = r"2025-12-02T09:00:00Z +agent_decision\.recorded +Sessions live in Redis +shop +ent_\S+ +\S+ +\S+"
    assert re.fullmatch(first, lines[1])
    assert {line.split()[2] for line in lines[2:5]} == {"FU-061", "FU-062", "R1"}
    assert lines[-1] == "4 of 4"
    none = filled("record", "timeline", "--event-type", "nothing.happened", "--table").out
    assert none == "(nothing)\n\n0 of 0\n"


def test_capabilities_are_listed_with_their_fields(cli: Cli) -> None:
    assert len(cli("record", "capabilities").json["capabilities"]) == 7
    shown = cli("record", "capabilities", "--table").out
    assert f"{UNIT} (feature_unit), known by id\nfield " in shown
    states = "planning, in_progress, completed, deployed, deferred, cancelled"
    assert re.search(rf"^status +string +yes +{states}$", shown, re.MULTILINE)
    assert re.search(r"^ended_at +time +- +-$", shown, re.MULTILINE)
    assert re.search(r"^alternatives +array<string> +- +a set$", shown, re.MULTILINE)
    assert "record capabilities" in cli("record").out
    assert "record capabilities" in cli("record", "--help").out


def test_an_invalid_capability_file_is_named_beside_valid_ones(cli: Cli) -> None:
    os.makedirs(os.path.join(cli.home, "capabilities"), mode=0o700)
    with open(os.path.join(cli.home, "capabilities", "bad.json"), "w", encoding="utf-8") as file:
        file.write("[]")
    shown = cli("record", "capabilities", "--table").out
    assert re.search(r"^problems:\nfile +message\n\S+bad\.json +it does not hold a capability object$", shown,
                     re.MULTILINE)  # fmt: skip
    assert UNIT in shown
    narrow = as_table(["record", "capabilities"], cli("record", "capabilities").json, width=60).splitlines()[-1]
    assert re.fullmatch(r"….*/bad\.json +it does not hold a c.*", narrow)
    assert len(narrow) <= 60


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("words", [["find"], ["entities"], ["timeline"], ["capabilities"]], ids=lambda it: it[0])
def test_every_table_fits_its_terminal(filled: Cli, words: list[str], width: int) -> None:
    filled.environment["NO_COLOR"] = "1"
    code, shown = on_terminal(filled, "record", *words, columns=width)
    assert code == 0
    wide = [
        line for line in shown.splitlines() if len(line) > width and len(line.split()) > 2
    ]  # ids are never truncated
    # Names of fields, types and capabilities are never truncated, because users type them.
    assert not wide or (words == ["capabilities"] and width < 80)


def test_hostile_text_in_a_record_cannot_control_a_terminal(cli: Cli) -> None:
    body = {"validation_type": HOSTILE, "status": "passed", "timestamp": "2025-12-02", "details": {HOSTILE: HOSTILE},
            "related_entity_id": HOSTILE}  # fmt: skip
    provenance = json.dumps({"agent_id": HOSTILE, "source_refs": [HOSTILE]})
    text = json.dumps(body)
    cli("record", "submit", CHECK, text, "--provenance", provenance).json  # noqa: B018
    for words in (["find"], ["entities", "--include-provenance"], ["timeline"]):
        _, shown = on_terminal(cli, "record", *words, "--table", columns=120)
        assert all(line.isprintable() for line in shown.split("\n")), words
        assert "owned" in shown


def test_a_record_of_any_shape_has_a_row() -> None:
    assert table_row({"properties": {}})["title"] is None
    assert table_row({"properties": {"count": 3, "made_at": "2025-12-01", "topic": "tokens"}})["title"] == "tokens"
    assert table_row({"properties": {"count": 3, "topic": "tokens"}})["summary"] == "count 3"
    assert table_row({"snapshot": {"id": "a", "gone": None, "flags": [True]}})["summary"] == "flags [true]"
    huge = {"records": [{"id": "i", "type": "t", "properties": {"id": "x" * 900_000, "text": "y z" * 300_000}}]}
    assert max(map(cells, as_table(["record", "find"], huge, width=80).splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (
            ["agent_decisoin", "{}"],
            1,
            "'agent_decisoin'; did you mean neotoma:store_agent_decision:v1? known:",
        ),
        (["neotoma:store_relase:v1", "{}"], 1, "; did you mean neotoma:store_release:v1? known: "),
        (["shop:incident:v1", "{}"], 1, "there is no capability 'shop:incident:v1'; known: "),
        ([DECISION, "--body", "decision.json"], 2, "or @FILE with JSON in it; did you mean @decision.json?\n"),
        ([DECISION, "--body", "nowhere.json"], 2, "or @FILE with JSON in it (Expecting value"),
        ([DECISION], 1, "[INVALID_REQUEST] the body is empty; give JSON with --body, --file or stdin\n"),
    ],
)
def test_a_mistaken_submission_is_refused_with_a_suggestion(cli: Cli, words: list[str], code: int, says: str) -> None:
    with open("decision.json", "w", encoding="utf-8") as file:
        json.dump(DECIDED, file)
    outcome = cli("record", "submit", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert says in outcome.err
