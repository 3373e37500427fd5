"""Eight processes submit equal and different payloads at once: one record each, and every observation counted."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any

from contract.records.archive import SAMPLES, capability_of
from support.direct_store import DirectStore
from support.python_process import finish, start
from support.store_truth import events
from support.thorough import complete_or

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

WORKERS = 8
ROUNDS = complete_or(24, 10)
WORKSPACES = ("one", "other")
STATUS = ("planning", "in_progress", "completed", "deployed")
SUBMIT = """
import json, sys
from moss_memory.errors import MossError
from support.store_truth import open_at

def answer(arguments):
    try:
        return store.call("submit_payload", arguments)
    except MossError as error:
        return error.payload()

plan = json.loads(sys.stdin.readline())
with open_at(sys.argv[1]) as store:
    store.call("retrieve_records", {})
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps([answer(arguments) for arguments in plan]))
"""


def unit(identity: str, workspace: str, moment: int, **fields: Any) -> dict[str, Any]:
    """Return a submission about a feature unit, observed `moment` microseconds after a fixed time."""
    return {
        "capability_id": capability_of("feature_unit"),
        "body": {**SAMPLES["feature_unit"], "id": identity, "dependencies": [], **fields},
        "provenance": {"extracted_at": f"2025-12-01T00:00:00.{moment:06d}Z"},
        "workspace": workspace,
    }


def plan_of(worker: int) -> list[dict[str, Any]]:
    """Return the submissions of one process: shared payloads, its own, about a shared entity, shared request ids."""
    plan = []
    for number in range(ROUNDS):
        workspace = WORKSPACES[number % 2]
        plan.append(unit(f"same {number}", workspace, number))
        plan.append(unit(f"own {worker}.{number}", workspace, number))
        moment = number * WORKERS + worker
        item = {"dependencies": [f"{worker}.{number}"], "status": STATUS[moment % 4], "description": f"at {moment}"}
        plan.append(unit("contested", workspace, moment, **item, updated_at=f"2025-11-{1 + moment % 28:02d}"))
        plan.append({**unit(f"asked {number}", workspace, number), "client_request_id": f"request {number}"})
    return plan if worker % 2 else plan[::-1]


def run_all(home: Path, plans: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Return the answers of every process; all start before the first writes."""
    processes = [start(SUBMIT, home) for _ in plans]
    for plan, process in zip(plans, processes, strict=True):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(plan) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(WORKERS) as pool:
        outputs = list(pool.map(lambda process: finish(process, "go\n"), processes))
    return [json.loads(output) for output in outputs]


def entities_of(store: Store, workspace: str) -> dict[str, dict[str, Any]]:
    asked = {"workspace": workspace, "limit": 500, "include_provenance": True}
    found: dict[str, dict[str, Any]] = {}
    page: dict[str, Any] = {"has_more": True, "next_offset": 0}
    while page["has_more"]:  # a page ends early where it would be too large
        answer = store.call("retrieve_entities", {**asked, "offset": page["next_offset"]})
        found.update({entity["snapshot"]["id"]: entity for entity in answer["entities"]})
        page = answer["pagination"]
    return found


def test_eight_processes_leave_one_record_a_payload_and_count_every_observation(store: Store, home: Path) -> None:
    store.call("retrieve_records", {})
    plans = [plan_of(worker) for worker in range(WORKERS)]
    answers = run_all(home, plans)
    sent = [arguments for plan in plans for arguments in plan]
    given = [answer for of_worker in answers for answer in of_worker]
    check_answers(sent, given)
    for number, workspace in enumerate(WORKSPACES):
        rounds = len(range(number, ROUNDS, 2))
        entities = entities_of(store, workspace)
        assert len(entities) == rounds + WORKERS * rounds + 1 + rounds
        expected = {"same": WORKERS, "own": 1, "contested": WORKERS * rounds, "asked": 1}
        for identity, entity in entities.items():
            assert entity["observation_count"] == expected[identity.split()[0]], identity
        check_contested(entities["contested"], sent, workspace)
        asked = {"workspace": workspace, "limit": 1, "include_total_count": True}
        assert store.call("retrieve_records", asked)["total_count"] == rounds * (1 + WORKERS + WORKERS + 1)
        check_timeline(store, sent, workspace)
    check_file(home, given)


