"""The answers of purging and erasing on a server name the extent of the erasure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contract.doors import FULL

if TYPE_CHECKING:
    from contract.doors import StoreDoor


def test_a_purge_reports_the_database_alone(door: StoreDoor) -> None:
    door("capsule_store", workspace="w", name="a", capsule_text=FULL)
    door("capsule_delete", workspace="w", name="a")
    assert door("capsule_purge", dry_run=True)["scope"] == "database", "it is said before"
    purged = door("capsule_purge")
    assert (purged["purged"], purged["erased"], purged["scope"]) == (1, True, "database")
    door("artifact_store", workspace="w", name="b", kind="k", data={"x": 1})
    door("artifact_delete", workspace="w", name="b")
    purged = door("artifact_purge")
    assert (purged["purged"], purged["erased"], purged["scope"]) == (1, True, "database")
    assert door("branchmind_purge")["scope"] == "database"


def test_erasing_one_row_reports_the_database_alone(door: StoreDoor) -> None:
    door("capsule_store", workspace="w", name="a", capsule_text=FULL)
    assert door("moss_erase", type="capsule", workspace="w", name="a", dry_run=True)["scope"] == "database"
    erased = door("moss_erase", type="capsule", workspace="w", name="a")
    assert (erased["complete"], erased["scope"]) == (True, "database")
