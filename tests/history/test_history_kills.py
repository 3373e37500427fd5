"""A writer killed during a change leaves the old version or the new one, and every version before it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from artifact.samples import check_artifacts
from support.killing import kill_in_the_middle, some_of, writer_with
from support.store_truth import capsule, open_at

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 16
STEPS = 30
WORK = writer_with(
    "tools.capsule.capsule_tools",
    "tools.capsule.capsule_bulk",
    "tools.artifact.artifact_tools",
    "tools.everything.version_tools",
)


def plan(first: int) -> list[tuple[str, dict[str, Any]]]:
    """Return changes of one capsule and one artifact in turn; each text contains its own number."""
    steps: list[tuple[str, dict[str, Any]]] = []
    for number in range(first, first + STEPS, 4):
        steps += [
            ("capsule_store", {"name": "c", "mode": "replace", "capsule_text": capsule(f"store {number} " * 100)}),
            (
                "artifact_store",
                {"name": "a", "kind": "k", "data": {"n": number}, "text": "x " * 2000, "mode": "replace"},
            ),
            ("capsule_bulk_update", {"workspace": "default", "set_phase": f"phase {number}"}),
            ("moss_revert", {"type": "artifact", "name": "a", "version": 1}),
        ]
    return steps


def test_a_killed_change_leaves_the_old_version_or_the_new_one(home: Path) -> None:
    chance = random.Random(13)  # noqa: S311
    with open_at(home) as store:
        store.call("capsule_store", {"name": "c", "capsule_text": capsule()})
        store.call("artifact_store", {"name": "a", "kind": "k", "data": {"n": -1}})
    known = {"c": 1, "a": 1}
    for number in range(KILLS):
        steps = plan(100 * number)
        done = kill_in_the_middle(WORK, home, steps, some_of(10, chance)).count(b"a")
        tools = [tool for tool, _ in steps[:done]]
        capsules = sum(tool.startswith("capsule") for tool in tools)
        known["c"] = check_versions(home, "capsule", "c", known["c"] + capsules)
        known["a"] = check_versions(home, "artifact", "a", known["a"] + done - capsules)
    check_artifacts(home)


def check_versions(home: Path, type: str, name: str, acknowledged: int) -> int:
    """Assert that the current version is the acknowledged one or the next, and all before it can be read; return it."""
    with open_at(home) as store:
        answer = store.call("moss_history", {"type": type, "name": name, "limit": 100})
        current: int = answer["current"]
        assert current - acknowledged in (0, 1)
        listed = [version["version"] for version in answer["versions"]]
        assert listed == list(range(current, max(current - 100, 0), -1))
        for version in listed[:5]:
            old = store.call(f"{type}_fetch", {"name": name, "version": version})
            assert old["version"] == version
        return current
