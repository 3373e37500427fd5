"""Three PostgreSQL servers, of which one can be written and the others follow; whichever it is may be killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg

from support.patience import TIMEOUT_S, wait_until
from support.postgres_programs import Programs, kill_whole

NAMES = ("n1", "n2", "n3")
_SETTINGS = (
    "listen_addresses=", "max_connections=100", "shared_buffers=32MB", "max_wal_size=256MB", "wal_keep_size=256MB",
    "wal_receiver_status_interval=1s", "wal_retrieve_retry_interval=100ms", "dynamic_shared_memory_type=mmap",
    "jit=off", f"synchronous_standby_names=ANY 1 ({', '.join(NAMES)})",
)  # fmt: skip
"""The same for all of them, so that each is safe from its first moment as the one that is written."""


class Node:
    """One server: its files, and the socket by which it is reached."""

    def __init__(self, programs: Programs, name: str) -> None:
        self.name = name
        self.socket = programs.folder / name
        self.data = self.socket / "data"
        self.process: subprocess.Popen[bytes] | None = None
        self._programs = programs
        self.socket.mkdir()
        programs.own(self.socket)

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        with (self.socket / "log").open("ab") as log:
            settings = (*_SETTINGS, f"cluster_name={self.name}")
            self.process = self._programs.start(log, self.data, self.socket, *settings)
        wait_until(self._answers, f"{self.name} does not answer")

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.socket / "log").read_text()[-2000:]
        try:
            self.ask("select 1")
        except psycopg.OperationalError:
            return False
        return True

    def ask(self, sql: str, *, database: str = "postgres") -> list[tuple[Any, ...]]:
        """What this server, and no other, answers."""
        conninfo = f"host={self.socket} user=moss dbname={database}"
        with psycopg.connect(conninfo, autocommit=True) as connection:
            answered = connection.execute(sql)  # type: ignore[arg-type, unused-ignore]
            return answered.fetchall() if answered.description else []

    def wait_for(self, wanted: list[tuple[Any, ...]], sql: str, *, database: str) -> None:
        """Waits until it answers so."""
        wait_until(lambda: self.ask(sql, database=database) == wanted, f"{self.name} holds something else")

    def follow(self, primary: Node) -> None:
        """Makes a running standby follow another server."""
        self.ask(f"alter system set primary_conninfo = 'host={primary.socket} user=moss'")
        self.ask("select pg_reload_conf()")

    def copy(self, primary: Node) -> None:
        """Begins anew as a standby, with a copy of the primary's files."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host={primary.socket} user=moss"
        self._programs.run("pg_basebackup", "-d", source, "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-N")
        self.start()

    def kill(self) -> None:
        """Ends it with all of its processes at once."""
        assert self.process is not None
        kill_whole(self.process)
        self.process = None

    def recover(self) -> None:
        """Lets a killed server tidy up after itself: it gives shared memory back."""
        self._programs.run("postgres", "--single", "-D", self.data, "postgres")

    def stop(self) -> None:
        """Stops it, without asking those who are connected."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=TIMEOUT_S)
            self.process = None


class Cluster:
    """A primary that acknowledges a commit when one of two standbys has it too."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="moss-cluster-"))
        self._programs = Programs(self.folder)
        self.nodes = [Node(self._programs, name) for name in NAMES]
        self.primary = self.nodes[0]
        try:
            self._programs.initdb(self.primary.data)
            self.primary.start()
            for node in self.standbys:
                node.copy(self.primary)
            self.wait_for_standbys()
            self.primary.ask("create database team")
            self.same_on_all("select datname from pg_database order by datname", database="postgres")
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """Where a store is, whichever of the servers has it."""
        return f"postgresql://moss@/team?host={','.join(str(node.socket) for node in self.nodes)}"

    @property
    def standbys(self) -> list[Node]:
        """Those that are not written."""
        return [node for node in self.nodes if node is not self.primary]

    def wait_for_standbys(self, count: int = 2) -> None:
        """Waits until so many standbys follow."""
        sql = "select 1 from pg_stat_replication where state = 'streaming'"
        wait_until(lambda: len(self.primary.ask(sql)) >= count, "the standbys do not follow")

    def lose_primary(self) -> Node:
        """Kills the primary, compares both standbys, and lets the one that has more take over; who was lost."""
        lost = self.primary
        standbys = self.standbys
        lost.kill()
        self.primary = max(standbys, key=_received)
        self.primary.ask("select pg_promote()")
        for node in standbys:
            if node is not self.primary:
                node.follow(self.primary)
        return lost

    def bring_back(self, lost: Node) -> None:
        """Lets a server that was lost follow the one that took over, and waits until all do."""
        lost.recover()
        lost.copy(self.primary)
        self.wait_for_standbys()

    def same_on_all(self, sql: str, *, database: str = "team") -> list[tuple[Any, ...]]:
        """What the primary answers, once the standbys answer the same."""
        wanted = self.primary.ask(sql, database=database)
        for node in self.standbys:
            node.wait_for(wanted, sql, database=database)
        return wanted

    def close(self) -> None:
        """Stops all of them and removes their files."""
        for node in self.nodes:
            node.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _received(node: Node) -> int:
    """How much of the log a standby has, on its disk; asked when no more can come."""
    wait_until(lambda: not node.ask("select 1 from pg_stat_wal_receiver"), f"{node.name} still follows")
    [(received,)] = node.ask("select coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn")
    return int(received)
