"""Other packages add importers and adapters by entry points."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

from moss_memory import MossError, open_store
from moss_memory.adapters import load_adapter
from moss_memory.cli.main import run

ADOPT = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "adopt.md"
MODULE = """
from moss_memory.transfer.importers.items import SourceFile, capsule

def read(path):
    file = SourceFile("notes.txt")
    for number, line in enumerate(open(path)):
        file.items.append(capsule(str(number), line, name=f"note {number}"))
    yield file

def read_unknown_kind(path):
    file = SourceFile("notes.txt")
    file.items += [{"kind": "poem", "key": "p"}, {"key": "q"}, capsule("c", "retry with backoff", name="c")]
    yield file

class Adapter:
    pass
"""
ENTRY_POINTS = """[moss_memory.importers]
plain-lines = plain_lines:read
broken = plain_lines:missing
unknown-kind = plain_lines:read_unknown_kind

[moss_memory.adapters]
plain = plain_lines:Adapter
"""


def install(site: Path, module: str, code: str, entry_points: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a package of one module, as an installer would leave it."""
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / f"{module}.py").write_text(code)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module.replace('_', '-')}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a tiny package, as an installer would leave it."""
    install(tmp_path / "site", "plain_lines", MODULE, ENTRY_POINTS, monkeypatch)
    return tmp_path / "site"


def test_an_importer_of_another_package_is_used_by_its_name(package: Path, tmp_path: Path) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("retry with backoff\ntokens last an hour\n")
    with open_store(str(tmp_path / "home")) as store:
        report = store.adopt("plain-lines", str(source), workspace="shop")
        assert report["taken"] == {"capsules": 2}
        assert store.call("capsule_fetch", {"workspace": "shop", "name": "note 1"})["capsule_text"].startswith("tokens")
    assert run(["--home", str(tmp_path / "home"), "adopt", "plain-lines", str(source), "-w", "other"]) == 0


def test_the_importer_of_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ADOPT.read_text(encoding="utf-8")
    code, declaration = (page.partition(f"```{kind}\n")[2].partition("```")[0] for kind in ("python", "toml"))
    [(section, points)] = tomllib.loads(declaration)["project"]["entry-points"].items()
    lines = [f"[{section}]", *(f"{name} = {target}" for name, target in points.items())]
    install(tmp_path / "site", "my_notes", code, "\n".join(lines), monkeypatch)
    (tmp_path / "notes.txt").write_text("retries: with backoff\nno title\n")
    with open_store(str(tmp_path / "home")) as store:
        for taken in ({"capsules": 1}, {}):
            report = store.adopt("my-notes", str(tmp_path / "notes.txt"), workspace="shop")
            assert report["taken"] == taken
            assert [(one["file"], one["item"]) for one in report["skipped"]] == [("notes.txt", "line 2")]


def test_items_of_an_unknown_kind_are_skipped_with_the_known_kinds(package: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "home")) as store:
        report = store.adopt("unknown-kind", str(tmp_path), workspace="shop")
    assert report["taken"] == {"capsules": 1}
    assert [(one["item"], "capsule, node, edge" in one["reason"]) for one in report["skipped"]] == [
        ("p", True), ("q", True),
    ]  # fmt: skip


def test_an_importer_that_cannot_be_loaded_names_its_package(package: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "home")) as store, pytest.raises(MossError, match="plain-lines") as refused:
        store.adopt("broken", str(tmp_path))
    assert refused.value.code == "INVALID_REQUEST"


def test_an_unknown_importer_is_refused_with_all_known_names(package: Path, tmp_path: Path) -> None:
    with (
        open_store(str(tmp_path / "home")) as store,
        pytest.raises(MossError, match=r"markdown, claude-code, codex, broken, plain-lines, unknown-kind"),
    ):
        store.adopt("nothing", str(tmp_path))


def test_an_adapter_of_another_package_is_loaded_by_its_name(package: Path) -> None:
    assert load_adapter("plain").__name__ == "Adapter"
    with pytest.raises(MossError, match="known: plain"):
        load_adapter("other")
