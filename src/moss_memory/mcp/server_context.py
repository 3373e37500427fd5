"""What the connections of one server share: the configuration, the tools on offer and the store."""

from __future__ import annotations

from _thread import allocate_lock

from moss_memory.config import load_config
from moss_memory.demo.demo_home import refuse_demonstration
from moss_memory.errors import invalid_request
from moss_memory.registry.catalog import TOOLSETS
from moss_memory.rows.names import normalize_workspace
from moss_memory.store import open_store

from .message_writer import say
from .tool_list import mistakes_in, tool_list_of, unknown_toolsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from moss_memory.config import Config
    from moss_memory.store import Store

    from .tool_list import ToolList


MOST_OFFERS = 64
"""How many ways in which connections ask for the tools are remembered; a list of tools for one takes memory."""


class ServerContext:
    """The configuration, the tools on offer and the store, each made once, by the first who needs it.

    Any number of connections and threads may ask at once.
    """

    def __init__(
        self,
        home: str | None,
        toolsets: Sequence[str] | None = None,
        *,
        read_only: bool = False,
        without: Sequence[str] = (),
        demonstration: bool = False,
    ) -> None:
        """`without` names tools that are not on offer whatever the configuration says; only a `demonstration` opens
        the folder of one."""
        self._home = home
        self._read_only = read_only
        self._without = without
        self._demonstration = demonstration
        self._toolsets = toolsets
        self._lock = allocate_lock()
        self._config: Config | None = None
        self._offer: ToolList | None = None
        self._offers: dict[tuple[str | None, str | None], ToolList] = {}
        self._store: Store | None = None

    def offer(self) -> ToolList:
        """The tools that the configuration leaves; its warnings go to stderr, once."""
        if self._offer is not None:
            return self._offer  # asked for with every message, so without the lock
        with self._lock:
            return self._made_offer()

    def offer_for(self, workspace: str | None, toolsets: str | None) -> ToolList:
        """The tools as a connection sees them that names its own default workspace, or toolsets with commas between.

        Names that are none are `INVALID_REQUEST`.
        """
        found = self._offers.get((workspace, toolsets))
        if found is None:
            if workspace is not None:
                normalize_workspace(workspace)
            chosen = self._toolsets if toolsets is None else [name for name in toolsets.split(",") if toolsets]
            if unknown := unknown_toolsets(chosen or ()):
                known = ", ".join(TOOLSETS)
                raise invalid_request(f"`toolsets` names {unknown[0][:60]!r}, which does not exist; known: {known}")
            self.offer()
            with self._lock:
                assert self._config is not None
                if len(self._offers) >= MOST_OFFERS:
                    self._offers.clear()
                found = self._offers[workspace, toolsets] = tool_list_of(self._config, chosen, workspace)
        return found

    def store(self) -> Store:
        """The store, opened for the first call."""
        if self._store is not None:
            return self._store
        with self._lock:
            self._made_offer()
            assert self._config is not None
            if not self._demonstration:
                refuse_demonstration(self._config.home)
            if self._store is None:
                self._store = open_store(config=self._config, read_only=self._read_only)
            return self._store

    def close(self) -> None:
        """Lets go of the store, if it was opened."""
        with self._lock:
            if self._store is not None:
                self._store.close()

    def _made_offer(self) -> ToolList:
        if self._offer is None:
            config = load_config(self._home)
            for warning in (*config.warnings, *mistakes_in(config)):
                say(warning)
            config = config.replace(disabled_tools=[*config.disabled_tools, *self._without])
            self._config = config
            self._offer = tool_list_of(config, self._toolsets)
        return self._offer
