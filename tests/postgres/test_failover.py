"""Three servers, the primary of which is killed once under writers; `make failover` does it twenty times."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL
from failover.killing import lose_primaries
from moss_memory.config import default_config
from moss_memory.store import Store
from support.cli_typist import Cli
from support.cluster import Cluster
from support.store_truth import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Start three servers."""
    made = Cluster()
    yield made
    made.close()


def test_acknowledged_writes_survive_the_primary_and_the_doctor_names_the_new_one(
    cluster: Cluster, tmp_path: Path
) -> None:
    cli = Cli(str(tmp_path / "home"), {**os.environ, "MOSS_URL": cluster.url, "MOSS_HOME": str(tmp_path / "home")})
    assert durability(cli)[0]["message"].endswith("2 standby servers, 2 synchronous (ANY 1 (n1, n2, n3))")
    trial = lose_primaries(cluster, tmp_path, kills=1, writers=3)
    assert trial.failed == 0, trial.note
    lost = cluster.primary
    took_over = cluster.lose_primary()
    assert took_over is lost
    [durable], hosts = durability(cli), told(cli, "host")
    assert "1 standby server, 1 synchronous" in durable["message"]
    assert f"at {cluster.primary.socket}, the primary, timeline 3" in told(cli, "server")[0]["message"]
    said = {"n1": "is a standby", "n2": "is a standby", "n3": "is a standby"}
    said |= {lost.name: "cannot be reached", cluster.primary.name: "is the primary"}
    assert [host["message"].rpartition("/")[2] for host in hosts] == [f"{name} {said[name]}" for name in said]
    assert [host["status"] for host in hosts].count("warn") == 1
    with Store(default_config("/nowhere").replace(url=cluster.url)) as store:
        assert store.call("capsule_store", {"name": "later", "capsule_text": FULL})["version"] == 1


def durability(cli: Cli) -> list[dict[str, str]]:
    """Return the doctor's checks of durability, asserting that they are good."""
    found = told(cli, "durability")
    assert [check["status"] for check in found] == ["ok"]
    return found


def told(cli: Cli, name: str) -> list[dict[str, str]]:
    """Return the doctor's checks of one name."""
    report = json.loads(cli.process("doctor", "--json").out)
    return [check for check in report["checks"] if check["name"] == name]


def test_a_standby_is_not_written(cluster: Cluster) -> None:
    standby = cluster.standbys[0]
    with Store(default_config("/nowhere").replace(url=f"postgresql://moss@/team?host={standby.socket}")) as store:
        error = refusal(store.call, "capsule_store", {"name": "x", "capsule_text": FULL}, wait=False)
    assert error.code in ("STORAGE_BUSY", "STORAGE_READONLY")
    assert "read-only" in error.message
