"""Eight processes read, change and write one artifact: one of them wins each version, no write is lost or repeated."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from artifact.samples import check_artifacts
from support.python_process import finish, start
from support.store_truth import events, open_at

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

WORKERS = 8
TRIES = 40
NAMES = 10
# Each try reads the artifact, adds itself to the data and writes with the version it read.
READ_MODIFY_WRITE = """
import json, sys
from moss_memory.errors import MossError
from support.store_truth import open_at
home, worker, tries, names = sys.argv[1], *map(int, sys.argv[2:5])
won, lost, created = [], [], []
with open_at(home) as store:
    store.call("artifact_list", {})
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(tries):
        now = store.call("artifact_fetch", {"name": "contested"})
        if number % 4 == worker % 4:
            store.call("artifact_touch", {"name": "contested", "ttl_seconds": 9999})
        data = {**now["data"], "sum": now["data"]["sum"] + 1, "last": [worker, number]}
        try:
            answer = store.call("artifact_store", {
                "name": "contested", "kind": "k", "data": data, "expected_version": now["version"],
                "text": f"version{now['version'] + 1}",
            })
            won.append(answer["version"])
        except MossError as error:
            lost.append([error.code, error.details["expected"], error.details["actual"]])
        if number < names:
            try:
                new = store.call("artifact_store", {"name": f"Name {number}", "kind": "k", "data": {}})
                created.append(new["name"])
            except MossError as error:
                lost.append([error.code, 0, 1])
print(json.dumps({"won": won, "lost": lost, "created": created}))
"""


def race(home: Path) -> list[dict[str, Any]]:
    """Return the wins and losses of each process; all start before the first writes."""
    processes = [start(READ_MODIFY_WRITE, home, worker, TRIES, NAMES) for worker in range(WORKERS)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(WORKERS) as pool:
        outputs = list(pool.map(lambda process: finish(process, "go\n"), processes))
    return [json.loads(output) for output in outputs]


def test_of_eight_racing_processes_one_wins_each_version(store: Store, home: Path) -> None:
    store.call("artifact_store", {"name": "contested", "kind": "k", "data": {"sum": 0}})
    answers = race(home)
    won = sorted(version for answer in answers for version in answer["won"])
    assert won == list(range(2, len(won) + 2)), "a version has no winner or two"
    final = store.call("artifact_fetch", {"name": "contested"})
    assert final["version"] == len(won) + 1
    assert final["data"]["sum"] == len(won)
    assert final["text"] == f"version{final['version']}"
    lost = [tuple(loss) for answer in answers for loss in answer["lost"]]
    codes = Counter(code for code, *_ in lost)
    assert set(codes) == {"VERSION_MISMATCH", "NAME_ALREADY_EXISTS"}
    assert len(won) + codes["VERSION_MISMATCH"] == WORKERS * TRIES
    assert all(actual > expected for _, expected, actual in lost), "an update was refused at its own version"
    created = Counter(name for answer in answers for name in answer["created"])
    assert created == Counter(f"Name {number}" for number in range(NAMES))
    logged = Counter(tool for tool, _ in events(home))
    assert logged == {"artifact_store": 1 + len(won) + NAMES, "artifact_touch": WORKERS * TRIES // 4}
    check_artifacts(home)


def test_of_two_updates_of_one_version_one_wins_and_the_other_sees_it(home: Path) -> None:
    with open_at(home) as one, open_at(home) as other:
        one.call("artifact_store", {"name": "a", "kind": "k", "data": {"by": "nobody"}})
        update = {"name": "a", "kind": "k", "expected_version": 1}
        with ThreadPoolExecutor(2) as pool:
            attempts = [
                pool.submit(attempt, store, {**update, "data": {"by": name}})
                for store, name in ((one, "one"), (other, "other"))
            ]
            codes = sorted(future.result() for future in attempts)
        assert codes == ["VERSION_MISMATCH", "won"]
        final = other.call("artifact_fetch", {"name": "a"})
        assert final == one.call("artifact_fetch", {"name": "a"})
        assert final["version"] == 2
        assert final["data"]["by"] in ("one", "other")


def attempt(store: Store, arguments: dict[str, Any]) -> str:
    from moss_memory.errors import MossError

    try:
        store.call("artifact_store", arguments)
    except MossError as error:
        return error.code
    return "won"
