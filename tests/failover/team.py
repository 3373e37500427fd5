"""Two hundred clients over HTTP for a minute, while a server is killed and PostgreSQL restarts."""

from __future__ import annotations

from pathlib import Path

from soak.trial import Trial
from support.postgres import PostgresServer
from support.team_load import TeamLoad

CLIENTS, THIRD_S = 200, 20.0


def two_servers(folder: Path) -> Trial:
    """Assert that acknowledged writes are stored once, and no session ends."""
    database = PostgresServer()
    try:
        load = TeamLoad(folder, database.url, clients=CLIENTS)
        load.work_for(THIRD_S)
        load.kill(0)
        load.work_for(THIRD_S)
        database.restart()
        load.work_for(THIRD_S)
        wrong = load.finish()
    finally:
        database.close()
    note = f"{len(load.kept):,} writes acknowledged, sent again because of: {dict(load.told)}"
    return Trial(load.calls, len(wrong), "; ".join([note, *wrong[:5]]))
