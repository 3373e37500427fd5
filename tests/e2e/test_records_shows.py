"""Records end to end: the document's requests, later questions, and an unavailable store."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.records.archive import SAMPLES, TYPES, capability_of
from contract.records.test_record_examples import (
    BY_STATUS,
    OF_A_RECORD,
    RECENT,
    RELEASE_ENTITIES,
    RELEASES,
    SEARCHED,
    SESSIONS,
    SUBMITTED,
    UNIT_ENTITIES,
)  # fmt: skip
from e2e.agent import MOSS, Agent
from e2e.months_later import AMONG_FIVE, RECORDS, RIGHT_FIRST, TOO_FAR
from moss_memory.tools.record.spool import COLLECTIONS
from support.timeouts import TIMEOUT_S

QUERIES = [
    ("retrieve_records", BY_STATUS), ("retrieve_records", RELEASES), ("retrieve_records", SESSIONS),
    ("retrieve_records", SEARCHED), ("retrieve_entities", UNIT_ENTITIES), ("retrieve_entities", RELEASE_ENTITIES),
    ("list_timeline_events", RECENT), ("list_timeline_events", OF_A_RECORD),
]  # fmt: skip
"""Every query in the document."""

ANSWERS = {
    "submit_payload": """{
      "payload_id": "string (UUID)",
      "payload_content_id": "string (hash-based)",
      "payload_submission_id": "string (UUIDv7)",
      "created": "boolean",
      "message": "string"
    }""",
    "retrieve_records": """{
      "records": [{"id": "string", "type": "string", "properties": {}, "created_at": "string", "updated_at": "string"}],
      "total_count": "number (optional)"
    }""",
    "retrieve_entities": """{
      "entities": [{"entity_id": "string", "entity_type": "string", "snapshot": {}, "observation_count": "number"}]
    }""",
    "list_timeline_events": """{
      "events": [{
        "event_id": "string", "event_type": "string", "event_timestamp": "string", "source_record_id": "string",
        "entity_ids": ["array<string>"]
      }]
    }""",
}
"""The response schemas of the document, unchanged."""

NO_NETWORK = """
import os, sys

def _refuse(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname") or (
        event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple)
    ):
        with open(os.environ["ATTEMPTS"], "a") as file:
            file.write(f"{event} {arguments}\\n")
        raise OSError("the network is cut off")

