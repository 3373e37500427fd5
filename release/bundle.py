"""The MCPB bundle: one file that a desktop client installs by a click.

It carries Moss itself and says what else is needed; the client's `uv` fetches that for the machine it runs on, because
SQLite comes compiled for each system. Built twice from the same files it is the same, byte for byte.
"""

from __future__ import annotations

import json
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from moss_memory.registry import catalog

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "moss_memory"
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a ZIP file knows."""


def manifest() -> dict[str, Any]:
    """What the bundle says of itself; what the distribution says already is taken from there."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    return {
        "manifest_version": "0.4",
        "name": "moss",
        "display_name": "Moss",
        "version": project["version"],
        "description": project["description"],
        "author": {"name": "Moss"},
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": f"src/{SOURCE.name}/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--project", "${__dirname}", "--no-dev", "moss", "mcp", "--toolsets", "core"],
                "env": {"MOSS_HOME": "${user_config.home}"},
            },
        },
        "tools": [{"name": tool.name, "description": tool.summary} for tool in catalog.operations() if is_core(tool)],
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "linux"],
            "runtimes": {"python": project["requires-python"]},
        },
        "user_config": {
            "home": {
                "type": "directory",
                "title": "Where Moss keeps its store",
                "description": "Shared with every other client that names the same folder",
                "default": "${HOME}/.moss",
                "required": False,
            }
        },
    }


def is_core(tool: Any) -> bool:
    """Whether the bundle's client lists a tool."""
    return tool.name in catalog.CORE


def build(folder: Path) -> Path:
    """Writes the bundle into a folder and answers where."""
    told = manifest()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{told['name']}-{told['version']}.mcpb"
    files = sorted(one for one in SOURCE.rglob("*") if one.is_file() and "__pycache__" not in one.parts)
    with zipfile.ZipFile(path, "w") as bundle:
        _add(bundle, "manifest.json", json.dumps(told, indent=2).encode() + b"\n")
        for one in [*(ROOT / name for name in BESIDE), *files]:
            _add(bundle, one.relative_to(ROOT).as_posix(), one.read_bytes())
    return path


def _add(bundle: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    bundle.writestr(entry, data)


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
