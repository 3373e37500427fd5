"""Sync of the code state of capsules and cards, and of the actors of entries, through a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL, Clock, open_test_store
from moss_memory import Store
from moss_memory.cli.commands.current_workspace import project_of
from moss_memory.storage import origin
from support.repositories import Repository

TEXT = f"{FULL}\n\nTokens live in `src/auth/session.py:42`, see src/db.py."
AUTH = {"workspace": "memory", "name": "auth"}
NOTHING = dict.fromkeys(("taken", "written", "deleted", "restored", "erased"), 0)


class Machine:
    """A home and a clone of the repository; its calls run inside the clone."""

    def __init__(self, place: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.clone = Repository(place / name / "shop", init=False)
        self.store = open_test_store(str(place / f"home {name}"), clock, records_work_tree=True)
        self._enter = monkeypatch.chdir
        self._folder = str(place / "memory")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self._enter(self.clone.folder)
        origin._cache.clear()  # another machine has another process
        return self.store.call(tool, arguments)

    def sync(self) -> dict[str, Any]:
        self._enter(self.clone.folder)
        told = self.store.sync(self._folder)
        assert not told["conflicts"]
        return {name: told[name] for name in NOTHING}

    def code(self) -> tuple[str, str]:
        answer = self.call("capsule_fetch", **AUTH)
        return answer["saved_in"]["commit"], answer["freshness"]["state"]


@pytest.fixture
def machines(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Machine, Machine]]:
    shared = Repository(tmp_path / "shop.git")
    shared.commit({"src/auth/session.py": "1\n", "src/db.py": "2\n"})
    for name in ("a", "b"):
        shared.git("clone", "-q", str(shared.folder), str(tmp_path / name / "shop"))
    a, b = (Machine(tmp_path, clock, monkeypatch, name) for name in ("a", "b"))
    with a.store, b.store:
        a.call("capsule_store", capsule_text=TEXT, **AUTH)
        yield a, b


def test_a_synced_capsule_keeps_its_staleness(machines: tuple[Machine, Machine]) -> None:
    a, b = machines
    saved = a.clone.head
    a.sync()
    b.clone.commit({"src/db.py": "other\n"})
    assert b.sync() == {**NOTHING, "taken": 1}
    assert b.code() == (saved, "drifted")
    a.call("capsule_append", section="Next actions", content="more", **AUTH)
    a.sync()
    assert b.sync() == {**NOTHING, "taken": 1}
    assert b.code() == (saved, "drifted")
    assert (a.sync(), b.sync()) == (NOTHING, NOTHING)


def test_a_confirmation_travels_and_makes_no_version(machines: tuple[Machine, Machine]) -> None:
    a, b = machines
    a.sync()
    b.sync()
    b.clone.commit({"src/db.py": "other\n"})
    b.call("moss_confirm", **AUTH)
    assert b.sync() == {**NOTHING, "written": 1}
    assert a.sync() == {**NOTHING, "taken": 1}
    assert a.call("capsule_fetch", **AUTH)["saved_in"]["commit"] == b.clone.head
    assert [m.call("capsule_fetch", **AUTH)["version"] for m in machines] == [1, 1]
    assert (b.sync(), a.sync()) == (NOTHING, NOTHING)


def test_equal_text_saved_at_two_commits_is_one_capsule(machines: tuple[Machine, Machine]) -> None:
    a, b = machines
    b.clone.commit({"README.md": "x\n"})
    b.call("capsule_store", capsule_text=TEXT, **AUTH)
    a.sync()
    assert b.sync() == NOTHING
    assert (a.sync(), b.sync()) == (NOTHING, NOTHING)
    assert a.code()[0] == b.code()[0] == a.clone.head
    assert b.call("capsule_fetch", **AUTH)["version"] == 1


def test_a_file_without_code_state_counts_from_the_present_commit(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    a, b = machines
    a.sync()
    (file,) = (tmp_path / "memory" / "capsules" / "memory").iterdir()
    file.write_text(f"By hand.\n\n{TEXT}")
    b.clone.commit({"README.md": "x\n"})
    assert b.sync() == {**NOTHING, "taken": 1}
    assert b.code() == (b.clone.head, "fresh")


@pytest.mark.parametrize("saved_in", ['"x"', '{"repository": 1}', '{"repository": "x", "commit": "--output=x"}'])
def test_a_hostile_code_state_is_refused_or_has_no_commit(
    machines: tuple[Machine, Machine], tmp_path: Path, saved_in: str
) -> None:
    folder = tmp_path / "memory" / "capsules" / "memory"
    folder.mkdir(parents=True)
    (folder / "auth.md").write_text(f"---\nsaved_in: {saved_in}\n---\n{TEXT}")
    _, b = machines
    b.sync()
    found = b.call("capsule_inventory", workspace="memory")["items"]
    if found:
        assert "commit" not in b.call("capsule_fetch", **AUTH)["saved_in"]


def test_the_actors_of_entries_and_the_code_state_of_cards_travel(machines: tuple[Machine, Machine]) -> None:
    a, b = machines
    place = {"workspace": "shop"}
    decision = {**place, "card": {"type": "decision", "title": "Keep src/db.py"}}
    card = a.store.call("branchmind_think_card", decision, actor="anna")
    a.call("tasks_create", **place, kind="task", title="t", steps=[{"title": "s"}])
    a.sync()
    assert b.sync()["taken"] == 2
    entries = b.call("branchmind_show", **place)["entries"]
    assert [entry["by"] for entry in entries] == ["anna"]
    assert {event["by"] for event in b.call("tasks_delta", **place)["events"]} == {"python"}
    b.clone.commit({"src/db.py": "other\n"})
    found = b.call("moss_freshness", id=card["card_id"])["items"][0]
    assert found["saved_in"]["commit"] == a.clone.head
    assert found["freshness"]["state"] == "drifted"
    b.call("branchmind_notes_commit", **place, content="of b")
    assert b.sync()["written"] == 1
    assert a.sync()["taken"] == 1
    assert (b.sync(), a.sync()) == (NOTHING, NOTHING)


def test_the_repositories_of_a_workspace_are_known_after_a_sync_and_an_import(
    machines: tuple[Machine, Machine], tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = machines
    assert project_of(a.store).workspace == "memory"
    a.sync()
    exported = tmp_path / "exported"
    allowed = a.store.config.replace(allow_unsafe_paths=True)
    with Store(allowed) as exporting:
        exporting.export_folder(str(exported))
    lines = tmp_path / "lines.jsonl"
    written: list[bytes] = []
    a.store.export_lines(written.append)
    lines.write_bytes(b"".join(written))
    monkeypatch.chdir("/")
    b.store.sync(str(tmp_path / "memory"))
    with open_test_store(str(tmp_path / "home c"), clock) as c, open_test_store(str(tmp_path / "home d"), clock) as d:
        with Store(c.config.replace(allow_unsafe_paths=True)) as importing:
            importing.import_folder(str(exported))
        with Store(d.config.replace(allow_unsafe_paths=True)) as importing:
            importing.call("capsule_import", {"path": str(lines)})
        monkeypatch.chdir(b.clone.folder)
        assert [project_of(store).workspace for store in (b.store, c, d)] == ["memory"] * 3
