"""`python -m bench`: runs every benchmark, prints the table, and fails when a line is not held."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable

import apsw

from . import (
    conversation,
    findings,
    in_process,
    in_repository,
    meaning,
    over_http,
    page_times,
    peers,
    plain_query,
    postgres,
    postgres_import,
    postgres_search,
    scale,
    startup,
    synced,
    writers,
)
from .measure import Line

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "benchmarks.md")
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
GROUPS: dict[str, Callable[[], list[Line]]] = {
    "startup": startup.lines,
    "conversation": conversation.lines,
    "over_http": over_http.lines,
    "in_process": in_process.lines,
    "in_repository": in_repository.lines,
    "writers": writers.lines,
    "scale": scale.lines,
    "page_times": page_times.lines,
    "plain_query": plain_query.lines,
    "postgres_search": postgres_search.lines,
    "postgres": postgres.lines,
    "postgres_import": postgres_import.lines,
    "meaning": meaning.lines,
    "findings": findings.lines,
    "synced": synced.lines,
    "peers": peers.lines,
}


def main() -> int:
    """Measures what was asked for; 0 when every line is held, else 1."""
    arguments = _parser().parse_args()
    found: list[Line] = []
    for group in arguments.only or GROUPS:
        print(f"measuring {group} …", file=sys.stderr, flush=True)
        found += GROUPS[group]()
    print(table(found))
    if arguments.write:
        write(found)
    return 0 if all(line.held for line in found) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the table in docs/benchmarks.md")
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), help="measure only these")
    return parser


def table(found: list[Line]) -> str:
    """The lines as a Markdown table."""
    rows = [("what : beside what", "measured", "at most", "held"), ("---", "---", "---", "---")]
    rows += [line.cells() for line in found]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write(found: list[Line]) -> None:
    """Puts the table into the page, between its markers."""
    with open(PAGE, encoding="utf-8") as file:
        before, _, rest = file.read().partition(BEGIN)
    after = rest.partition(END)[2]
    versions = f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}, {os.cpu_count()} cores"
    system = f"{platform.system()} on {platform.machine()}"
    if installed := peers.versions():
        versions = f"{versions}, {installed}"
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{table(found)}\n\nMeasured with {versions}, {system}.\n\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
