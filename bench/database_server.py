"""A PostgreSQL server to measure on, which waits for its disk as one in earnest does."""

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
def running() -> Iterator[str]:
    """The URL of a server of its own, which is gone afterwards."""
    environment = {**os.environ, "PYTHONPATH": TESTS}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()
