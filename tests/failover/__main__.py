"""`make failover`: kill servers while clients write, and print a table; exit with 1 if anything failed."""

from __future__ import annotations

import sys

from failover import killing, limits, switching, team
from soak.table import Lines, run_all

LINES: Lines = {
    "primaries killed under 8 writers": killing.twenty_times,
    "switches by Patroni": switching.by_patroni,
    "writes to a full disk": limits.full_disk,
    "writes behind pgbouncer": limits.behind_a_pooler,
    "calls of 200 clients over HTTP": team.two_servers,
}

if __name__ == "__main__":
    sys.exit(run_all(LINES, program="make failover", about=__doc__ or ""))
