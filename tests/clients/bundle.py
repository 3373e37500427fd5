"""Check the bundle as desktop clients do: with their validator and their way of starting the server in it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from release.bundle import build, manifest

from clients.node import environment, installed, node
from support.listed_tools import listed_tools

PACKAGE, VERSION = "@anthropic-ai/mcpb", "2.1.2"


def run(folder: Path) -> tuple[int, list[str]]:
    """Validate the manifest, and start the server from the unpacked bundle with `uv`."""
    unpacked = folder / "unpacked"
    with zipfile.ZipFile(build(folder)) as packed:
        for name in packed.namelist():
            packed.extract(name, unpacked)
    program = installed(PACKAGE, VERSION) / "dist" / "cli" / "cli.js"
    done = subprocess.run(
        [node(), str(program), "validate", str(unpacked / "manifest.json")],
        capture_output=True,
        text=True,
        env=environment(HOME=str(folder)),
    )
    failed = [] if done.returncode == 0 else [(done.stdout + done.stderr)[-400:]]
    config = manifest()["server"]["mcp_config"]
    words = [word.replace("${__dirname}", str(unpacked)) for word in config["args"]]
    uv = str(Path(sys.executable).with_name("uv"))
    listed = listed_tools([uv, *words], folder, HOME=str(folder))
    failed += [] if "capsule_store" in listed else [f"the server lists {sorted(listed)}"]
    return 2 - len(failed), failed
