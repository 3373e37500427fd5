"""Freshness reports changed files like git, and no repository can make Moss run a program."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL, Clock, open_test_store
from moss_memory import Store
from moss_memory.code_state import comparison, git_process, work_tree
from moss_memory.code_state.work_tree import CodeState
from moss_memory.errors import MossError
from support.repositories import Repository

TEXT = f"{FULL}\n\nTokens live in `src/auth/session.py:42`, see src/db.py."
FILES = {"src/auth/session.py": "one\n" * 20, "src/db.py": "two\n"}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "shop")
    made.commit(FILES)
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def store(home: str, clock: Clock, shop: Repository) -> Iterator[Store]:
    with open_test_store(home, clock, records_work_tree=True) as opened:
        opened.call("capsule_store", {"workspace": "shop", "name": "auth", "capsule_text": TEXT})
        yield opened


def fetch(store: Store, **more: Any) -> dict[str, Any]:
    return store.call("capsule_fetch", {"workspace": "shop", "name": "auth", **more})


def fresh(commits: int = 0, *, state: str = "fresh", **lists: list[str]) -> dict[str, Any]:
    return {"state": state, "commits": commits, "changed": [], "missing": [], **lists}


def test_a_saved_capsule_records_its_commit_and_is_fresh(store: Store, shop: Repository) -> None:
    answer = fetch(store)
    assert answer["saved_in"] == {"repository": "shop", "branch": "main", "commit": shop.head}
    assert answer["freshness"] == fresh()
    latest = store.call("capsule_latest", {"workspace": "shop", "include_text": True})["item"]
    assert latest["freshness"] == fresh()
    assert "saved_in" not in store.call("capsule_latest", {"workspace": "shop"})["item"]
    assert "saved_in" not in fetch(store, include_text=False)


def test_a_changed_file_is_drifted_a_moved_one_missing_and_no_file_orphaned(store: Store, shop: Repository) -> None:
    shop.commit({"README.md": "no file of it"})
    assert fetch(store)["freshness"] == fresh(1)
    shop.commit({"src/auth/session.py": "changed"})
    answer = fetch(store)
    assert answer["freshness"] == fresh(2, state="drifted", changed=["src/auth/session.py"])
    assert answer["next"]["tool"] == "capsule_update"
    assert "src/auth/session.py" in answer["next"]["reason"]
    shop.git("mv", "src/auth/session.py", "src/auth/tokens.py")
    shop.commit()
    assert fetch(store)["freshness"] == fresh(3, state="drifted", missing=["src/auth/session.py"])
    shop.git("rm", "-q", "src/db.py")
    shop.commit()
    assert fetch(store)["freshness"] == fresh(4, state="orphaned", missing=["src/auth/session.py", "src/db.py"])


def test_update_append_and_confirm_record_the_current_commit(store: Store, shop: Repository) -> None:
    changes: list[Callable[[], dict[str, Any]]] = [
        lambda: store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "t"}),
        lambda: store.call(
            "capsule_append", {"workspace": "shop", "name": "auth", "section": "Decisions", "content": "x"}
        ),
        lambda: store.call("moss_confirm", {"workspace": "shop", "name": "auth"}),
    ]
    for number, change in enumerate(changes):
        shop.commit({"src/db.py": str(number)})
        before = fetch(store)
        assert before["freshness"]["state"] == "drifted"
        change()
        after = fetch(store)
        assert (after["freshness"], after["saved_in"]["commit"]) == (fresh(), shop.head)
    assert after["version"] == before["version"], "a confirmation makes no version"
    assert store.call("moss_changes", {"after": 0})["changes"][-1]["tool"] == "moss_confirm"


def test_a_renamed_capsule_keeps_its_commit_and_each_version_has_its_own(store: Store, shop: Repository) -> None:
    saved = shop.head
    shop.commit({"src/db.py": "x"})
    store.call("moss_rename", {"type": "capsule", "workspace": "shop", "name": "auth", "new_name": "auth2"})
    store.call("moss_rename", {"type": "capsule", "workspace": "shop", "name": "auth2", "new_name": "auth"})
    assert fetch(store)["saved_in"]["commit"] == saved
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "capsule_text": FULL})
    assert fetch(store)["saved_in"]["commit"] == shop.head
    assert fetch(store, version=1)["saved_in"]["commit"] == saved
    store.call("moss_revert", {"type": "capsule", "workspace": "shop", "name": "auth", "version": 1})
    assert fetch(store)["saved_in"]["commit"] == saved


def test_a_commit_that_was_rebased_away_is_unknown(store: Store, shop: Repository) -> None:
    shop.git("checkout", "-q", "-b", "feature")
    shop.commit({"src/db.py": "feature"})
    store.call("moss_confirm", {"workspace": "shop", "name": "auth"})
    shop.git("checkout", "-q", "main")
    shop.commit({"other.py": "1"})
    assert fetch(store)["freshness"] == fresh(1, state="drifted", changed=["src/db.py"]), "on another branch"
    shop.git("checkout", "-q", "feature")
    shop.git("rebase", "-q", "main")
    found = fetch(store)["freshness"]
    assert found["state"] == "unknown"
    assert found["why"] == comparison.REWRITTEN


def test_a_commit_that_is_not_in_a_shallow_clone_is_unknown(
    store: Store, shop: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.git("remote", "add", "origin", f"file://{shop.folder}")
    work_tree._known.clear()  # the configuration counts as known for a second
    store.call("moss_confirm", {"workspace": "shop", "name": "auth"})
    shop.commit({"src/db.py": "x"})
    shop.git("clone", "-q", "--depth", "1", f"file://{shop.folder}", str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    found = fetch(store)["freshness"]
    assert (found["state"], found["why"]) == ("unknown", "the commit is not in this clone")


def test_two_clones_of_one_origin_are_the_same_repository(
    store: Store, shop: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        shop.git("clone", "-q", str(shop.folder), str(tmp_path / name))
    monkeypatch.chdir(tmp_path / "one")
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "again"})
    monkeypatch.chdir(tmp_path / "two")
    Repository(tmp_path / "two", init=False).commit({"src/db.py": "two"})
    answer = fetch(store)
    assert answer["saved_in"]["repository"] == "one"
    assert answer["freshness"] == fresh(1, state="drifted", changed=["src/db.py"])


def test_another_repository_shows_only_name_and_id(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Repository(tmp_path / "other").commit({"a": "1"})
    monkeypatch.chdir(tmp_path / "other")
    answer = fetch(store)
    assert answer["saved_in"].keys() == {"repository", "repository_id"}
    assert "freshness" not in answer
    found = store.call("moss_freshness", {"workspace": "shop"})["items"][0]
    assert found["freshness"]["state"] == "unknown"
    with pytest.raises(MossError, match="confirm it there"):
        store.call("moss_confirm", {"workspace": "shop", "name": "auth"})


def test_outside_of_a_repository_nothing_is_recorded(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    store.call("capsule_store", {"workspace": "shop", "name": "plain", "capsule_text": TEXT})
    assert "saved_in" not in store.call("capsule_fetch", {"workspace": "shop", "name": "plain"})
    answer = fetch(store)
    assert "commit" in answer["saved_in"]
    assert "freshness" not in answer


def test_the_setting_disables_recording(home: str, shop: Repository, clock: Clock) -> None:
    with (
        open_test_store(home, clock, records_work_tree=True) as usual,
        Store(usual.config.replace(record_code=False)) as store,
    ):
        store.call("capsule_store", {"workspace": "shop", "name": "auth", "capsule_text": TEXT})
        assert "saved_in" not in fetch(store)
        usual.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "with code"})
        (found,) = store.call("moss_freshness", {"workspace": "shop"})["items"]
        assert found["freshness"]["why"] == "the setting record_code is off"


def test_the_most_outdated_come_first_with_cards_of_decisions_and_evidence(store: Store, shop: Repository) -> None:
    def save(name: str, text: str) -> None:
        store.call("capsule_store", {"workspace": "shop", "name": name, "capsule_text": f"{FULL} {text}"})

    save("gone", "src/auth/session.py")
    save("half", "src/db.py c.py d.py")
    save("quiet", "c.py")
    for kind in ("decision", "evidence", "question"):
        card = {"type": kind, "title": kind, "text": "in src/db.py"}
        store.call("branchmind_think_card", {"workspace": "shop", "card": card})
    shop.git("rm", "-q", "src/auth/session.py")
    shop.commit({"src/db.py": "new", "c.py": "1", "d.py": "1"})
    save("now", "c.py")
    answer = store.call("moss_freshness", {"workspace": "shop"})
    states = [item["freshness"]["state"] for item in answer["items"]]
    assert states == sorted(states, key=["orphaned", "drifted", "unknown", "fresh"].index)
    assert answer["items"][0]["name"] == "gone"
    assert [item["title"] for item in answer["items"] if item["type"] == "card"] == ["evidence", "decision"]
    assert answer["pagination"]["total"] == 7
    pages = [store.call("moss_freshness", {"workspace": "shop", "limit": 3, "offset": at})["items"] for at in (0, 3, 6)]
    assert [item for page in pages for item in page] == answer["items"]
    one = store.call("moss_freshness", {"workspace": "shop", "name": "gone"})["items"]
    assert [item["freshness"]["state"] for item in one] == ["orphaned"]


def test_at_most_two_processes_run_and_none_for_a_repeated_call(
    store: Store, shop: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    run = subprocess.run

    def counted(*words: Any, **more: Any) -> Any:
        started.append(words)
        return run(*words, **more)

    shop.commit({"src/db.py": "x"})
    monkeypatch.setattr(subprocess, "run", counted)
    fetch(store)
    assert len(started) == 2
    fetch(store)
    assert len(started) == 2
    monkeypatch.undo()


def test_without_git_or_time_the_state_is_unknown(
    store: Store, shop: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.commit({"src/db.py": "never compared"})
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(git_process, "_FOLDERS", ())
    assert fetch(store)["freshness"]["why"] == "git is not installed"
    monkeypatch.undo()
    monkeypatch.chdir(shop.folder)
    monkeypatch.setattr(git_process, "LIMIT_S", 0.0)
    monkeypatch.setattr(git_process.Git.__init__, "__defaults__", (0.0,))
    assert fetch(store)["freshness"]["why"] == "it took too long"


def test_no_setting_of_a_repository_runs_a_program(store: Store, shop: Repository, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    saved = shop.head
    for name in ("reference-transaction", "post-checkout", "pre-auto-gc", "post-index-change"):
        hook = shop.folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(program.read_text())
        hook.chmod(0o755)
    shop.put(".gitattributes", "*.py diff=evil filter=evil\n")
    head = shop.commit({"src/db.py": "x"})
    marker.unlink(missing_ok=True)
    shop.git("replace", saved, head)
    for key, value in {
        "core.fsmonitor": str(program), "core.hooksPath": str(shop.folder / ".git/hooks"), "core.pager": str(program),
        "core.sshCommand": str(program), "core.editor": str(program), "core.askPass": str(program),
        "core.alternateRefsCommand": str(program), "diff.external": str(program), "diff.evil.textconv": str(program),
        "diff.evil.command": str(program), "filter.evil.clean": str(program), "filter.evil.smudge": str(program),
        "alias.cat-file": f"!{program}", "alias.rev-list": f"!{program}", "credential.helper": str(program),
        "pager.rev-list": str(program), "pager.cat-file": str(program), "gpg.program": str(program),
        "extensions.partialClone": "origin", "remote.origin.promisor": "true", "remote.origin.url": f"ext::{program}",
        "remote.origin.uploadpack": str(program), "protocol.ext.allow": "always", "log.showSignature": "true",
    }.items():  # fmt: skip
        shop.git("config", key, value)
    shop.git("config", "core.repositoryformatversion", "1")
    marker.unlink(missing_ok=True)
    # The repository has another id now that it has an origin.
    store.call("capsule_store", {"workspace": "shop", "name": "auth", "capsule_text": TEXT, "mode": "replace"})
    (shop.folder / ".git" / "refs" / "heads" / "main").write_text(f"{saved}\n")
    found = fetch(store)["freshness"]
    assert not marker.exists()
    assert found["state"] in ("unknown", "drifted")
    missing = CodeState("shop", "", "main", "1" * 40)
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "x"}, code=missing)
    assert fetch(store)["freshness"]["why"] == "the commit is not in this clone"
    assert not marker.exists(), "a missing object fetches nothing"


@pytest.mark.parametrize("seed", range(6))
def test_freshness_agrees_with_git_diff_over_random_histories(
    seed: int, home: str, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)  # noqa: S311
    names = [f"{folder}{name}.py" for folder in ("", "a/", "a/b/") for name in ("x", "y")]
    repository = Repository(tmp_path / "random")
    repository.commit(dict.fromkeys(names, "0"))
    monkeypatch.chdir(repository.folder)
    saved: dict[str, str] = {}
    with open_test_store(home, clock, records_work_tree=True) as store:
        for step in range(12):
            action = chance.choice(("edit", "edit", "remove", "rename", "mode", "branch", "merge", "back"))
            there = [name for name in names if (repository.folder / name).exists()]
            one = chance.choice(there or names)
            if action == "edit" or not there:
                repository.put(one, str(step))
            elif action == "remove":
                repository.git("rm", "-q", one)
            elif action == "rename":
                repository.git("mv", "-f", one, f"moved{step}.py")
            elif action == "mode":
                (repository.folder / one).chmod(chance.choice((0o644, 0o755)))
            elif action == "branch":
                repository.git("checkout", "-q", "-b", f"branch{step}")
            elif action == "merge":
                repository.git("merge", "-q", "-s", "ours", "--no-edit", "main", check=False)
            else:
                repository.git("checkout", "-q", "main")
            repository.commit()
            saved[f"c{step}"] = repository.head
            text = " ".join(names)
            store.call("capsule_store", {"name": f"c{step}", "capsule_text": text, "allow_thin": True})
        for name, commit in saved.items():
            found = store.call("capsule_fetch", {"name": name})["freshness"]
            listed = repository.git("diff", "--no-renames", "--name-status", commit, "HEAD", "--", *names).splitlines()
            wanted = {line.split("\t")[1]: line[0] for line in listed}
            assert set(found["missing"]) == {path for path, kind in wanted.items() if kind == "D"}
            assert set(found["changed"]) == {path for path, kind in wanted.items() if kind != "D"}
            assert found["commits"] == int(repository.git("rev-list", "--count", f"{commit}..HEAD"))
            everything = {
                path
                for side in (commit, "HEAD")
                for path in repository.git("ls-tree", "-r", "--name-only", side).split()
            } & set(names)
            state = (
                "orphaned" if everything and set(found["missing"]) == everything else "drifted" if wanted else "fresh"
            )
            assert found["state"] == state


def test_code_state_survives_export_and_import(store: Store, shop: Repository, tmp_path: Path, clock: Clock) -> None:
    saved = fetch(store)["saved_in"]
    store.call("tasks_create", {"workspace": "shop", "kind": "task", "title": "t"})
    lines: list[bytes] = []
    store.export_lines(lines.append)
    folder = str(tmp_path / "folder")
    os.makedirs(folder)
    allowed = store.config.replace(allow_unsafe_paths=True)
    with Store(allowed) as exporting:
        exporting.export_folder(folder, with_history=True)
    for name, bring in (("a", "lines"), ("b", "folder")):
        with (
            open_test_store(str(tmp_path / name), clock, records_work_tree=True) as other,
            Store(other.config.replace(allow_unsafe_paths=True), actor="importer") as importing,
        ):
            if bring == "lines":
                file = tmp_path / "lines.jsonl"
                file.write_bytes(b"".join(lines))
                importing.call("capsule_import", {"path": str(file)})
            else:
                importing.import_folder(folder)
                events = importing.call("tasks_delta", {"workspace": "shop"})["events"]
                assert {event["by"] for event in events} == {"python"}
            assert fetch(importing)["saved_in"] == saved
