"""Other memory servers, measured in turn with Moss over the same stdio client."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from .client import Server, ServerError, clean_environment, moss_server
from .measure import CACHE, BenchmarkRow, compare_times, medians_us, scratch_folder, worst_row
from .startup import ServerStarts
from .texts import Author

MEMORIES = 200
"""The number of memories, of 2,000 characters each, in each server before the measurement."""

INSTALL_TIMEOUT_S = 420

ToolCall = tuple[str, dict[str, Any]]
"""The name of a tool and its arguments."""


@dataclass(frozen=True)
class Peer:
    """Another memory server: its npm package and its calls for store, fetch and search."""

    package: str
    binary: str
    data_variable: str
    data_name: str
    first_calls: tuple[ToolCall, ...]
    store: Callable[[str, str], ToolCall]
    fetch: Callable[[str], ToolCall]
    search: Callable[[str], ToolCall]

    @property
    def folder(self) -> str:
        return os.path.join(CACHE, "peers", self.binary)

    def start(self, folder: str) -> Server:
        """Start the server with its data in `folder`; raise `OSError` if it is not installed."""
        env = {**clean_environment(), self.data_variable: os.path.join(folder, self.data_name), "HOME": folder}
        return Server([os.path.join(self.folder, "node_modules", ".bin", self.binary)], env=env, cwd=folder)

    def version(self) -> str:
        with open(os.path.join(self.folder, "node_modules", self.package, "package.json")) as file:
            return str(json.load(file)["version"])


SERVER_MEMORY = Peer(
    package="@modelcontextprotocol/server-memory",
    binary="mcp-server-memory",
    data_variable="MEMORY_FILE_PATH",
    data_name="memory.jsonl",
    first_calls=(),
    store=lambda name, text: (
        "create_entities",
        {"entities": [{"name": name, "entityType": "capsule", "observations": [text]}]},
    ),
    fetch=lambda name: ("open_nodes", {"names": [name]}),
    search=lambda query: ("search_nodes", {"query": query}),
)
MEMORY_KEEPER = Peer(
    package="mcp-memory-keeper",
    binary="mcp-memory-keeper",
    data_variable="DATA_DIR",
    data_name="keeper",
    first_calls=(("context_session_start", {"name": "bench"}),),
    store=lambda name, text: ("context_save", {"key": name, "value": text}),
    fetch=lambda name: ("context_get", {"key": name}),
    search=lambda query: ("context_search", {"query": query}),
)
PEERS = (SERVER_MEMORY, MEMORY_KEEPER)


def install(peer: Peer) -> bool:
    """Install a peer once, into the cache; return False if npm is missing or the package does not run."""
    binary = os.path.join(peer.folder, "node_modules", ".bin", peer.binary)
    if not os.path.exists(binary) and shutil.which("npm"):
        os.makedirs(peer.folder, exist_ok=True)
        with open(os.path.join(peer.folder, "package.json"), "w") as file:
            json.dump({"private": True}, file)
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", peer.package]
        try:
            subprocess.run(command, cwd=peer.folder, capture_output=True, timeout=INSTALL_TIMEOUT_S, check=True)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(peer.folder, ignore_errors=True)
    return os.path.exists(binary) and _can_start(peer)


def _can_start(peer: Peer) -> bool:
    """Start the peer once: a package with a native library can be installed and still not run."""
    with scratch_folder() as folder:
        try:
            with peer.start(folder) as server:
                server.initialize()
        except (OSError, ServerError):
            return False
    return True


def moss_store(name: str, text: str) -> ToolCall:
    return "capsule_store", {"name": name, "capsule_text": text}


def moss_fetch(name: str) -> ToolCall:
    return "capsule_fetch", {"name": name}


def moss_search(query: str) -> ToolCall:
    return "capsule_search", {"query": query}


def compare_start(peer: Peer, rounds: int = 15) -> BenchmarkRow:
    """Compare the time until the first answer of `moss mcp` with that of the peer."""
    with scratch_folder() as folder:
        moss, other = ServerStarts(lambda: moss_server(folder)), ServerStarts(lambda: peer.start(folder))
        medians_us(moss.once, other.once, rounds=rounds, warm_up=2)
    ours, theirs = median(moss.first_answer_us), median(other.first_answer_us)
    return BenchmarkRow(
        f"MCP spawn to first answer : {peer.package}'s", ours / theirs, 0.2, note=compare_times(ours, theirs)
    )


def compare_calls(peers: list[Peer], rounds: int = 12) -> list[BenchmarkRow]:
    """Compare store, fetch and search of servers with the same memories."""
    author = Author(seed=6)
    memories = [author.capsule(2_000) for _ in range(MEMORIES)]
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        clients = [Client(stack.enter_context(moss_server(folder)), Calls(moss_store, moss_fetch, moss_search))]
        for peer in peers:
            server = stack.enter_context(peer.start(folder))
            clients.append(Client(server, Calls(peer.store, peer.fetch, peer.search), peer.first_calls))
        for client in clients:
            client.fill(memories)
        times_us = {
            "store": medians_us(*[client.next_store(memories) for client in clients], rounds=rounds, block=25),
            "fetch": medians_us(*[client.next_fetch() for client in clients], rounds=rounds, block=25),
            "search": medians_us(*[client.next_search(memories) for client in clients], rounds=rounds, block=25),
        }
        for client in clients:
            client.check_stored(f"memory-{MEMORIES + rounds * 25}", memories[rounds * 25 % MEMORIES][40:100])
    names = [peer.package for peer in peers]
    return [
        worst_row(
            f"{work} over stdio : other memory servers'",
            {name: (ours, other) for name, other in zip(names, others, strict=True)},
            0.5,
        )
        for work, (ours, *others) in times_us.items()
    ]


@dataclass(frozen=True)
class Calls:
    """The calls of one server."""

    store: Callable[[str, str], ToolCall]
    fetch: Callable[[str], ToolCall]
    search: Callable[[str], ToolCall]


class Client:
    """A session with one server; measured answers are read, not parsed."""

    def __init__(self, server: Server, calls: Calls, first_calls: tuple[ToolCall, ...] = ()) -> None:
        self._server = server
        self._calls = calls
        server.initialize()
        for tool, arguments in first_calls:
            server.call(tool, arguments)

    def fill(self, memories: list[str]) -> None:
        """Store the memories and check that fetch and search find them."""
        for number, text in enumerate(memories):
            self._server.call(*self._calls.store(f"memory-{number}", text))
        self.check_stored("memory-7", memories[7][40:100])
        hits = self._server.call(*self._calls.search(rarest_words(memories)[7]))
        if "memory-7" not in json.dumps(hits):
            raise ServerError(f"memory-7 was not found: {str(hits)[:200]}")

    def check_stored(self, name: str, words: str) -> None:
        """Check that a memory is stored: a server that refuses every call would look fast."""
        answer = json.dumps(self._server.call(*self._calls.fetch(name)))
        if words not in answer:
            raise ServerError(f"{name} was not stored: {answer[:200]}")

    def next_store(self, memories: list[str]) -> Callable[[], None]:
        """Return a function that stores the next memory."""
        numbers = itertools.count(MEMORIES)

        def store() -> None:
            number = next(numbers)
            self._send(self._calls.store(f"memory-{number}", memories[number % MEMORIES]))

        return store

    def next_fetch(self) -> Callable[[], None]:
        """Return a function that fetches another memory by name."""
        numbers = itertools.count(step=7)
        return lambda: self._send(self._calls.fetch(f"memory-{next(numbers) % MEMORIES}"))

    def next_search(self, memories: list[str]) -> Callable[[], None]:
        """Return a function that searches for one word of a memory, a query that every server supports."""
        words = itertools.cycle(rarest_words(memories))
        return lambda: self._send(self._calls.search(next(words)))

    def _send(self, call: ToolCall) -> None:
        self._server.exchange(self._server.call_request(*call))


def rarest_words(memories: list[str]) -> list[str]:
    """Return for each memory its word that occurs in the fewest memories."""
    words = [set(text.split()) for text in memories]
    counts = Counter(itertools.chain.from_iterable(words))
    return [min(sorted(of_one), key=lambda word: (counts[word], -len(word))) for of_one in words]


def versions() -> str:
    return ", ".join(f"{peer.package} {peer.version()}" for peer in PEERS if os.path.isdir(peer.folder))


def run() -> list[BenchmarkRow]:
    installed = [peer for peer in PEERS if install(peer)]
    result = [compare_start(SERVER_MEMORY)] if SERVER_MEMORY in installed else []
    if installed:
        result += compare_calls(installed)
    missing = [peer for peer in PEERS if peer not in installed]
    return result + [
        BenchmarkRow(f"everything : {peer.package}'s", None, 0.5, note="not installed") for peer in missing
    ]
