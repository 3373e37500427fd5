"""The same work asked of other memory servers, over the same stdio client and in turn with Moss."""

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
from .measure import CACHE, Line, compared_us, medians_us, scratch_folder, worst_line
from .startup import Starts
from .texts import Author

MEMORIES = 200
"""How many memories of 2,000 characters each server holds when the measuring begins."""

INSTALL_TIMEOUT_S = 420

CallContext = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Peer:
    """Another memory server: where it comes from, and how the three things are said to it."""

    package: str
    binary: str
    data_variable: str
    data_name: str
    opening: tuple[CallContext, ...]
    store: Callable[[str, str], CallContext]
    fetch: Callable[[str], CallContext]
    search: Callable[[str], CallContext]

    @property
    def folder(self) -> str:
        return os.path.join(CACHE, "peers", self.binary)

    def start(self, folder: str) -> Server:
        """The server with its data in `folder`; raises `OSError` where it is not installed."""
        env = {**clean_environment(), self.data_variable: os.path.join(folder, self.data_name), "HOME": folder}
        return Server([os.path.join(self.folder, "node_modules", ".bin", self.binary)], env=env, cwd=folder)

    def version(self) -> str:
        """The version that was installed."""
        with open(os.path.join(self.folder, "node_modules", self.package, "package.json")) as file:
            return str(json.load(file)["version"])


SERVER_MEMORY = Peer(
    package="@modelcontextprotocol/server-memory",
    binary="mcp-server-memory",
    data_variable="MEMORY_FILE_PATH",
    data_name="memory.jsonl",
    opening=(),
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
    opening=(("context_session_start", {"name": "bench"}),),
    store=lambda name, text: ("context_save", {"key": name, "value": text}),
    fetch=lambda name: ("context_get", {"key": name}),
    search=lambda query: ("context_search", {"query": query}),
)
PEERS = (SERVER_MEMORY, MEMORY_KEEPER)


def install(peer: Peer) -> bool:
    """Installs a peer once, into the cache; false where npm is missing or the package does not install."""
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
    return os.path.exists(binary) and _answers(peer)


def _answers(peer: Peer) -> bool:
    """Whether the installed peer starts and answers; one with a native part may install and then not run."""
    with scratch_folder() as folder:
        try:
            with peer.start(folder) as server:
                server.hello()
        except (OSError, ServerError):
            return False
    return True


def moss_store(name: str, text: str) -> CallContext:
    return "capsule_store", {"name": name, "capsule_text": text}


def moss_fetch(name: str) -> CallContext:
    return "capsule_fetch", {"name": name}


def moss_search(query: str) -> CallContext:
    return "capsule_search", {"query": query}


def start_line(peer: Peer, rounds: int = 15) -> Line:
    """The first answer of `moss mcp` against the peer's."""
    with scratch_folder() as folder:
        moss, other = Starts(lambda: moss_server(folder)), Starts(lambda: peer.start(folder))
        medians_us(moss.once, other.once, rounds=rounds, warm_up=2)
    ours, theirs = median(moss.first_answer_us), median(other.first_answer_us)
    return Line(f"MCP spawn to first answer : {peer.package}'s", ours / theirs, 0.2, note=compared_us(ours, theirs))


def work_lines(peers: list[Peer], rounds: int = 12) -> list[Line]:
    """Store, fetch and search over stdio, each server in turn, all holding the same memories."""
    author = Author(seed=6)
    memories = [author.capsule(2_000) for _ in range(MEMORIES)]
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        speakers = [Speaker(stack.enter_context(moss_server(folder)), Tongue(moss_store, moss_fetch, moss_search))]
        for peer in peers:
            server = stack.enter_context(peer.start(folder))
            speakers.append(Speaker(server, Tongue(peer.store, peer.fetch, peer.search), peer.opening))
        for speaker in speakers:
            speaker.fill(memories)
        taken = {
            "store": medians_us(*[speaker.storing(memories) for speaker in speakers], rounds=rounds, block=25),
            "fetch": medians_us(*[speaker.fetching() for speaker in speakers], rounds=rounds, block=25),
            "search": medians_us(*[speaker.searching(memories) for speaker in speakers], rounds=rounds, block=25),
        }
        for speaker in speakers:
            speaker.prove(f"memory-{MEMORIES + rounds * 25}", memories[rounds * 25 % MEMORIES][40:100])
    names = [peer.package for peer in peers]
    return [
        worst_line(f"{work} over stdio : other memory servers'", _beside(ours, names, others), 0.5)
        for work, (ours, *others) in taken.items()
    ]


