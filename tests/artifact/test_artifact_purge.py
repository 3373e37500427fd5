"""Purging artifacts leaves none of their bytes in any file of the home."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from artifact.samples import check_artifacts, listed_names, put
from support.cli_typist import Cli
from support.python_process import environment, run

if TYPE_CHECKING:
    from contract.doors import Clock, StoreDoor

SECRETS = (
    "Aqvornimblex", "Bruzelkantoq", "Cwiffleplodz", "Dgorpthanzik", "Evlaxiquoomp", "Fjundrabbolx", "Gkwistlevonq",
    "Hzebruckmand", "Iplovquexart", "Jmaxtrundelk", "Kqenvoblitzu", "Lyrgaspodunx",
)  # fmt: skip
# In a process of its own: reading the files in a process that has them open would drop SQLite's locks. The index
# leaves out the beginning that a word shares with the one before it, so the ends of the words are looked for.
READ_FILES = """
import json, os, pathlib, sys
found = {}
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        content = pathlib.Path(folder, name).read_bytes().lower()
        there = [word for word in sys.argv[2:] if word.lower()[2:].encode() in content]
        if there:
            found[name] = there
print(json.dumps(found))
"""


def on_disk(door: StoreDoor) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(run(READ_FILES, door.home, *SECRETS))
    return found


def store_secrets(door: StoreDoor) -> str:
    """Store an artifact with a unique word in every present and past field, among others."""
    words = iter(SECRETS)
    fields: dict[str, Any] = {
        "name": next(words), "kind": next(words), "data": {next(words): ["filling " * 500, next(words)]},
        "text": "filling " * 300 + next(words), "run_id": next(words), "phase": next(words), "role": next(words),
        "tags": [next(words)],
    }  # fmt: skip
    stored = put(door, **fields)
    for number in range(30):
        put(door, f"other {number}", text=f"ordinary{number} work " * 20, data={"n": "work " * 100})
    later = {"kind": "k", "data": {"n": next(words)}, "text": next(words), "role": next(words)}
    door("artifact_store", name=fields["name"], expected_version=1, **later)
    door("artifact_bulk_update", role=later["role"], set_role="plain")
    return stored


def test_every_field_of_an_artifact_is_on_disk_before_it_is_purged(door: StoreDoor) -> None:
    store_secrets(door)
    assert set().union(*on_disk(door).values()) == set(SECRETS)


def test_a_purge_leaves_no_byte_of_an_artifact(door: StoreDoor) -> None:
    door("artifact_delete", id=store_secrets(door))
    answer = door("artifact_purge")
    assert (answer["purged"], answer["erased"]) == (1, True)
    assert on_disk(door) == {}
    assert len(listed_names(door)) == 30
    door.store.close()
    assert on_disk(door) == {}
    check_artifacts(door.home)


def test_a_purge_leaves_no_byte_of_a_swept_or_bulk_deleted_artifact(door: StoreDoor, clock: Clock) -> None:
    stored = store_secrets(door)
    door("artifact_touch", id=stored, ttl_seconds=10)
    clock.advance(1000)
    assert door("artifact_bulk_delete", workspace="default")["deleted"] == 30
    answer = door("artifact_purge")
    assert (answer["purged"], answer["erased"]) == (31, True)
    assert on_disk(door) == {}
    check_artifacts(door.home)


def test_the_purge_command_for_artifacts_leaves_no_byte_of_them(door: StoreDoor) -> None:
    door("artifact_delete", id=store_secrets(door))
    kept = door("capsule_store", name="c", capsule_text="zebra", allow_thin=True)["id"]
    door("capsule_delete", id=kept)
    cli = Cli(door.home, environment(MOSS_HOME=door.home))
    answer = cli.process("purge", "--type", "artifact", "--older-than", "0d").json
    assert (answer["purged"], answer["erased"]) == (1, True)
    assert on_disk(door) == {}
    assert door("capsule_fetch", id=kept, include_deleted=True)["capsule_text"] == "zebra"


def test_a_purge_of_one_family_does_not_change_another(door: StoreDoor) -> None:
    capsule = door("capsule_store", name="c", capsule_text="zebra", allow_thin=True)["id"]
    artifact = put(door, "a", text="zebra")
    door("capsule_delete", id=capsule)
    door("artifact_delete", id=artifact)
    assert door("artifact_purge")["purged"] == 1
    assert door("capsule_fetch", id=capsule, include_deleted=True)["capsule_text"] == "zebra"
    put(door, "b", text="zebra")
    door("artifact_delete", name="b")
    assert door("capsule_purge")["purged"] == 1
    assert door("artifact_fetch", name="b", include_deleted=True)["text"] == "zebra"
    check_artifacts(door.home)
