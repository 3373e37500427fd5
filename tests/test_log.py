"""Records of the logger `moss_memory`: their levels, and no stored text in them."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from contract.doors import FULL
from moss_memory import MossError, open_store
from moss_memory.cli.main import run

STORED_NAME = "heron-lake"


def moss(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "moss_memory", *words]
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment})


def test_a_program_gets_a_record_of_each_call_and_no_text_of_the_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="moss_memory")
    with open_store(str(tmp_path / "home")) as store:
        store.call("capsule_store", {"name": STORED_NAME, "capsule_text": FULL})
        with pytest.raises(MossError):
            store.call("capsule_fetch", {"name": STORED_NAME + "-2"})
    levels = {record.levelname: record.getMessage() for record in caplog.records}
    assert levels["DEBUG"].startswith("capsule_store took ")
    assert "capsule_fetch failed with NOT_FOUND after" in levels["INFO"]
    assert STORED_NAME not in caplog.text
    assert FULL.splitlines()[1] not in caplog.text


def test_verbose_and_the_variable_choose_the_level(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    quiet = moss("--home", home, "list")
    assert quiet.stderr == ""
    for told in (moss("--verbose", "--home", home, "list"), moss("--home", home, "list", "--verbose")):
        assert "moss DEBUG capsule_list took" in told.stderr
        assert told.stdout == quiet.stdout
    assert "capsule_list" in moss("--home", home, "list", MOSS_LOG="debug").stderr
    assert moss("--home", home, "list", MOSS_LOG="warning").stderr == ""


def test_a_call_acquires_no_lock_of_logging_if_it_is_off(tmp_path: Path) -> None:
    """Ctrl-C can leave that lock acquired, because `logging` enters its `try` after acquiring it."""
    with open_store(str(tmp_path / "home")) as store:
        call = threading.Thread(target=store.call, args=("capsule_list", {}), daemon=True)
        with logging._lock:  # type: ignore[attr-defined]
            call.start()
            call.join(20)
            assert not call.is_alive()


def test_an_unknown_level_is_refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MOSS_LOG", "loud")
    assert run(["list"]) == 1
    assert "MOSS_LOG must be one of debug, info, warning, error" in capfd.readouterr().err