def _beside(ours: float, names: list[str], others: list[float]) -> dict[str, tuple[float, float]]:
    return {name: (ours, theirs) for name, theirs in zip(names, others, strict=True)}


@dataclass(frozen=True)
class Tongue:
    """How a server is asked to store, fetch and search."""

    store: Callable[[str, str], CallContext]
    fetch: Callable[[str], CallContext]
    search: Callable[[str], CallContext]


class Speaker:
    """A server that has been greeted, and what there is to ask of it; answers are read, not parsed."""

    def __init__(self, server: Server, tongue: Tongue, opening: tuple[CallContext, ...] = ()) -> None:
        self._server = server
        self._tongue = tongue
        server.hello()
        for tool, arguments in opening:
            server.call(tool, arguments)

    def fill(self, memories: list[str]) -> None:
        """Stores the memories and makes sure that they are found again."""
        for number, text in enumerate(memories):
            self._server.call(*self._tongue.store(f"memory-{number}", text))
        self.prove("memory-7", memories[7][40:100])
        found = self._server.call(*self._tongue.search(telling_words(memories)[7]))
        if "memory-7" not in json.dumps(found):
            raise ServerError(f"memory-7 was not found: {str(found)[:200]}")

    def prove(self, name: str, words: str) -> None:
        """Makes sure that a memory is there: a server that refuses politely would look fast."""
        shown = json.dumps(self._server.call(*self._tongue.fetch(name)))
        if words not in shown:
            raise ServerError(f"{name} was not stored: {shown[:200]}")

    def storing(self, memories: list[str]) -> Callable[[], None]:
        """Stores new memories, one a call."""
        numbers = itertools.count(MEMORIES)

        def store() -> None:
            number = next(numbers)
            self._send(self._tongue.store(f"memory-{number}", memories[number % MEMORIES]))

        return store

    def fetching(self) -> Callable[[], None]:
        """Fetches the memories by name, all over the store."""
        numbers = itertools.count(step=7)
        return lambda: self._send(self._tongue.fetch(f"memory-{next(numbers) % MEMORIES}"))

    def searching(self, memories: list[str]) -> Callable[[], None]:
        """Searches for one word that a memory holds: the one kind of query that every server understands."""
        words = itertools.cycle(telling_words(memories))
        return lambda: self._send(self._tongue.search(next(words)))

    def _send(self, call: CallContext) -> None:
        self._server.exchange(self._server.call_request(*call))


def telling_words(memories: list[str]) -> list[str]:
    """For each memory, the one of its words that the fewest others hold."""
    words = [set(text.split()) for text in memories]
    held = Counter(itertools.chain.from_iterable(words))
    return [min(sorted(some), key=lambda word: (held[word], -len(word))) for some in words]


def versions() -> str:
    """Which peers are installed, and in which version."""
    return ", ".join(f"{peer.package} {peer.version()}" for peer in PEERS if os.path.isdir(peer.folder))


def lines() -> list[Line]:
    """Every line about a peer; one that does not install is named so."""
    found = [peer for peer in PEERS if install(peer)]
    result = [start_line(SERVER_MEMORY)] if SERVER_MEMORY in found else []
    if found:
        result += work_lines(found)
    missing = [peer for peer in PEERS if peer not in found]
    return result + [Line(f"everything : {peer.package}'s", None, 0.5, note="not installed") for peer in missing]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
