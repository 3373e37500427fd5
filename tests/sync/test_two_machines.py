"""Two homes and one git repository: after random changes on both, the content is equal and no text is lost."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import Clock, open_test_store
from moss_memory.cli.commands.sync_command import _with_git
from moss_memory.errors import MossError
from moss_memory.storage.files.safe_directory import SafeDirectory
from moss_memory.store import Store
from moss_memory.transfer.sync.sync_folder import FolderSync
from support.direct_store import dump
from support.moved_store import files_of
from support.thorough import first_of

NAMES = ("auth", "Login", "a/b", "con", "ünï", "x" * 200)
UNIT = {"capability_id": "neotoma:store_feature_unit:v1"}
FEATURE = {"status": "planning", "description": "t", "created_at": "2026-01-01T00:00:00Z"}


class Killed(BaseException):
    """Raised in place of a kill during a sync."""


class Machine:
    """A home, its clone of the repository, and random changes in them."""

    def __init__(self, base: Path, name: str, clock: Clock, chance: random.Random) -> None:
        self.name = name
        self.folder = base / name
        self.home = str(base / f"home {name}")
        self.clock = clock
        self._chance = chance
        self.store: Store = open_test_store(self.home, clock)
        self.texts: dict[str, str] = {}
        """Every acknowledged text, with the id of its capsule."""
        self.erased: set[str] = set()
        self.known_as: dict[str, set[str]] = {}
        """The ids that capsules of both sides with one name share in the folder."""

    def sync(self) -> dict[str, Any]:
        """Run `moss sync --git`."""
        return _with_git(str(self.folder), lambda: self.store.sync(str(self.folder)))

    def capsules(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.store.call("capsule_inventory", {"limit": 500})["items"]
        return found

    def new_text(self) -> str:
        return f"text {self._chance.getrandbits(64):x} of {self.name}"

    def save(self) -> None:
        text, name = self.new_text(), self._chance.choice(NAMES)
        arguments = {"workspace": self._chance.choice(("shop", "Über/lab")), "name": name, "mode": "replace"}
        told = self.store.call("capsule_store", {**arguments, "capsule_text": text, "allow_thin": True})
        self.texts[text] = told["id"]

    def save_unnamed(self) -> None:
        text = self.new_text()
        self.texts[text] = self.store.call("capsule_store", {"capsule_text": text, "allow_thin": True})["id"]

    def change(self) -> None:
        text, one = self.new_text(), self._any()
        self.store.call("capsule_update", {"id": one["id"], "capsule_text": text, "allow_thin": True})
        self.texts[text] = one["id"]

    def rename(self) -> None:
        one = self._any()
        self.store.call("moss_rename", {"type": "capsule", "id": one["id"], "new_name": self._chance.choice(NAMES)})

    def delete(self) -> None:
        self.store.call("capsule_delete", {"id": self._any()["id"]})

    def restore(self) -> None:
        gone = self.store.call("capsule_inventory", {"limit": 500, "include_deleted": True})["items"]
        self.store.call(
            "capsule_restore", {"id": self._chance.choice([one for one in gone if "deleted_at" in one])["id"]}
        )

    def erase(self) -> None:
        one = self._any()
        self.store.call("moss_erase", {"type": "capsule", "id": one["id"]})
        self.erased.add(one["id"])

    def artifact(self) -> None:
        data = {"n": self._chance.randrange(9)}
        name = self._chance.choice(NAMES)
        self.store.call("artifact_store", {"kind": "k", "name": name, "data": data, "mode": "replace"})

    def record(self) -> None:
        body = {**FEATURE, "id": f"FU-{self._chance.randrange(4)}", "description": f"d{self._chance.randrange(3)}"}
        body["updated_at"] = FEATURE["created_at"]
        self.store.call("submit_payload", {**UNIT, "body": body})

    def note(self) -> None:
        self.store.call("branchmind_notes_commit", {"workspace": "shop", "content": self.new_text()})

    def task(self) -> None:
        self.store.call("tasks_create", {"workspace": "shop", "kind": "task", "title": self.new_text()})

    def _any(self) -> dict[str, Any]:
        return self._chance.choice(self.capsules())

    def content(self) -> dict[str, Any]:
        """Return the content that must be equal on both machines."""
        listed = sorted(self.capsules(), key=lambda one: (one["workspace_norm"], one.get("name_norm") or one["id"]))
        capsules = [
            (
                one["workspace_norm"],
                one.get("name_norm") or one["id"],
                self.store.call("capsule_fetch", {"id": one["id"]})["capsule_text"],
            )
            for one in listed
        ]
        artifacts = self.store.call("artifact_list", {"limit": 100})["items"]
        entities = self.store.call("retrieve_entities", {})["entities"]
        notes = self.store.call("branchmind_show", {"workspace": "shop", "doc_kind": "notes", "max_chars": 0})[
            "entries"
        ]
        tasks = self.store.call("tasks_list", {"workspace": "shop"})["items"]
        return {
            "capsules": capsules,
            "artifacts": sorted((one["workspace"], one["name"], str(one["data"])) for one in artifacts),
            "entities": sorted((one["entity_id"], str(one["snapshot"]), one["observation_count"]) for one in entities),
            "notes": [one["content"] for one in notes],
            "tasks": [(one["id"], one["title"]) for one in tasks],
        }

    def note_ids(self) -> None:
        """Record the ids that the folder has for the capsules."""
        statement = "select subject, known_as from sync_files where family = 'capsule'"
        for subject, known_as in self.store.read(lambda tx: list(tx.rows(statement)), what="test"):
            self.known_as.setdefault(subject, set()).add(known_as)

    def every_text(self) -> str:
        """Return every text in the store, including earlier versions and deleted rows."""
        self.store.close()
        rows = dump(self.home)
        return repr([rows.get(name) for name in ("capsules", "versions")])


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], tuple[Machine, Machine]]]:
    for key, value in {
        "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
        "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
    }.items():  # fmt: skip
        monkeypatch.setenv(key, value)
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "memory.git")
    made: list[Machine] = []

    def make(seed: int) -> tuple[Machine, Machine]:
        chance, clock = random.Random(seed), Clock()  # noqa: S311
        for name in "ab":
            git(tmp_path, "clone", "--quiet", "memory.git", name)
            git(tmp_path / name, "switch", "--quiet", "--orphan", "main", check=False)
            made.append(Machine(tmp_path, name, clock, chance))
        return made[0], made[1]

    yield make
    for one in made:
        one.store.close()


def git(folder: Path, *words: str, check: bool = True) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=check)
    return done.stdout


def settle(machine: Machine) -> dict[str, Any]:
    """Sync; settle conflicts of git and of whole workspaces in favour of the other side."""
    while True:
        try:
            return _with_git(str(machine.folder), lambda: machine.store.sync(str(machine.folder), settle="theirs"))
        except MossError as error:
            if error.code != "CONFLICT":
                raise
            for file in (error.details or {})["files"]:
                git(machine.folder, "checkout", "--theirs", "--", file, check=False)
                there = git(machine.folder, "ls-tree", "MERGE_HEAD", "--", file)
                git(machine.folder, *(("add",) if there else ("rm", "--quiet")), "--", file)
            git(machine.folder, "commit", "--quiet", "--no-edit")


def kill_in(monkeypatch: pytest.MonkeyPatch, machine: Machine, after: int) -> None:
    """Kill a sync after some steps on the folder, or before it is recorded."""
    left = [after]

    def deadly(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*arguments, **more)

        return step

    with monkeypatch.context() as patched:
        for name in ("write", "remove", "sync"):
            patched.setattr(SafeDirectory, name, deadly(getattr(SafeDirectory, name)))
        patched.setattr(FolderSync, "_write", deadly(FolderSync._write))
        try:
            machine.store.sync(str(machine.folder))
        except Killed:
            machine.store.close()


DEEDS = (
    *("save",) * 5, *("change",) * 5, *("save_unnamed",) * 2, *("rename",) * 3, *("delete",) * 2, *("restore",) * 2,
    "erase", *("artifact",) * 2, *("record",) * 2, "note", "task", *("sync",) * 8, *("kill",) * 3,
)  # fmt: skip


@pytest.mark.parametrize(("seed", "turns"), first_of([(1, 60), (2, 500), (3, 500)]))
def test_random_changes_on_both_sides_end_with_equal_content_and_no_text_lost(
    machines: Callable[[int], tuple[Machine, Machine]], monkeypatch: pytest.MonkeyPatch, seed: int, turns: int
) -> None:
    both = machines(seed)
    chance = random.Random(seed)  # noqa: S311
    for _ in range(turns):
        machine, deed = chance.choice(both), chance.choice(DEEDS)
        machine.clock.advance(chance.choice((0, 1)))
        try:
            machine.note_ids()
            if deed == "kill":
                kill_in(monkeypatch, machine, chance.randrange(12))
            elif deed == "sync":
                settle(machine)
            else:
                getattr(machine, deed)()
        except IndexError:
            continue  # nothing to choose from
        except MossError as error:
            if error.code not in ("NAME_ALREADY_EXISTS", "NOT_FOUND"):
                raise
    for _ in range(3):
        for machine in both:
            settle(machine)
    a, b = both
    assert a.content() == b.content()
    files = [{name: one for name, one in files_of(m.folder).items() if not name.startswith(".")} for m in both]
    assert files[0] == files[1]
    for machine in both:
        versions = [(one["id"], one["version"]) for one in machine.capsules()]
        told = machine.sync()
        assert [told[key] for key in ("taken", "written", "deleted", "restored", "erased")] == [0] * 5, told
        assert (told["conflicts"], told["skipped"], told["git"]["committed"]) == ([], [], False)
        assert [(one["id"], one["version"]) for one in machine.capsules()] == versions
        assert git(machine.folder, "status", "--porcelain") == ""
        assert not os.path.exists(machine.folder / ".moss-sync" / ".moss-export.tmp")
    kept = a.every_text() + b.every_text()
    erased = {capsule_id for m in both for one in m.erased for capsule_id in (one, *m.known_as.get(one, ()))}
    lost = [
        text
        for m in both
        for text, capsule_id in m.texts.items()
        if not {capsule_id, *m.known_as.get(capsule_id, ())} & erased and text not in kept
    ]
    assert lost == []
