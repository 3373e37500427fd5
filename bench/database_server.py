"""A PostgreSQL server for benchmarks; it waits for the disk at each commit, as in production."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
SCRIPT = """
import sys
from support.postgres import PostgresServer
server = PostgresServer('fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=128MB')
print(server.url, flush=True)
sys.stdin.read()
server.close()
"""


@contextmanager
def run_server() -> Iterator[str]:
    """Start a new server, yield its URL, and stop and delete it at the end."""
    environment = {**os.environ, "PYTHONPATH": TESTS}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()
