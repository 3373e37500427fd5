"""Run LangGraph's tests of its own stores, from its source packages, on MossStore."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

from clients.node import CACHE

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
SUITES = {
    "langgraph-checkpoint": ["test_store.py"],
    "langgraph-checkpoint-sqlite": ["test_store.py", "test_async_store.py", "test_ttl.py"],
}
NEEDED = ["pytest", "pytest-asyncio", "pytest-mock", "pytest-retry"]
OF_SQLITE_ALONE = {
    "test_vector_store_initialization": "looks at its attributes",
    "test_nonnull_migrations": "looks at its migrations",
    "test_escape_glob_literal": "looks at its SQL",
    "test_namespace_match_pattern": "looks at its SQL",
    "test_list_namespaces_prefix_uses_indexable_condition": "looks at its SQL",
    "test_sql_injection_vulnerability": "refuses keys that it cannot put into SQL; to Moss a key is a key",
    "test_no_running_loop": "cannot be called from a running loop; MossStore can",
    "test_ttl_override_default": "refreshes only where told; the interface says that reading does",
}


def run(folder: Path) -> tuple[int, list[str]]:
    """Return the number of passed tests, and the messages of the others."""
    passed = 0
    failed: list[str] = []
    for package, names in SUITES.items():
        skipped = [f"--deselect=tests/{name}::{one}" for name in names for one in OF_SQLITE_ALONE]
        command = [_python(), "-m", "pytest", "-p", "clients.langgraph_on_moss", "-q", "-o", "asyncio_mode=auto"]
        done = subprocess.run(
            [*command, *skipped, *(f"tests/{name}" for name in names)],
            cwd=_source(package),
            env={**os.environ, "PYTHONPATH": str(HERE.parent), "HOME": str(folder), "COLUMNS": "300"},
            capture_output=True,
            text=True,
        )
        counted = re.search(r"(\d+) passed", done.stdout)
        passed += int(counted[1]) if counted else 0
        told = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        failed += told or ([] if done.returncode == 0 else [(done.stdout + done.stderr)[-600:]])
    return passed, failed


def _python() -> str:
    """Return the Python of a separate environment, because the suites need packages that Moss does not."""
    folder = CACHE / "langgraph"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        wanted = [*SUITES, *NEEDED, "--editable", str(REPOSITORY)]
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
        (folder / "installed").touch()
    return str(python)


def _source(package: str) -> Path:
    """Return the folder of a package's source distribution, which includes its tests."""
    place = CACHE / "sources"
    unpacked = sorted(place.glob(f"{package.replace('-', '_')}-[0-9]*/"))
    if not unpacked:
        pip = [_python(), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", package]
        subprocess.run([*pip, "--dest", str(place)], check=True)
        with tarfile.open(next(place.glob(f"{package.replace('-', '_')}-[0-9]*.tar.gz"))) as packed:
            packed.extractall(place, filter="data")
        unpacked = sorted(place.glob(f"{package.replace('-', '_')}-[0-9]*/"))
    return unpacked[-1]
