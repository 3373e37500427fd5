"""The port that the server listens on, and who has it when it is taken."""

from __future__ import annotations

import errno
import os
import socket

from moss_memory.errors import MossError, invalid_request

LOOPBACK = ("127.0.0.1", "::1", "localhost")
LAST_PORT = 65_535
WAITING = 4096
"""At most this many connections wait to be accepted; one more is tried again by its sender after a second."""
_LISTENING = "0A"


def listen(host: str, port: int, *, or_next: bool = False) -> socket.socket:
    """A socket that listens there. A taken port is refused with the name of who has it.

    Another port is taken only with `or_next`: clients know the old one, and would send their token to whoever has it.
    """
    if not 0 <= port <= LAST_PORT:
        raise invalid_request(f"`port` is {port}; give 1 to {LAST_PORT}", path="port")
    for tried in range(port, min(port + 100, LAST_PORT + 1) if or_next else port + 1):
        try:
            return _bound(host, tried)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise invalid_request(f"{host}:{port} cannot be listened on ({error.strerror})") from None
    raise MossError(
        "CONFLICT",
        f"port {port} of {host} is taken by {port_owner(port)}; end that, or choose another with `port` and connect "
        "your clients to it",
    )


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only where the protocol is named does asyncio switch off the wait for more to send: 40 ms in every answer.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Only for connections that are ending; a server that still listens keeps its port.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(WAITING)
    except BaseException:
        made.close()
        raise
    return made


def port_owner(port: int) -> str:
    """Who listens on a port, as far as this system tells."""
    found = _socket_of(port)
    if found is None:
        return _asked_of_lsof(port) or "another process"
    inode, uid = found
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if _has_socket(pid, inode):
            return f"process {pid} ({_command(pid)})"
    return f"a process of user {uid}" if uid != os.geteuid() else "another process of yours"


def _socket_of(port: int) -> tuple[str, int] | None:
    """The inode and the user of the socket that listens on a port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                lines = [line.split() for line in file.read().splitlines()[1:]]
        except OSError:
            continue
        for line in lines:
            if line[3] == _LISTENING and int(line[1].rpartition(":")[2], 16) == port:
                return line[9], int(line[7])
    return None


def _has_socket(pid: str, inode: str) -> bool:
    try:
        return any(
            os.readlink(f"/proc/{pid}/fd/{name}") == f"socket:[{inode}]" for name in os.listdir(f"/proc/{pid}/fd")
        )
    except OSError:
        return False  # another user's, or gone


def _command(pid: str) -> str:
    """What a process was started as: its program and first words, none of which is long."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return "gone by now"
    shown = " ".join([os.path.basename(words[0]), *words[1:4]]).strip()
    return "".join(letter if letter.isprintable() else "?" for letter in shown)[:80] or "a kernel thread"


def _asked_of_lsof(port: int) -> str:
    """Who listens, by the program that macOS brings for it."""
    import subprocess

    asked = ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fpc"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    fields = {line[0]: line[1:] for line in said.splitlines() if line}
    return f"process {fields['p']} ({fields.get('c', '?')})" if "p" in fields else ""
