"""The store: every call is one transaction, and raises nothing but a `MossError`."""

from __future__ import annotations

import os
import pickle
import stat
from typing import TYPE_CHECKING, Any

import pytest

import moss_memory
from contract.doors import FULL, StoreDoor, open_test_store
from moss_memory.errors import STATUS, MossError
from moss_memory.registry import catalog
from moss_memory.registry.operation import Operation, operation
from support.direct_store import dump

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store


def test_the_package_offers_stores_an_error_and_a_version() -> None:
    assert moss_memory.__all__ == sorted(moss_memory.__all__)
    offered = {"AsyncStore", "MossError", "Store", "__version__", "open_async_store", "open_store"}
    assert set(moss_memory.__all__) == offered


def test_open_store_uses_the_home_it_is_given(home: str) -> None:
    with moss_memory.open_store(home) as store:
        stored = store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    with moss_memory.open_store(home) as store:
        assert store.call("capsule_fetch", {"name": "a"})["id"] == stored["id"]


def test_a_read_only_store_answers_reads_and_refuses_writes(home: str) -> None:
    with moss_memory.open_store(home) as store:
        store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    with moss_memory.open_store(home, read_only=True) as store:
        assert store.call("capsule_fetch", {"name": "a"})["name"] == "a"
        for tool, arguments in (("capsule_delete", {"name": "a"}), ("capsule_export", {"path": "x.jsonl"})):
            with pytest.raises(MossError) as refused:
                store.call(tool, arguments)
            assert refused.value.code == "READ_ONLY"


def test_open_store_uses_moss_home(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSS_HOME", home)
    with moss_memory.open_store() as store:
        store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    assert os.path.exists(os.path.join(home, "moss.db"))


def test_opening_a_store_makes_nothing(home: str) -> None:
    with moss_memory.open_store(home):
        assert not os.path.exists(home)


def test_every_tool_is_a_method_of_its_name(store: Store) -> None:
    stored = store.capsule_store(name="a", capsule_text=FULL)
    assert store.capsule_fetch(name="a")["id"] == stored["id"]
    with pytest.raises(MossError):
        store.capsule_fetch(nmae="a")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        _ = store.capsule_stor  # type: ignore[attr-defined]


def test_a_closed_store_opens_again_at_the_next_call(store: Store) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    store.close()
    store.close()
    assert store.call("capsule_fetch", {"name": "a"})["name"] == "a"


def test_folders_and_files_are_private_whatever_the_umask(home: str) -> None:
    old = os.umask(0)
    try:
        with open_test_store(home) as store:
            store.call("capsule_store", {"name": "a", "capsule_text": FULL})
            store.call("capsule_export", {})
            for folder, _, files in os.walk(home):
                assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
                for name in files:
                    assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600, name
    finally:
        os.umask(old)


def broken_tool(name: str, failure: Exception) -> Operation:
    """Return a writing tool that changes a row and then fails."""

    def body(tx: Any) -> dict[str, Any]:
        tx.run("update capsules set title = 'half done'")
        raise failure

    body.__name__ = name
    return operation(mutates=True, answers={}, example="moss broken")(body)


def test_a_failure_in_the_middle_changes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    before = dump(store.config.home)
    tool = broken_tool("capsule_broken", MossError("CONFLICT", "no"))
    monkeypatch.setattr(catalog, "find", lambda name: tool)
    with pytest.raises(MossError, match="no"):
        store.call("capsule_broken", {})
    assert dump(store.config.home) == before
    monkeypatch.undo()
    store.call("capsule_update", {"name": "a", "title": "T"})


def test_an_unexpected_failure_is_internal_and_hides_its_cause(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    before = dump(store.config.home)
    tool = broken_tool("capsule_broken", RuntimeError("the secret cause"))
    monkeypatch.setattr(catalog, "find", lambda name: tool)
    with pytest.raises(MossError) as caught:
        store.call("capsule_broken", {})
    assert (caught.value.code, caught.value.status) == ("INTERNAL", 500)
    assert "secret" not in str(caught.value.payload())
    assert dump(store.config.home) == before


def test_an_interrupt_in_the_middle_changes_nothing_and_frees_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": FULL})
    before = dump(store.config.home)
    tool = broken_tool("capsule_broken", KeyboardInterrupt())  # type: ignore[arg-type]
    monkeypatch.setattr(catalog, "find", lambda name: tool)
    with pytest.raises(KeyboardInterrupt):
        store.call("capsule_broken", {})
    monkeypatch.undo()
    assert dump(store.config.home) == before
    store.call("capsule_update", {"name": "a", "title": "T"})


def test_two_stores_of_one_home_see_each_others_writes(home: str) -> None:
    with open_test_store(home) as one, open_test_store(home) as two:
        one.call("capsule_store", {"name": "a", "capsule_text": FULL})
        assert two.call("capsule_fetch", {"name": "a"})["name"] == "a"
        two.call("capsule_delete", {"name": "a"})
        StoreDoor(one).refuses("NOT_FOUND", "capsule_fetch", name="a")


def test_a_write_without_a_timeout_does_not_wait_for_another(home: str) -> None:
    with open_test_store(home) as one, open_test_store(home) as two:
        one.call("capsule_list", {})
        seen: list[str] = []

        def while_importing(done: int, total: int | None) -> None:
            with pytest.raises(MossError) as caught:
                two.call("capsule_store", {"capsule_text": FULL}, wait=False)
            seen.append(caught.value.code)
            assert two.call("capsule_list", {})["items"] == []

        path = StoreDoor(one).write_export({"id": "X", "workspace_raw": "default"})
        one.call("capsule_import", {"path": path}, progress=while_importing)
        assert set(seen) == {"STORAGE_BUSY"}
        two.call("capsule_store", {"capsule_text": FULL}, wait=False)


def test_an_error_shows_its_code_message_and_status(store: Store) -> None:
    with pytest.raises(MossError) as caught:
        store.call("capsule_store", {"capsule_text": "thin"})
    error = caught.value
    assert str(error).startswith("[CAPSULE_TOO_THIN] ")
    payload = error.payload()
    assert payload["error"]["code"] == "CAPSULE_TOO_THIN"
    assert payload["error"]["status"] == STATUS["CAPSULE_TOO_THIN"] == 422
    assert pickle.loads(pickle.dumps(error)).payload() == payload  # noqa: S301


def test_an_error_without_details_or_recovery_does_not_mention_them() -> None:
    least = {"code": "CONFLICT", "message": "m", "status": 409, "retryable": False}
    assert MossError("CONFLICT", "m").payload() == {"error": least}


def test_an_error_states_if_the_same_call_may_be_retried() -> None:
    again = {code for code in STATUS if MossError(code, "m").payload()["error"]["retryable"]}
    assert again == {"RATE_LIMITED", "STORAGE_BUSY", "STORAGE_UNKNOWN"}
    for storage_code, expected in (("STORAGE_BUSY", True), ("STORAGE_FULL", False)):
        error = MossError("DB_INSERT_FAILED", "m", details={"storage_code": storage_code})
        assert error.retryable is error.payload()["error"]["retryable"] is expected


def test_a_home_that_is_a_file_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with open_test_store(str(tmp_path / "file")) as store, pytest.raises(MossError) as caught:
        store.call("capsule_list", {})
    assert caught.value.code == "STORAGE_READONLY"
