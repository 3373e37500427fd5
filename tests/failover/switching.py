"""Patroni switches the leader, with the files of the how-to: once after a loss, once on request."""

from __future__ import annotations

import os
from pathlib import Path

from failover.killing import FOUND, WRITERS, WRITES_BETWEEN
from soak.trial import Trial
from support.acknowledging import Writers
from support.patroni_cluster import PatroniCluster


def by_patroni(folder: Path) -> Trial:
    """Assert that acknowledged writes are stored exactly once after both switches."""
    _give_password(folder)
    cluster = PatroniCluster()
    try:
        return _switch_under_writers(cluster, folder)
    finally:
        cluster.close()


def _switch_under_writers(cluster: PatroniCluster, folder: Path) -> Trial:
    running = Writers(folder, cluster.url, count=WRITERS)
    try:
        running.wait_for(WRITES_BETWEEN)
        lost = cluster.leader
        assert lost is not None
        lost.lose()
        taken_over = cluster.wait_for_another(lost)
        running.wait_for(WRITES_BETWEEN)
        lost.start_patroni()
        cluster.wait_for_all()
        asked = cluster.switch()
        running.wait_for(WRITES_BETWEEN)
        told = running.stop()
    finally:
        running.kill()
    wrong = told.wrong_in(cluster.ask(FOUND))
    note = f"{lost.name} lost, {taken_over.name} took over, then {asked.name} on request; {len(told.kept):,} writes"
    return Trial(2, len(wrong), "; ".join([f"{note}, told meanwhile: {dict(told.refused)}", *wrong[:5]]))


def _give_password(folder: Path) -> None:
    """Put the password into the place that every process of the trial reads."""
    file = folder / "pgpass"
    file.write_text("*:*:team:moss:swordfish\n")
    file.chmod(0o600)
    os.environ["PGPASSFILE"] = str(file)