def check_answers(sent: list[dict[str, Any]], given: list[dict[str, Any]]) -> None:
    """Assert that each payload was created once, each submission has its own id, each request one answer."""
    records: dict[str, set[str]] = {}
    created: Counter[str] = Counter()
    requests: dict[str, list[dict[str, Any]]] = {}
    single = []
    for arguments, answer in zip(sent, given, strict=True):
        key = json.dumps([arguments["workspace"], arguments["body"]])
        records.setdefault(key, set()).add(answer["payload_id"])
        if "client_request_id" in arguments:
            requests.setdefault(arguments["client_request_id"], []).append(answer)
        else:
            created[key] += answer["created"]
            single.append(answer["payload_submission_id"])
    assert {len(ids) for ids in records.values()} == {1}, "a payload has two records"
    assert len({next(iter(ids)) for ids in records.values()}) == len(records), "two payloads have one record"
    assert set(created.values()) == {1}, "a payload was created twice or never"
    assert len(set(single)) == len(single)
    assert len(requests) == ROUNDS
    for answers in requests.values():
        for answer in answers:
            answer.pop("created_workspace", None)  # only the first call makes it
        assert answers == [answers[0]] * WORKERS, "a request got two answers"
        assert answers[0]["created"] is True


def check_contested(entity: dict[str, Any], sent: list[dict[str, Any]], workspace: str) -> None:
    """Assert that the shared entity is the fold of all submissions in the order of their observation."""
    said = sorted(
        (one for one in sent if one["body"]["id"] == "contested" and one["workspace"] == workspace),
        key=lambda one: str(one["provenance"]["extracted_at"]),
    )
    last = said[-1]["body"]
    items = [item for one in said for item in one["body"]["dependencies"]]
    assert entity["snapshot"] == {**last, "dependencies": items}
    observed = {datetime.fromisoformat(origin["observed_at"]) for origin in entity["provenance"].values()}
    assert observed == {datetime.fromisoformat(said[-1]["provenance"]["extracted_at"])}


def check_timeline(store: Store, sent: list[dict[str, Any]], workspace: str) -> None:
    """Assert that every date of every entity is one event, even if several submissions contain it."""
    here = [one["body"] for one in sent if one["workspace"] == workspace]
    dates = {(body["id"], name, body[name]) for body in here for name in ("created_at", "updated_at")}
    found = store.call("list_timeline_events", {"workspace": workspace, "limit": 500})
    assert found["pagination"]["total"] == len(found["events"]) == len(dates)


def check_file(home: Path, given: list[dict[str, Any]]) -> None:
    """Assert that the file is whole, the index agrees with the rows, and each observation has one row and event."""
    with DirectStore(home) as direct:
        assert direct.problems() == []
        kept = {submission for (submission,) in direct.rows("select submission_id from observations")}
        assert kept == {answer["payload_submission_id"] for answer in given}
    assert Counter(tool for tool, _ in events(home))["submit_payload"] >= len(kept)


def test_of_eight_processes_that_use_one_request_id_for_different_content_one_is_served(
    store: Store, home: Path
) -> None:
    plans = [
        [
            {**unit(f"{number}", "one", worker, description=f"{worker}"), "client_request_id": f"request {number}"}
            for number in range(ROUNDS)
        ]
        for worker in range(WORKERS)
    ]
    answers = run_all(home, plans)
    for number in range(ROUNDS):
        given = [of_worker[number] for of_worker in answers]
        served = [worker for worker, answer in enumerate(given) if "error" not in answer]
        assert len(served) == 1, "a request was served twice or never"
        refused = Counter(answer["error"]["code"] for answer in given if "error" in answer)
        assert refused == {"VALIDATION_ERROR": WORKERS - 1}
        [record] = store.call("retrieve_records", {"properties": {"id": f"{number}"}})["records"]
        assert record["properties"]["description"] == f"{served[0]}"
    assert {entity["observation_count"] for entity in entities_of(store, "one").values()} == {1}
