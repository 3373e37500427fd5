"""Three PostgreSQL servers: a primary and two standbys; any of them may be killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg

from support.postgres_programs import Programs, kill_whole
from support.timeouts import TIMEOUT_S, wait_until

NAMES = ("n1", "n2", "n3")
_SETTINGS = (
    "listen_addresses=", "max_connections=100", "shared_buffers=32MB", "max_wal_size=256MB", "wal_keep_size=256MB",
    "wal_receiver_status_interval=1s", "wal_retrieve_retry_interval=100ms", "dynamic_shared_memory_type=mmap",
    "jit=off", f"synchronous_standby_names=ANY 1 ({', '.join(NAMES)})",
)  # fmt: skip
"""Settings of all three, so that each is safe as the primary from its start."""


class Node:
    """One server: its files, and its socket."""

    def __init__(self, programs: Programs, name: str) -> None:
        self.name = name
        self.socket = programs.folder / name
        self.data = self.socket / "data"
        self.process: subprocess.Popen[bytes] | None = None
        self._programs = programs
        self.socket.mkdir()
        programs.own(self.socket)

    def start(self) -> None:
        """Start the server and wait until it answers."""
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
        """Return the answer of this server, not of another one."""
        conninfo = f"host={self.socket} user=moss dbname={database}"
        with psycopg.connect(conninfo, autocommit=True) as connection:
            answered = connection.execute(sql)  # type: ignore[arg-type, unused-ignore]
            return answered.fetchall() if answered.description else []

    def wait_for(self, wanted: list[tuple[Any, ...]], sql: str, *, database: str) -> None:
        """Wait until a query has this answer."""
        wait_until(lambda: self.ask(sql, database=database) == wanted, f"{self.name} holds something else")

    def follow(self, primary: Node) -> None:
        """Make a running standby follow another server."""
        self.ask(f"alter system set primary_conninfo = 'host={primary.socket} user=moss'")
        self.ask("select pg_reload_conf()")

    def copy(self, primary: Node) -> None:
        """Start again as a standby, with a copy of the primary's files."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host={primary.socket} user=moss"
        self._programs.run("pg_basebackup", "-d", source, "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-N")
        self.start()

    def kill(self) -> None:
        """Kill all processes of the server at once."""
        assert self.process is not None
        kill_whole(self.process)
        self.process = None

    def recover(self) -> None:
        """Start and stop a killed server, so that it releases its shared memory."""
        self._programs.run("postgres", "--single", "-D", self.data, "postgres")

    def stop(self) -> None:
        """Stop the server without waiting for its clients."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=TIMEOUT_S)
            self.process = None


class Cluster:
    """A primary that acknowledges a commit if one of two standbys has it too."""

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
        """Return the URL of a store, which is valid for any primary."""
        return f"postgresql://moss@/team?host={','.join(str(node.socket) for node in self.nodes)}"

    @property
    def standbys(self) -> list[Node]:
        """Return the standbys."""
        return [node for node in self.nodes if node is not self.primary]

    def wait_for_standbys(self, count: int = 2) -> None:
        """Wait until `count` standbys follow the primary."""
        sql = "select 1 from pg_stat_replication where state = 'streaming'"
        wait_until(lambda: len(self.primary.ask(sql)) >= count, "the standbys do not follow")

    def lose_primary(self) -> Node:
        """Kill the primary and promote the standby with more of the log; return the killed node."""
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
        """Make a killed server follow the new primary, and wait until all are connected."""
        lost.recover()
        lost.copy(self.primary)
        self.wait_for_standbys()

    def same_on_all(self, sql: str, *, database: str = "team") -> list[tuple[Any, ...]]:
        """Return the primary's answer, once the standbys have the same."""
        wanted = self.primary.ask(sql, database=database)
        for node in self.standbys:
            node.wait_for(wanted, sql, database=database)
        return wanted

    def close(self) -> None:
        """Stop all servers and remove their files."""
        for node in self.nodes:
            node.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _received(node: Node) -> int:
    """Return how much of the log a standby has on disk; call this after the primary has stopped."""
    wait_until(lambda: not node.ask("select 1 from pg_stat_wal_receiver"), f"{node.name} still follows")
    [(received,)] = node.ask("select coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn")
    return int(received)
