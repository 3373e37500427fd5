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
    """A store with what the other version wrote: its own database, or an import of its export."""
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


def test_what_the_previous_version_stored_is_there(store: Store) -> None:
    capsule = store.call("capsule_fetch", {"workspace": "shop", "name": "auth"})
    assert capsule["tags"] == ["jwt"]
    assert store.call("moss_search", {"query": "retries", "workspace": "shop"})["items"]
    assert [one["title"] for one in store.call("tasks_list", {"workspace": "shop"})["items"]] == ["Release", "Write it"]


def test_what_the_previous_version_stored_can_be_changed(store: Store) -> None:
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "Sign-in"})
    assert store.call("capsule_fetch", {"workspace": "shop", "name": "auth"})["title"] == "Sign-in"
    store.call("tasks_create", {"workspace": "shop", "kind": "plan", "title": "Next"})
