"""Kill the primary of three servers while clients write: acknowledged writes are stored exactly once."""

from __future__ import annotations

from pathlib import Path

from soak.trial import Trial
from support.acknowledging import Writers
from support.cluster import Cluster

KILLS, WRITERS = 20, 8
WRITES_BETWEEN = 5
FOUND = "select id, title from capsules order by id"


def lose_primaries(cluster: Cluster, folder: Path, *, kills: int, writers: int) -> Trial:
    """Kill the primary repeatedly while all write; count each write that contradicts its answer as a failure."""
    running = Writers(folder, cluster.url, count=writers)
    try:
        for _ in range(kills):
            running.wait_for(WRITES_BETWEEN)
            lost = cluster.lose_primary()
            running.wait_for(1)
            cluster.bring_back(lost)
        running.wait_for(WRITES_BETWEEN)
        told = running.stop()
    finally:
        running.kill()
    wrong = told.wrong_in(cluster.same_on_all(FOUND))
    note = f"{len(told.kept):,} writes acknowledged, {len(told.unknown)} unknown, told meanwhile: {dict(told.refused)}"
    return Trial(kills, len(wrong), "; ".join([note, *wrong[:5]]))


def twenty_times(folder: Path) -> Trial:
    """Run the whole trial."""
    cluster = Cluster()
    try:
        return lose_primaries(cluster, folder, kills=KILLS, writers=WRITERS)
    finally:
        cluster.close()
