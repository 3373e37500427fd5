"""`python -m bench`: run every benchmark, print the table, and fail if a row exceeds its limit."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable

import apsw

from . import (
    folder_sync,
    in_process,
    over_http,
    page_times,
    peers,
    postgres,
    postgres_search,
    recall,
    scale,
    startup,
    stdio,
    vector_search,
    word_search,
    writers,
)
from .measure import BenchmarkRow

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "benchmarks.md")
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
GROUPS: dict[str, Callable[[], list[BenchmarkRow]]] = {
    "startup": startup.run,
    "stdio": stdio.run,
    "over_http": over_http.run,
    "in_process": in_process.run,
    "writers": writers.run,
    "scale": scale.run,
    "page_times": page_times.run,
    "word_search": word_search.run,
    "vector_search": vector_search.run,
    "recall": recall.run,
    "postgres": postgres.run,
    "postgres_search": postgres_search.run,
    "folder_sync": folder_sync.run,
    "peers": peers.run,
}


def main() -> int:
    """Measure the chosen groups; return 1 if a row exceeds its limit."""
    arguments = _parser().parse_args()
    measured: list[BenchmarkRow] = []
    for group in arguments.only or GROUPS:
        print(f"measuring {group} …", file=sys.stderr, flush=True)
        measured += GROUPS[group]()
    print(render_table(measured))
    if arguments.write:
        write_page(measured)
    return 0 if all(row.is_within_limit for row in measured) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/benchmarks.md")
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), help="measure only these")
    return parser


def render_table(measured: list[BenchmarkRow]) -> str:
    rows = [("Moss : compared with", "measured", "at most", "within limit"), ("---", "---", "---", "---")]
    rows += [row.cells() for row in measured]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write_page(measured: list[BenchmarkRow]) -> None:
    """Replace the table in docs/benchmarks.md, between its two markers."""
    with open(PAGE, encoding="utf-8") as file:
        before, _, rest = file.read().partition(BEGIN)
    after = rest.partition(END)[2]
    versions = f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}, {os.cpu_count()} cores"
    system = f"{platform.system()} on {platform.machine()}"
    if installed := peers.versions():
        versions = f"{versions}, {installed}"
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{render_table(measured)}\n\nMeasured with {versions}, {system}.\n\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
