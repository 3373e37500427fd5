"""Make the stores of earlier schemas in `old_stores`, each with the version of Moss at a commit of that time.

`PYTHONPATH=tests python -m postgres.make_old_stores` writes all of them again.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from support.postgres import PostgresServer

FOLDER = Path(__file__).parent / "old_stores"
ROOT = Path(__file__).parents[2]
COMMITS = {
    "12": "f6cb0944", "14-early": "8db28f0d", "14-middle": "2ed483bc", "14": "47296500", "15": "2dd68e9f",
    "16": "06a5d700", "17": "aeaa6764", "18": "76a86558", "19": "fa380fe9", "20": "7310fda5",
}  # fmt: skip
"""A commit for every schema of stores on PostgreSQL; 16 is that of release 0.1.0."""
FILL = r"""
import sys, tempfile
from moss_memory.config import default_config
from moss_memory.store import Store
TEXT = "## Objective\nKeep the quokka\n\n## Status\nhalf\n\n## Next\nfeed it\n\n## Decisions\nnone\n\n## Files\nzoo.py"
CARD = {"type": "hypothesis", "title": "the quokka is hungry", "text": "it looks at the leaves"}
STEPS = [{"title": "find leaves"}]
CALLS = [
    ("capsule_store", {"name": "animal", "capsule_text": TEXT, "tags": ["keep"], "allow_thin": True}),
    ("capsule_store", {"name": "animal", "capsule_text": TEXT + "done", "mode": "replace", "allow_thin": True}),
    ("capsule_store", {"name": "gone", "capsule_text": "a wombat", "allow_thin": True}),
    ("capsule_delete", {"name": "gone"}),
    ("artifact_store", {"name": "plan", "kind": "plan", "data": {"goal": "quokka"}, "text": "feed the quokka at noon"}),
    ("tasks_create", {"kind": "task", "title": "feed the quokka", "steps": STEPS}),
    ("branchmind_notes_commit", {"content": "the quokka sleeps"}),
    ("branchmind_think_card", {"card": CARD}),
]
with Store(default_config(tempfile.mkdtemp()).replace(url=sys.argv[1])) as store:
    for tool, arguments in CALLS:
        store.call(tool, {"workspace": "zoo", **arguments})
"""


def sources(commit: str, folder: str) -> str:
    """Write Moss as it was at a commit into a folder; return the folder."""
    archive = subprocess.run(["git", "archive", commit, "src"], check=True, capture_output=True, cwd=ROOT).stdout
    subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
    return os.path.join(folder, "src")


def dump(server: PostgresServer) -> str:
    """Return a database as statements that make it again."""
    command = [str(server.programs.binaries / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", server.url]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/").stdout
    lines = [line for line in shown.splitlines() if line.strip() and not line.startswith(("--", "\\"))]
    return re.sub(r"(?m)^SET transaction_timeout.*\n", "", "\n".join(lines) + "\n")


def make(name: str, commit: str) -> None:
    """Make the store of one schema."""
    server = PostgresServer()
    try:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PYTHONPATH": sources(commit, folder)}
            subprocess.run([sys.executable, "-c", FILL, server.url], check=True, env=environment)
        with gzip.GzipFile(str(FOLDER / f"{name}.sql.gz"), "wb", mtime=0) as file:
            file.write(dump(server).encode())
    finally:
        server.close()


if __name__ == "__main__":
    for name, commit in COMMITS.items():
        make(name, commit)
