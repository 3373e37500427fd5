"""Other packages add importers and adapters by entry points."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from moss_memory import MossError, open_store
from moss_memory.adapters import load_adapter
from moss_memory.cli.main import run

MODULE = """
from moss_memory.transfer.importers.items import SourceFile, capsule

def read(path):
    file = SourceFile("notes.txt")
    for number, line in enumerate(open(path)):
        file.items.append(capsule(str(number), line, name=f"note {number}"))
    yield file

class Adapter:
    pass
"""
ENTRY_POINTS = """[moss_memory.importers]
plain-lines = plain_lines:read
broken = plain_lines:missing

[moss_memory.adapters]
plain = plain_lines:Adapter
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a tiny package, as an installer would leave it."""
    site = tmp_path / "site"
    info = site / "plain_lines-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "plain_lines.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain-lines\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "plain_lines", raising=False)
    return site


def test_an_importer_of_another_package_is_used_by_its_name(package: Path, tmp_path: Path) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("retry with backoff\ntokens last an hour\n")
    with open_store(str(tmp_path / "home")) as store:
        report = store.adopt("plain-lines", str(source), workspace="shop")
        assert report["taken"] == {"capsules": 2}
        assert store.call("capsule_fetch", {"workspace": "shop", "name": "note 1"})["capsule_text"].startswith("tokens")
    assert run(["--home", str(tmp_path / "home"), "adopt", "plain-lines", str(source), "-w", "other"]) == 0


def test_an_importer_that_cannot_be_loaded_names_its_package(package: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "home")) as store, pytest.raises(MossError, match="plain-lines") as refused:
        store.adopt("broken", str(tmp_path))
    assert refused.value.code == "INVALID_REQUEST"


def test_an_unknown_importer_is_refused_with_all_known_names(package: Path, tmp_path: Path) -> None:
    with (
        open_store(str(tmp_path / "home")) as store,
        pytest.raises(MossError, match=r"markdown, claude-code, codex, broken, plain-lines"),
    ):
        store.adopt("nothing", str(tmp_path))


def test_an_adapter_of_another_package_is_loaded_by_its_name(package: Path) -> None:
    assert load_adapter("plain").__name__ == "Adapter"
    with pytest.raises(MossError, match="known: plain"):
        load_adapter("other")
