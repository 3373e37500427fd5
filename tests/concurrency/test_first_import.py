"""First calls by many threads: a tool's module is imported by its first call, and never used half imported."""

from __future__ import annotations

from pathlib import Path

from support.python_process import run

THREADS = 20
TOGETHER = """
import sys, threading
from support.store_truth import open_at
sys.setswitchinterval(1e-6)
start = threading.Barrier(int(sys.argv[2]))
problems = []
with open_at(sys.argv[1]) as store:
    def work(number):
        start.wait()
        try:
            store.call("artifact_store", {"kind": "k", "data": {"n": number}, "run_id": "r"})
        except Exception as error:
            problems.append(str(error))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(int(sys.argv[2]))]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(problems, len(store.call("artifact_list", {"run_id": "r"})["items"]))
"""


def test_twenty_threads_make_the_first_call_at_once(tmp_path: Path) -> None:
    for number in range(4):
        assert run(TOGETHER, tmp_path / f"home{number}", THREADS).strip() == f"[] {THREADS}"
