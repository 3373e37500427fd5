"""A store from before versions keeps every row; the present content becomes each row's first known version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from support.old_store import make_old
from support.store_truth import check_truth

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def old(home: str, clock: Clock) -> StoreDoor:
    """Return a door into a store whose schema had no versions of capsules and kept none of artifacts."""
    with open_test_store(home, clock) as store:
        door = StoreDoor(store)
        door("capsule_store", name="a", capsule_text=FULL)
        clock.advance(10)
        door("capsule_update", name="a", title="T")
        door("capsule_store", name="gone", capsule_text=FULL)
        door("capsule_delete", name="gone")
        for number in (1, 2, 3):
            door("artifact_store", name="a", kind="k", data={"n": number}, mode="replace")
    make_old(home, 7)
    return StoreDoor(open_test_store(home, clock))


def test_the_first_version_of_an_older_row_is_its_present_content(old: StoreDoor, clock: Clock) -> None:
    begun = clock.seconds
    clock.advance(1000)
    capsule = old("moss_history", type="capsule", name="a")
    assert [(one["version"], one["at"], one["tool"]) for one in capsule["versions"]] == [(1, begun, "capsule_store")]
    assert old("capsule_fetch", name="a", as_of=begun)["title"] == "T"
    artifact = old("moss_history", type="artifact", name="a")
    assert (artifact["current"], artifact["pagination"]["total"]) == (3, 1)
    assert artifact["versions"][0]["change"] == "changed; the previous version was deleted"
    error = old.refuses("NOT_FOUND", "artifact_fetch", name="a", version=2)
    assert error.details == {"oldest": 3, "newest": 3}
    old.store.close()


def test_rows_from_before_versions_are_versioned_from_then_on(old: StoreDoor, home: Path) -> None:
    assert old("capsule_update", name="a", title="U")["version"] == 2
    assert old("capsule_fetch", name="a", version=1)["title"] == "T"
    assert old("artifact_store", name="a", kind="k", data={}, mode="replace")["version"] == 4
    assert old("moss_revert", type="artifact", name="a", version=3)["version"] == 5
    assert old("artifact_fetch", name="a")["data"] == {"n": 3}
    assert old("capsule_restore", name="gone")["restored"] is True
    old("capsule_delete", name="a")
    assert old("capsule_purge")["purged"] == 1
    old.store.close()
    check_truth(home)
