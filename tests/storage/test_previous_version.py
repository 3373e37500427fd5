"""A database and an export that version 0.1.0 wrote are opened by this one."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from moss_memory import Store, open_store

WRITTEN = Path(__file__).parent / "version_0_1_0"

pytestmark = pytest.mark.sqlite  # the database is a file of SQLite


@pytest.fixture(params=["database", "export"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return a store written by the previous version: its own database, or an import of its export."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    if request.param == "database":
        (home / "moss.db").write_bytes(gzip.decompress((WRITTEN / "moss.db.gz").read_bytes()))
    else:
        shutil.copytree(WRITTEN / "export", home / "exports" / "all")
    with open_store(str(home)) as opened:
        if request.param == "export":
            opened.import_folder(str(home / "exports" / "all"))
        yield opened


def test_rows_of_the_previous_version_are_readable(store: Store) -> None:
    capsule = store.call("capsule_fetch", {"workspace": "shop", "name": "auth"})
    assert capsule["tags"] == ["jwt"]
    assert store.call("moss_search", {"query": "retries", "workspace": "shop"})["items"]
    assert [one["title"] for one in store.call("tasks_list", {"workspace": "shop"})["items"]] == ["Release", "Write it"]


def test_rows_of_the_previous_version_can_be_changed(store: Store) -> None:
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "Sign-in"})
    assert store.call("capsule_fetch", {"workspace": "shop", "name": "auth"})["title"] == "Sign-in"
    store.call("tasks_create", {"workspace": "shop", "kind": "plan", "title": "Next"})


def test_rows_of_the_previous_version_have_no_actor_and_no_code_state(store: Store) -> None:
    """The author of the versions and events of an import is the importer, that of the database's is unknown."""
    fetched = store.call("capsule_fetch", {"workspace": "shop", "name": "auth"})
    assert "saved_in" not in fetched
    assert "freshness" not in fetched
    events = store.call("tasks_delta", {"workspace": "shop"})["events"]
    assert events
    assert not [event for event in events if event.get("by")]
    items = store.call("moss_freshness", {"workspace": "shop"})["items"]
    assert {item["freshness"]["why"] for item in items} == {"no commit is known at which it was saved"}
    changes = store.call("moss_changes", {"after": 0})["changes"]
    assert {change.get("by") for change in changes} <= {None, "python"}
    history = {"type": "capsule", "workspace": "shop", "name": "auth"}
    assert {one.get("by") for one in store.call("moss_history", history)["versions"]} <= {None, "python"}
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "Sign-in"})
    assert store.call("moss_history", history)["versions"][0]["by"] == "python"
