"""A team's load on two servers of one database, while both servers and the database restart."""

from __future__ import annotations

from pathlib import Path

from support.postgres import PostgresServer
from support.team_load import TeamLoad
from support.thorough import complete_or


def test_no_acknowledged_write_is_lost_and_every_session_goes_on(tmp_path: Path) -> None:
    database = PostgresServer()
    try:
        load = TeamLoad(tmp_path, database.url, clients=complete_or(24, 12))
        load.wait_for_writes(40)
        load.kill(0)
        load.wait_for_writes(40)
        load.kill(1)
        load.wait_for_writes(40)
        database.restart()
        load.wait_for_writes(40)
        assert load.finish() == []
        assert load.told["connection lost"] > 0
    finally:
        database.close()
