"""Build the MCPB bundle: one file that a desktop client installs by a click.

It contains the source of Moss and names its dependencies. The client installs them with `uv`, because SQLite is
compiled for each system. Two builds of the same files are equal, byte for byte.
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
PROJECT_FILES = ("pyproject.toml", "README.md", "LICENSE")
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can contain."""


def manifest() -> dict[str, Any]:
    """Return the manifest of the bundle, with the metadata of pyproject.toml."""
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
                "title": "Folder of the store",
                "description": "All clients with the same folder share the store",
                "default": "${HOME}/.moss",
                "required": False,
            }
        },
    }


def is_core(tool: Any) -> bool:
    return tool.name in catalog.CORE


def build(folder: Path) -> Path:
    """Write the bundle into a folder and return its path."""
    data = manifest()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{data['name']}-{data['version']}.mcpb"
    files = sorted(path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    with zipfile.ZipFile(target, "w") as bundle:
        _add(bundle, "manifest.json", json.dumps(data, indent=2).encode() + b"\n")
        for file in [*(ROOT / name for name in PROJECT_FILES), *files]:
            _add(bundle, file.relative_to(ROOT).as_posix(), file.read_bytes())
    return target


def _add(bundle: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    bundle.writestr(entry, data)


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
