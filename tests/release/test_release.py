"""The distributed files follow the rules of the registry and the clients, and the server in the bundle answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml  # type: ignore[import-untyped]
from jsonschema.validators import validator_for
from release.bundle import build, manifest

import moss_memory
from moss_memory.registry import catalog
from support.listed_tools import listed_tools

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = Path(__file__).parent / "schemas"


def problems(value: Any, schema: str) -> list[str]:
    rules = json.loads((SCHEMAS / schema).read_text())
    checks = validator_for(rules)(rules, format_checker=jsonschema.FormatChecker())
    return [f"{error.json_path}: {error.message}" for error in checks.iter_errors(value)]


def registered() -> Any:
    return json.loads((ROOT / "server.json").read_text())


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(bundle) as packed:
        for name in packed.namelist():
            packed.extract(name, folder)
    return folder


def test_the_registrys_rules_accept_the_entry() -> None:
    assert problems(registered(), "server.schema.json") == []


@pytest.mark.parametrize(
    "wrong", [{"name": "moss"}, {"description": "x" * 101}, {"packages": [{"identifier": "moss"}]}, {"version": 1}]
)
def test_the_registrys_rules_refuse_a_wrong_entry(wrong: dict[str, Any]) -> None:
    assert problems({**registered(), **wrong}, "server.schema.json") != []


def test_the_registry_names_this_version_of_this_distribution() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    entry = registered()
    (package,) = entry["packages"]
    assert (entry["version"], package["version"]) == (project["version"], project["version"])
    assert package["identifier"] == project["name"]
    assert package["identifier"] in project["scripts"], "uvx runs the command that is named as the distribution"
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text(), "by which the registry knows its owner"


def test_the_command_of_the_registry_entry_starts_a_server(tmp_path: Path) -> None:
    (package,) = registered()["packages"]
    words = [
        word
        for one in package["packageArguments"]
        for word in ([f"{one['name']}={one['default']}"] if one["type"] == "named" else [one["value"]])
    ]
    assert listed_tools([sys.executable, "-m", "moss_memory", *words], tmp_path) == set(catalog.CORE)


def test_the_clients_rules_accept_the_bundle(unpacked: Path) -> None:
    told = json.loads((unpacked / "manifest.json").read_text())
    assert problems(told, "mcpb-manifest-v0.4.schema.json") == []
    assert told == manifest()
    assert told["version"] == moss_memory.__version__
    assert (unpacked / told["server"]["entry_point"]).is_file()


@pytest.mark.parametrize("wrong", [{"author": "me"}, {"server": {"type": "python"}}, {"made_up": 1}])
def test_the_clients_rules_refuse_a_wrong_manifest(wrong: dict[str, Any]) -> None:
    assert problems({**manifest(), **wrong}, "mcpb-manifest-v0.4.schema.json") != []


def test_the_server_in_the_bundle_answers(unpacked: Path, tmp_path: Path) -> None:
    config = manifest()["server"]["mcp_config"]
    assert config["args"][:4] == ["run", "--project", "${__dirname}", "--no-dev"]
    assert config["args"][4] == "moss"
    command = [sys.executable, "-P", "-m", "moss_memory", *config["args"][5:]]
    listed = listed_tools(command, tmp_path, PYTHONPATH=str(unpacked / "src"))
    assert listed == {tool["name"] for tool in manifest()["tools"]}
    where = "import moss_memory; print(moss_memory.__file__)"
    loaded = subprocess.run(
        [sys.executable, "-P", "-c", where],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(unpacked / "src")},
    )
    assert loaded.stdout.startswith(str(unpacked)), "the bundle's own code answered"


def test_the_bundle_is_reproducible_and_contains_no_build_files(bundle: Path, tmp_path: Path) -> None:
    assert build(tmp_path).read_bytes() == bundle.read_bytes()
    with zipfile.ZipFile(bundle) as packed:
        names = packed.namelist()
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db"))]
    assert {"manifest.json", "pyproject.toml", "README.md", "LICENSE"} <= set(names)


def test_wheel_and_source_contain_the_same_files_as_the_bundle(bundle: Path, tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "build", "--offline", "--quiet", "--out-dir", tmp_path], cwd=ROOT, check=True)
    with zipfile.ZipFile(bundle) as packed:
        code = {name.removeprefix("src/") for name in packed.namelist() if name.startswith("src/")}
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert {name for name in wheel.namelist() if name.startswith("moss_memory/") and name[-1] != "/"} == code
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as source:
        held = {name.partition("/src/")[2] for name in source.getnames() if "/src/" in name}
    assert code <= held


def test_the_workflow_runs_the_commands_of_the_readme_on_every_python() -> None:
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]["test"]
    assert job["strategy"]["matrix"] == {
        "os": ["ubuntu-latest", "macos-latest"],
        "python": ["3.11", "3.12", "3.13", "3.14"],
    }
    assert job["steps"][-1] == {"run": "make check test"}
    readme = (ROOT / "README.md").read_text()
    assert "`make test`" in readme
    assert "`make check`" in readme