sys.addaudithook(_refuse)
with open(os.environ["ATTEMPTS"] + "-refused", "a") as file:
    file.write(f"{os.getpid()}\\n")
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Agent]]:
    """Start clients of one store and stop them after the test."""
    started: list[Agent] = []

    def start_one() -> Agent:
        started.append(Agent(tmp_path / "home"))
        return started[-1]

    yield start_one
    for agent in started:
        agent.leaves()


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Deny the network to every started Python process, and assert that none tried to use it."""
    attempts = tmp_path / "attempts"
    folder = tmp_path / "offline"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(NO_NETWORK)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("ATTEMPTS", str(attempts))
    yield attempts
    assert not attempts.exists(), attempts.read_text()


def moss(home: Path, *words: str) -> dict[str, Any]:
    """Run a command and return its answer."""
    done = _typed(home, *words)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def _typed(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MOSS, *words],
        env={**os.environ, "MOSS_HOME": str(home)},
        cwd=home.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )


def submit_all(agent: Agent) -> dict[str, str]:
    """Submit every recorded fact and return the subject of each record, by id."""
    about = {}
    for name, (kind, body) in RECORDS.items():
        answer = agent.send("submit_payload", json.dumps({"capability_id": capability_of(kind), "body": body}))
        about[answer["payload_id"]] = name
    assert len(about) == len(RECORDS) >= 25
    return about


def misfits(shown: Any, said: Any, path: str = "answer") -> list[str]:
    """Return the paths where an answer does not match a schema; additional fields are allowed."""
    if isinstance(said, dict):
        if not isinstance(shown, dict):
            return [path]
        needed = {name: part for name, part in said.items() if name in shown or "(optional)" not in part}
        return [one for name, part in needed.items() for one in misfits(shown.get(name), part, f"{path}.{name}")]
    if isinstance(said, list):
        if not isinstance(shown, list):
            return [path]
        item = "string" if said == ["array<string>"] else said[0]
        return [one for at, part in enumerate(shown) for one in misfits(part, item, f"{path}[{at}]")]
    return [] if _is(shown, said) else [path]


def _is(shown: Any, said: str) -> bool:
    kind, _, form = said.partition(" ")
    if kind == "number":
        return isinstance(shown, int) and not isinstance(shown, bool)
    if kind == "boolean":
        return isinstance(shown, bool)
    if not isinstance(shown, str) or not shown:
        return False
    if form == "(hash-based)":
        return re.fullmatch("[0-9a-f]{64}", shown) is not None
    if form in ("(UUID)", "(UUIDv7)"):
        return str(uuid.UUID(shown)) == shown and uuid.UUID(shown).version == (7 if form == "(UUIDv7)" else 5)
    return True


def test_the_requests_of_the_document_have_answers_of_the_documented_fields_and_types(
    start: Callable[[], Agent],
) -> None:
    agent = start()
    for kind in TYPES:
        agent.send("submit_payload", json.dumps({"capability_id": capability_of(kind), "body": SAMPLES[kind]}))
    named = {**SAMPLES["codebase_entity"], "name": "Authentication gate"}
    agent.send("submit_payload", json.dumps({"capability_id": capability_of("codebase_entity"), "body": named}))
    answer = agent.send("submit_payload", SUBMITTED)
    assert misfits(answer, json.loads(ANSWERS["submit_payload"])) == []
    assert answer["created"] is True
    asked = json.dumps({**json.loads(OF_A_RECORD), "source_record_id": answer["payload_id"]})
    counted = json.dumps({**json.loads(BY_STATUS), "include_total_count": True})
    for tool, request in (*QUERIES, ("list_timeline_events", asked), ("retrieve_records", counted)):
        found = agent.send(tool, request)
        assert misfits(found, json.loads(ANSWERS[tool])) == [], request
        [name] = [name for name in ("records", "entities", "events") if name in found]
        assert bool(found[name]) == (request != OF_A_RECORD), request
        assert ("total_count" in found) == (request == counted)


def test_a_schema_of_the_document_does_not_match_everything() -> None:
    said = json.loads(ANSWERS["retrieve_entities"])
    good = {"entity_id": "ent_1", "entity_type": "release", "snapshot": {}, "observation_count": 1}
    assert misfits({"entities": [good, good], "more": 1}, said) == []
    assert misfits({"entities": [{**good, "observation_count": "1"}]}, said) == ["answer.entities[0].observation_count"]
    assert misfits({"entities": [{**good, "snapshot": None}]}, said) == ["answer.entities[0].snapshot"]
    assert misfits({}, said) == ["answer.entities"]
    assert not _is("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "string (UUIDv7)")


@pytest.mark.parametrize(
    ("tool", "request_as_written", "code"),
    [
        ("submit_payload", SUBMITTED.replace('"completed"', '"done"'), "VALIDATION_ERROR"),
        ("submit_payload", SUBMITTED.replace('"status"', '"state"'), "VALIDATION_ERROR"),
        ("submit_payload", SUBMITTED.replace("feature_unit:v1", "feature_unit:v9"), "UNKNOWN_CAPABILITY"),
        ("retrieve_records", BY_STATUS.replace('"limit": 20', '"limit": "20"'), "VALIDATION_ERROR"),
        ("retrieve_records", SEARCHED.replace('"both"', '"fuzzy"'), "VALIDATION_ERROR"),
        ("retrieve_entities", UNIT_ENTITIES.replace("limit", "limits"), "VALIDATION_ERROR"),
        ("list_timeline_events", RECENT.replace("2025-12-01T00:00:00Z", "last week"), "VALIDATION_ERROR"),
    ],
)
def test_an_invalid_request_is_refused_with_a_code_of_the_table(
    start: Callable[[], Agent], tool: str, request_as_written: str, code: str
) -> None:
    error = start().send(tool, request_as_written)["error"]
    assert (error["code"], error["status"]) == (code, 400)


def test_failures_of_the_store_are_reported_and_the_same_requests_work_after_its_return(
    start: Callable[[], Agent], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.write_text("no folder")
    agent = start()
    error = agent.send("submit_payload", SUBMITTED)["error"]
    assert (error["code"], error["status"]) == ("DB_INSERT_FAILED", 500)
    for tool, request in QUERIES:
        error = agent.send(tool, request)["error"]
        assert (error["code"], error["status"]) == ("DB_QUERY_FAILED", 500), request
    home.unlink()
    assert agent.send("submit_payload", SUBMITTED)["created"] is True
    assert len(agent.send("retrieve_records", BY_STATUS)["records"]) == 1


def test_paraphrased_questions_find_the_right_record_first_without_a_network(
    start: Callable[[], Agent], offline: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    agent = start()
    about = submit_all(agent)
    assert moss(home, "index")["pending"] == 0
    assert {RECORDS[name][0] for name in RIGHT_FIRST.values()} > {"agent_decision", "agent_session", "feature_unit"}

    def names(answer: dict[str, Any]) -> list[str]:
        assert not {"degraded", "pending"} & answer.keys()
        return [about[record["id"]] for record in answer["records"]]

    firsts = {}
    for question, right in {**RIGHT_FIRST, **AMONG_FIVE}.items():
        found = names(agent.send("retrieve_records", json.dumps({"search": [question]})))
        assert right in found[:5], (question, found)
        firsts[question] = found[0]
    assert names(agent.send("retrieve_records", json.dumps({"search": [TOO_FAR]}))) == []
    # The order is by scores that were fixed on other sets; that it is nearly always right is what is promised here.
    assert sum(firsts[question] == right for question, right in RIGHT_FIRST.items()) >= 10
    for question in RIGHT_FIRST:
        assert names(moss(home, "record", "find", question, "--limit", "1")) == [firsts[question]]
    assert len(Path(f"{offline}-refused").read_text().splitlines()) == 2 + len(RIGHT_FIRST)


def test_the_network_is_blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("ATTEMPTS", str(tmp_path / "attempts"))
    for attempt in ("socket.create_connection(('127.0.0.1', 9))", "socket.getaddrinfo('localhost', 9)"):
        done = subprocess.run([sys.executable, "-c", f"import socket; {attempt}"], capture_output=True, text=True)
        assert "the network is cut off" in done.stderr
    assert len((tmp_path / "attempts").read_text().splitlines()) == 2


KEPT_WHILE_AWAY = """
import json, sys
from moss_memory import open_store
from moss_memory.tools.record.spool import submit_or_spool

