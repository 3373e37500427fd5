"""`make soak`: run long trials of the storage guarantees and print a table; exit with 1 if anything failed."""

from __future__ import annotations

import sys

from soak import callers, connections, crashes, interrupts, machines, stores, writers
from soak.table import Lines, run_all

LINES: Lines = {
    "writes by 32 processes at once": writers.thirty_two_at_once,
    "holders and waiters killed": writers.killed_in_line,
    "writers killed": crashes.killed_writers,
    "power cuts": crashes.power_cuts,
    "calls interrupted by signals": interrupts.interrupted_calls,
    "fuzzed calls": callers.fuzzed_calls,
    "links swapped": callers.swapped_links,
    "requests beside 5,000 idle connections": connections.beside_idle_ones,
    "stores changed by hand": stores.crafted_stores,
    "random turns of two machines": machines.random_turns,
}

if __name__ == "__main__":
    sys.exit(run_all(LINES, program="make soak", about=__doc__ or ""))
