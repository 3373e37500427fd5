"""The types of the tools for type checkers and editors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from docs.typed import STUB, generated

import moss_memory
from support.timeouts import TIMEOUT_S

RIGHT = """
from moss_memory import open_store
store = open_store()
text: str = store.capsule_fetch(name="auth")["capsule_text"]
"""
ASYNC = """
from moss_memory import open_async_store
async def main() -> int:
    return (await open_async_store().capsule_list(workspace="shop"))["pagination"]["total"]
"""
WRONG = {
    'store.capsule_fetch(nmae="auth")': "call-arg",
    "store.capsule_fetch(name=1)": "arg-type",
    'store.capsule_fetch(name="auth")["capsule_txt"]': "typeddict-item",
    'store.capsule_store(capsule_text="x", mode="overwrite")': "arg-type",
    "store.capsule_fetsh()": "attr-defined",
}


def test_the_stub_is_up_to_date() -> None:
    assert STUB.read_text(encoding="utf-8") == generated(), "run `make docs`"


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the output of `mypy --strict` for a program with every mistake, each on its own line."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "right.py").write_text(RIGHT + ASYNC)
    wrong = "".join(f"_{number} = {line}\n" for number, line in enumerate(WRONG))
    (folder / "wrong.py").write_text("from moss_memory import open_store\nstore = open_store()\n" + wrong)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert not done.stderr
    return done.stdout


def test_a_correct_program_passes_the_strict_type_checker(checked: str) -> None:
    assert "right.py" not in checked
    assert f"Found {len(WRONG)} errors in 1 file" in checked


@pytest.mark.parametrize(("line", "mistake"), WRONG.items())
def test_a_wrong_argument_field_or_tool_fails_the_strict_type_checker(checked: str, line: str, mistake: str) -> None:
    at = list(WRONG).index(line) + 3
    assert any(said.startswith(f"wrong.py:{at}: error") and f"[{mistake}]" in said for said in checked.splitlines())


def test_the_package_lists_its_public_names() -> None:
    assert {"AsyncStore", "MossError", "Store", "open_async_store", "open_store"} <= set(dir(moss_memory))


def test_the_stub_is_not_imported_by_any_module() -> None:
    assert not Path(STUB).with_suffix(".py").exists()