with open_store() as store:
    for collection, body in json.load(sys.stdin):
        print(json.dumps(submit_or_spool(store, collection, body)))
"""


def _keep(home: Path, bodies: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Run the helper in a process in the folder above the home and return its answer."""
    done = subprocess.run(
        [sys.executable, "-c", KEPT_WHILE_AWAY],
        input=json.dumps(bodies),
        env={**os.environ, "MOSS_HOME": str(home)},
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_records_kept_while_the_store_was_unavailable_are_migrated_and_verified(
    start: Callable[[], Agent], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.write_text("no folder")
    kinds = {capability: collection for collection, capability in COLLECTIONS.items()}
    bodies = [(kinds[capability_of(kind)], body) for kind, body in RECORDS.values()]
    assert {collection for collection, _ in bodies} == set(COLLECTIONS)
    kept = [answer["kept"] for answer in _keep(home, bodies)]
    assert len(set(kept)) == len(RECORDS)
    assert {os.path.dirname(path) for path in kept} == {f".cursor/memory/{collection}" for collection in COLLECTIONS}
    away = _typed(home, "record", "migrate", ".cursor/memory")
    assert (away.returncode, len(json.loads(away.stdout)["failed"])) == (1, len(RECORDS))

    home.unlink()
    assert "created" in _keep(home, [("feature_units", SAMPLES["feature_unit"])])[0]
    report = {"files": len(kept), "failed": [], "dry_run": False, "verified": len(kept)}
    dry = moss(home, "record", "migrate", ".cursor/memory", "--dry-run")
    assert dry == {**report, "migrated": len(kept), "already_there": 0, "verified": 0, "dry_run": True}
    done = moss(home, "record", "migrate", ".cursor/memory")
    assert done == {**report, "migrated": len(kept), "already_there": 0}

    agent = start()
    for path in kept:
        body = json.loads((tmp_path / path).read_text(encoding="utf-8"))
        kind = COLLECTIONS[path.split("/")[2]].split(":")[1].removeprefix("store_")
        plain = {name: value for name, value in body.items() if not isinstance(value, (dict, list))}
        found = agent.send("retrieve_records", json.dumps({"type": kind, "properties": plain}))["records"]
        assert [record["properties"] for record in found] == [body], path

    everything = json.dumps({"limit": 500})
    before = [agent.send(tool, everything) for tool in ANSWERS if tool != "submit_payload"]
    again = moss(home, "record", "migrate", ".cursor/memory")
    assert again == {**report, "migrated": 0, "already_there": len(kept)}
    assert [agent.send(tool, everything) for tool in ANSWERS if tool != "submit_payload"] == before
