"""Export and import restore everything or nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contract.doors import FULL, Clock, StoreDoor, open_test_store, outcome
from moss_memory.errors import MossError
from moss_memory.tools.capsule import capsule_files
from moss_memory.tools.capsule.import_lines import LineImporter
from support.direct_store import dump, rows
from support.promises import holds
from support.thorough import complete_or

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from moss_memory.store import Store

COLUMNS = (
    "id, workspace_raw, workspace_norm, name_raw, name_norm, title, capsule_text, capsule_chars, tokens_estimate, "
    "tags_json, source, run_id, phase, role, created_at, updated_at, deleted_at, version"
)
UNICODE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)
FIELDS = st.fixed_dictionaries(
    {"capsule_text": UNICODE.filter(str.strip)},
    optional={
        "workspace": NAMES,
        "name": NAMES,
        "title": UNICODE,
        "tags": st.lists(UNICODE.filter(str.strip), max_size=4),
        "source": UNICODE,
        "run_id": UNICODE,
        "phase": UNICODE,
        "role": UNICODE,
    },
)


def everything(home: str) -> list[tuple[Any, ...]]:
    if not os.path.exists(os.path.join(home, "moss.db")):
        return []  # nothing was written
    return rows(home, f"select {COLUMNS} from capsules order by updated_at desc, change_seq desc")


@holds("decisions §1: export and import give back every column of every row, in order")
def test_the_exported_columns_include_every_column_of_the_table(store: Store) -> None:
    store.call("capsule_store", {"capsule_text": FULL})
    real = {name for (name,) in rows(store.config.home, "select name from pragma_table_info('capsules')")}
    # When and how a version came about belongs to the store that it is in.
    own = {"row_id", "change_seq", "version_at", "version_tool", "version_origin", "confirmed_origin"}
    assert real - own == set(COLUMNS.split(", "))


@holds("decisions §1: export and import give back every column of every row, in order")
@settings(max_examples=complete_or(40, 20))
@given(capsules=st.lists(st.tuples(FIELDS, st.sampled_from(["", "update", "delete"])), max_size=8), data=st.data())
def test_a_restored_store_has_every_column_of_every_row_in_the_same_order(
    capsules: list[tuple[dict[str, Any], str]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    clock = Clock()
    with open_test_store(str(folder / "one"), clock) as one, open_test_store(str(folder / "two"), clock) as two:
        for fields, change in capsules:
            clock.ms += data.draw(st.sampled_from([0, 1, 999, 5000, -3000]))
            stored = one.call("capsule_store", {"allow_thin": True, "mode": "replace", **fields})["id"]
            if change == "update":
                one.call("capsule_update", {"id": stored, "title": "", "phase": "later"})
            elif change == "delete":
                one.call("capsule_delete", {"id": stored})
        path = one.call("capsule_export", {"include_deleted": True})["path"]
        carried = StoreDoor(two).write_export()
        os.replace(path, os.path.join(two.config.home, "exports", carried))
        clock.ms += 12_345
        answer = two.call("capsule_import", {"path": carried})
        before = everything(one.config.home)
        assert answer == {"imported": len(before), "skipped": 0, "errors": []}
        assert everything(two.config.home) == before
        listed = one.call("capsule_inventory", {"include_deleted": True})
        assert two.call("capsule_inventory", {"include_deleted": True}) == listed


@holds("decisions §1: export and import give back every column of every row, in order")
def test_an_export_of_the_restored_store_is_the_same_file(store: Store, home: str, clock: Clock) -> None:
    for number in range(5):
        clock.advance(number % 2)
        store.call("capsule_store", {"name": f"n{number}", "capsule_text": FULL, "tags": ["b", "a"]})
    store.call("capsule_delete", {"name": "n3"})
    first = store.call("capsule_export", {"include_deleted": True, "path": "one.jsonl"})["path"]
    with open_test_store(home + "-2", clock) as other:
        os.makedirs(other.config.exports)
        os.link(first, os.path.join(other.config.exports, "one.jsonl"))
        os.unlink(first)
        other.call("capsule_import", {"path": "one.jsonl"})
        second = other.call("capsule_export", {"include_deleted": True, "path": "two.jsonl"})["path"]
        with open(second) as file, open(os.path.join(other.config.exports, "one.jsonl")) as original:
            assert file.read() == original.read()


RECORDS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["A", "B", "C", "D", "E"]), "workspace_raw": st.sampled_from(["v", "w"])},
        optional={
            "name_raw": st.sampled_from(["m", "n", "o", "n-1"]),
            "capsule_text": st.sampled_from(["one", "two"]),
            "deleted_at": st.just(7),
            "created_at": st.sampled_from([5, "bad"]),
        },
    ),
    max_size=8,
)


@holds("decisions §1: an import settles each line as if it came alone, however many are written together")
@example(  # the first line is refused, so the second collides with it although it is not there
    first=[{"id": "A", "workspace_raw": "v", "name_raw": "n"}],
    second=[{"id": "B", "workspace_raw": "v", "name_raw": "n"}, {"id": "B", "workspace_raw": "w"}],
    mode="error",
    size=1,
)
@given(first=RECORDS, second=RECORDS, mode=st.sampled_from(["error", "replace", "rename"]), size=st.integers(1, 9))
def test_capsules_imported_together_equal_capsules_imported_one_by_one(
    first: list[dict[str, Any]],
    second: list[dict[str, Any]],
    mode: str,
    size: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("together")
    found = []
    for together in (True, False):
        with open_test_store(str(folder / f"{together}"), Clock()) as store, pytest.MonkeyPatch.context() as patched:
            patched.setattr(capsule_files, "_BATCH_LINES", size)
            if not together:
                patched.setattr(LineImporter, "_insert_all", lambda *_: False)
            door = StoreDoor(store)
            answers: list[Any] = []
            for records, way in ((first, "replace"), (second, mode)):
                answer = outcome(store, "capsule_import", {"path": door.write_export(*records), "mode": way})
                answers.append(answer.payload() if isinstance(answer, MossError) else answer)
            columns = COLUMNS.removeprefix("id, ") if mode == "rename" else COLUMNS  # which assigns new ids
            kept = rows(store.config.home, f"select {columns} from capsules order by change_seq")
            found.append((answers, kept))
    assert found[0] == found[1]


def stop_after(calls: int) -> Callable[[], bool]:
    """Return a callback that cancels at its n-th call."""
    left = iter(range(calls))
    return lambda: next(left, None) is None


def filled(store: Store) -> StoreDoor:
    door = StoreDoor(store)
    for number in range(5):
        door("capsule_store", name=f"n{number}", capsule_text=FULL)
    return door


@holds("2 §7.1: a cancelled import rolls back in all modes")
@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("mode", ["error", "replace", "rename"])
def test_a_cancelled_import_writes_nothing(store: Store, mode: str, after: int) -> None:
    door = filled(store)
    lines = [{"id": f"X{number}", "workspace_raw": "w", "name_raw": f"x{number}"} for number in range(5)]
    path = door.write_export(*lines)
    before = dump(door.home)
    with pytest.raises(MossError) as caught:
        store.call("capsule_import", {"path": path, "mode": mode}, cancelled=stop_after(after))
    assert (caught.value.code, caught.value.status) == ("CANCELLED", 499)
    assert "import" in caught.value.message
    assert dump(door.home) == before
    store.call("capsule_import", {"path": path, "mode": mode})


@holds("2 §7.1: a cancelled export leaves no file and keeps the old one")
@pytest.mark.parametrize("path", [None, "backup.jsonl"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_cancelled_export_creates_no_file(store: Store, path: str | None, after: int) -> None:
    filled(store)
    with pytest.raises(MossError) as caught:
        store.call("capsule_export", {"path": path}, cancelled=stop_after(after))
    assert caught.value.code == "CANCELLED"
    assert "export" in caught.value.message
    assert os.listdir(store.config.exports) == []


@holds("2 §7.1: a cancelled export leaves no file and keeps the old one")
def test_a_cancelled_export_keeps_an_existing_file(store: Store) -> None:
    filled(store)
    path = store.call("capsule_export", {"path": "backup.jsonl"})["path"]
    with open(path, "rb") as file:
        before = file.read()
    store.call("capsule_store", {"capsule_text": FULL})
    with pytest.raises(MossError):
        store.call("capsule_export", {"path": "backup.jsonl"}, cancelled=stop_after(2))
    with open(path, "rb") as file:
        assert file.read() == before
    assert os.listdir(store.config.exports) == ["backup.jsonl"]


@holds("2 §7.1: fetch_many and compose can be cancelled")
@pytest.mark.parametrize(("tool", "more"), [("capsule_fetch_many", {}), ("capsule_compose", {}),
                                            ("capsule_compose", {"store_as": {"name": "bundle"}})])  # fmt: skip
@pytest.mark.parametrize("after", [0, 1])
def test_a_cancelled_batch_is_refused_with_cancelled_and_stores_nothing(
    store: Store, tool: str, more: dict[str, Any], after: int
) -> None:
    door = filled(store)
    before = dump(door.home)
    items = [{"name": "n0"}, {"name": "n1"}]
    with pytest.raises(MossError) as caught:
        store.call(tool, {"items": items, **more}, cancelled=stop_after(after))
    assert caught.value.code == "CANCELLED"
    assert tool.removeprefix("capsule_") in caught.value.message
    assert dump(door.home) == before


@holds("2 §7.1: fetch_many and compose can be cancelled")
def test_a_call_that_is_not_cancelled_succeeds(store: Store) -> None:
    filled(store)
    assert store.call("capsule_export", {}, cancelled=lambda: False)["count"] == 5


@holds("decisions §0: long calls report progress")
def test_long_calls_report_progress(store: Store, home: str) -> None:
    door = StoreDoor(store)
    lines = [{"id": f"X{number}", "workspace_raw": "w"} for number in range(450)]
    told: list[tuple[int, int | None]] = []
    store.call("capsule_import", {"path": door.write_export(*lines)}, progress=lambda *news: told.append(news))
    assert told[-1] == (450, 450)
    assert told == sorted(told)
    told.clear()
    store.call("capsule_export", {}, progress=lambda *news: told.append(news))
    assert told[-1] == (450, 450)
    assert len(told) > 1


@holds("decisions §1: files above import_max_bytes are refused with both sizes")
def test_a_file_above_the_limit_is_refused_with_both_sizes(home: str) -> None:
    with open_test_store(home, import_max_bytes=100) as store:
        door = StoreDoor(store)
        path = door.write_export({"id": "X", "workspace_raw": "w", "capsule_text": "x" * 200})
        size = os.path.getsize(os.path.join(store.config.exports, path))
        error = door.refuses("FILE_TOO_LARGE", "capsule_import", path=path)
        assert error.status == 413
        assert error.details == {"max_bytes": 100, "actual_bytes": size}


@holds("decisions §1: files above import_max_bytes are refused with both sizes")
def test_a_file_of_exactly_the_limit_is_imported(home: str) -> None:
    line = json.dumps({"id": "X", "workspace_raw": "w"}) + "\n"
    with open_test_store(home, import_max_bytes=len(line)) as store:
        door = StoreDoor(store)
        assert door("capsule_import", path=door.write_export(line.strip()))["imported"] == 1


@holds("decisions §1: an export above import_max_bytes warns")
def test_an_export_above_the_import_limit_warns(home: str) -> None:
    with open_test_store(home, import_max_bytes=100) as store:
        door = StoreDoor(store)
        door("capsule_store", capsule_text=FULL)
        answer = door("capsule_export")
        assert answer["bytes"] > 100
        assert "--max-bytes" in answer["warning"]


@holds("2 §3.2: a capsule above capsule_max_chars is refused with both sizes")
def test_the_limit_of_characters_is_configurable(home: str) -> None:
    with open_test_store(home, capsule_max_chars=300) as store:
        door = StoreDoor(store)
        door("capsule_store", name="a", capsule_text=FULL)
        error = door.refuses("CAPSULE_TOO_LARGE", "capsule_store", capsule_text=FULL + "x" * 300)
        assert error.details == {"max_chars": 300, "actual_chars": len(FULL) + 300}
        door.refuses("COMPOSE_TOO_LARGE", "capsule_compose", items=[{"name": "a"}] * 2)


@holds("2 §6.4: size and structure are checked when the text changes, and only then")
def test_a_metadata_update_of_a_text_above_the_limit_is_allowed(home: str) -> None:
    with open_test_store(home) as store:
        store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    with open_test_store(home, capsule_max_chars=10) as store:
        store.call("capsule_update", {"name": "a", "title": "T"})


@holds("2 §8.1: files live directly in an allowed folder and end in .jsonl")
def test_a_tilde_in_a_path_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with open_test_store(str(tmp_path / ".moss")) as store:
        store.call("capsule_store", {"capsule_text": FULL})
        answer = store.call("capsule_export", {"path": "~/.moss/exports/backup.jsonl"})
        assert answer["path"] == str(tmp_path / ".moss" / "exports" / "backup.jsonl")
        answer = store.call("capsule_import", {"path": "~/.moss/exports/backup.jsonl", "mode": "rename"})
        assert answer["imported"] == 1


@holds("2 §8.1: files live directly in an allowed folder and end in .jsonl")
def test_a_folder_listed_under_allowed_paths_is_allowed(home: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    with open_test_store(home, allowed_paths=[str(folder)]) as store:
        door = StoreDoor(store)
        assert door("capsule_export", path=str(folder / "a.jsonl"))["path"] == str(folder / "a.jsonl")
        for bad in (folder / "sub" / "a.jsonl", tmp_path / "a.jsonl", tmp_path / "backups-2" / "a.jsonl"):
            door.refuses("INVALID_REQUEST", "capsule_export", path=str(bad))


@holds("2 §8.1: files live directly in an allowed folder and end in .jsonl")
def test_allow_unsafe_paths_opens_every_folder_but_not_every_file(home: str, tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    with open_test_store(home, allow_unsafe_paths=True) as store:
        door = StoreDoor(store)
        assert door("capsule_export", path=str(tmp_path / "a.jsonl"))["count"] == 0
        for bad in ("link.jsonl", "a.json", "x/../a.jsonl"):
            door.refuses("INVALID_REQUEST", "capsule_export", path=os.path.join(tmp_path, bad))
