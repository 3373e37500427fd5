"""Several processes change one capsule at its expected version: one wins each version, and every version is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from support.python_process import race
from support.store_truth import capsule, check_truth, open_at

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 20
# Each round both read the same version, wait for each other, and then both change it.
CONTEST = """
import json, sys
from moss_memory.errors import MossError
from support.store_truth import capsule, open_at
home, worker, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
won, lost = [], []
with open_at(home) as store:
    store.call("capsule_list", {})
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(rounds):
        version = store.call("capsule_fetch", {"name": "contested"})["version"]
        text = capsule(f"{worker} {number}")
        calls = [
            ("capsule_store", {"capsule_text": text, "mode": "replace", "source": f"{worker} {number}"}),
            ("capsule_update", {"source": f"{worker} {number}"}),
            ("capsule_append", {"section": "Decisions", "content": f"{worker} {number}"}),
        ]
        tool, arguments = calls[number % 3]
        try:
            answer = store.call(tool, {"name": "contested", "expected_version": version, **arguments})
            won.append([answer["version"], tool])
        except MossError as error:
            assert error.code == "VERSION_MISMATCH", error
            assert error.details["expected"] == version < error.details["actual"]
            lost.append(version)
print(json.dumps({"won": won, "lost": lost}))
"""


def test_of_racing_processes_one_wins_each_version_and_all_are_kept(home: Path) -> None:
    with open_at(home) as store:
        store.call("capsule_store", {"capsule_text": capsule(), "name": "contested"})
    answers = race([(CONTEST, home, worker, ROUNDS) for worker in range(4)])
    won = sorted([tuple(win) for answer in answers for win in answer["won"]])
    assert [version for version, _ in won] == list(range(2, len(won) + 2)), "a version has no winner or two"
    assert len(won) + sum(len(answer["lost"]) for answer in answers) == 4 * ROUNDS
    with open_at(home) as store:
        history = store.call("moss_history", {"type": "capsule", "name": "contested", "limit": 100})
        assert history["current"] == len(won) + 1
        found = [(version["version"], version["tool"]) for version in history["versions"]]
        assert found == [*won[::-1], (1, "capsule_store")]
        for version, _ in found:
            old = store.call("capsule_fetch", {"name": "contested", "version": version})
            assert json.dumps(old["version"]) == str(version)
    check_truth(home)


def test_of_two_changes_of_one_version_exactly_one_wins(home: Path) -> None:
    with open_at(home) as store:
        store.call("capsule_store", {"capsule_text": capsule(), "name": "contested"})
        for worker in ("one", "other"):
            store.call("capsule_append", {"name": "contested", "section": "Decisions", "content": worker})
    script = """
import json, sys
from moss_memory.errors import MossError
from support.store_truth import open_at
with open_at(sys.argv[1]) as store:
    store.call("capsule_list", {})
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        store.call("moss_revert", {"type": "capsule", "name": "contested", "version": 1, "expected_version": 3})
        print(json.dumps("won"))
    except MossError as error:
        print(json.dumps(error.code))
"""
    assert sorted(race([(script, home), (script, home)])) == ["VERSION_MISMATCH", "won"]
