"""A purge removes every version: no byte of any version of a row stays in any file of the home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import check_artifacts
from storage.test_purge import on_disk
from support.direct_store import rows
from support.store_truth import capsule, open_at

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

TYPES = ("capsule", "artifact")
WORDS = (
    "Aqvornimblex", "Bruzelkantoq", "Cwiffleplodz", "Dgorpthanzik", "Evlaxiquoomp", "Fjundrabbolx", "Gkwistlevonq",
    "Hzebruckmand", "Iplovquexart",
)  # fmt: skip
NAME, *SECRETS = WORDS


def content(type: str, words: list[str]) -> dict[str, Any]:
    """Return content with one word in the text and one in the metadata; the text is long enough for its own pages."""
    text, label = words
    if type == "capsule":
        return {"capsule_text": capsule("filling " * 100 + text), "title": label, "phase": label}
    return {"kind": "k", "data": {"deep": ["filling " * 900, text]}, "text": text, "phase": label, "tags": [label]}


def store_versions(store: Store, type: str, *, name: str, words: list[str]) -> str:
    """Store a row with four versions, each with two words of its own, and with earlier names; return its id."""
    stored = ""
    for place in range(0, 8, 2):
        arguments = {"workspace": "before", "name": name, "mode": "replace", **content(type, words[place : place + 2])}
        stored = store.call(f"{type}_store", arguments)["id"]
    store.call("moss_rename", {"type": type, "id": stored, "new_name": "plain", "new_workspace": "default"})
    version = store.call("moss_history", {"type": type, "id": stored})["versions"][-1]["version"]
    store.call("moss_revert", {"type": type, "id": stored, "version": version})
    plain = content(type, ["plain", "plain"])
    store.call(f"{type}_store", {"name": "plain", "mode": "replace", **plain})
    return str(stored)


@pytest.mark.parametrize("type", TYPES)
def test_old_versions_are_on_disk_until_they_are_purged(home: Path, type: str) -> None:
    with open_at(home) as store:
        store_versions(store, type, name=NAME, words=SECRETS)
    assert set().union(*on_disk(home, *WORDS).values()) == set(WORDS)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("closed_before", [False, True])
def test_a_purge_leaves_no_byte_of_any_version(home: Path, type: str, closed_before: bool) -> None:
    with open_at(home) as store:
        stored = store_versions(store, type, name=NAME, words=SECRETS)
        if closed_before:
            store.close()
        store.call(f"{type}_delete", {"id": stored})
        answer = store.call(f"{type}_purge", {})
        assert (answer["purged"], answer["erased"]) == (1, True)
        assert on_disk(home, *WORDS) == {}
        assert rows(str(home), "select count(*) from versions") == [(0,)]
    check_artifacts(home)


@pytest.mark.parametrize("type", TYPES)
def test_a_purge_leaves_no_byte_of_versions_dropped_before(home: Path, type: str) -> None:
    with open_at(home, history_keep=2) as store:
        kept = store_versions(store, type, name=NAME, words=SECRETS)
        store.call(f"{type}_store", {"name": "other", **content(type, ["plain", "plain"])})
        store.call(f"{type}_delete", {"name": "other"})
        assert store.call(f"{type}_purge", {})["erased"] is True
        assert on_disk(home, *SECRETS[:4]) == {}
        assert store.call(f"{type}_fetch", {"id": kept})["id"] == kept


@pytest.mark.parametrize("type", TYPES)
def test_a_purge_leaves_the_versions_of_other_rows_alone(home: Path, type: str) -> None:
    other = next(one for one in TYPES if one != type)
    with open_at(home) as store:
        stored = store_versions(store, type, name=NAME, words=SECRETS)
        store.call("moss_rename", {"type": type, "id": stored, "new_name": "renamed"})
        kept = [store_versions(store, family, name=f"other {family}", words=SECRETS) for family in (type, other)]
        before = [
            store.call("moss_history", {"type": family, "id": one})
            for family, one in zip((type, other), kept, strict=True)
        ]
        store.call(f"{type}_delete", {"id": stored})
        assert store.call(f"{type}_purge", {})["purged"] == 1
        assert before == [
            store.call("moss_history", {"type": family, "id": one})
            for family, one in zip((type, other), kept, strict=True)
        ]
        assert store.call(f"{type}_fetch", {"id": kept[0], "version": 2})["version"] == 2
    check_artifacts(home)
