"""The listening socket, and the owner of a port that is in use."""

from __future__ import annotations

import errno
import os
import socket

from moss_memory.errors import MossError, invalid_request

LOOPBACK = ("127.0.0.1", "::1", "localhost")
LAST_PORT = 65_535
BACKLOG = 4096
"""Backlog of the socket; a client retries one more connection after a second."""
_LISTEN_STATE = "0A"


def open_listener(host: str, port: int, *, or_next: bool = False) -> socket.socket:
    """Return a listening socket; refuse a port in use with the name of its owner.

    Another port is tried only with `or_next`: configured clients would send their token to the owner of the old one.
    """
    if not 0 <= port <= LAST_PORT:
        raise invalid_request(f"`port` is {port}; give 1 to {LAST_PORT}", path="port")
    for tried in range(port, min(port + 100, LAST_PORT + 1) if or_next else port + 1):
        try:
            return _bind(host, tried)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise invalid_request(f"{host}:{port} cannot be listened on ({error.strerror})") from None
    raise MossError(
        "CONFLICT",
        f"port {port} of {host} is taken by {port_owner(port)}; end that, or choose another with `port` and connect "
        "your clients to it",
    )


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is named; without it every response takes 40 ms longer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Reuse affects only closing connections; a port with a listening server stays taken.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening


def port_owner(port: int) -> str:
    socket_entry = _socket_of(port)
    if socket_entry is None:
        return _ask_lsof(port) or "another process"
    inode, uid = socket_entry
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if _has_socket(pid, inode):
            return f"process {pid} ({_command(pid)})"
    return f"a process of user {uid}" if uid != os.geteuid() else "another process of yours"


def _socket_of(port: int) -> tuple[str, int] | None:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                lines = [line.split() for line in file.read().splitlines()[1:]]
        except OSError:
            continue
        for line in lines:
            if line[3] == _LISTEN_STATE and int(line[1].rpartition(":")[2], 16) == port:
                return line[9], int(line[7])
    return None


def _has_socket(pid: str, inode: str) -> bool:
    try:
        return any(
            os.readlink(f"/proc/{pid}/fd/{name}") == f"socket:[{inode}]" for name in os.listdir(f"/proc/{pid}/fd")
        )
    except OSError:
        return False  # another user's process, or an ended one


def _command(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return "gone by now"
    command = " ".join([os.path.basename(words[0]), *words[1:4]]).strip()
    return "".join(letter if letter.isprintable() else "?" for letter in command)[:80] or "a kernel thread"


def _ask_lsof(port: int) -> str:
    """Return the process that listens on a port, found by lsof (macOS); empty if unknown."""
    import subprocess

    command = ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fpc"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    fields = {line[0]: line[1:] for line in output.splitlines() if line}
    return f"process {fields['p']} ({fields.get('c', '?')})" if "p" in fields else ""
