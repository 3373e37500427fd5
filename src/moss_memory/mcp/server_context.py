"""State shared by the connections of one server: configuration, tool list, store."""

from __future__ import annotations

from _thread import allocate_lock

from moss_memory.config import load_config
from moss_memory.errors import invalid_request
from moss_memory.log import write_notice
from moss_memory.registry.catalog import TOOLSETS
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.files.demonstration import refuse_demonstration
from moss_memory.store import Store

from .tool_list import mistakes_in, tool_list_of, unknown_toolsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from moss_memory.config import Config

    from .repository_context import SessionSummary
    from .tool_list import ToolList


MAX_TOOL_LISTS = 64
"""Maximum number of cached tool lists, one for each combination of workspace and toolsets."""


class ServerContext:
    """The configuration, the tool list and the store, each created at first use; thread-safe."""

    def __init__(
        self,
        home: str | None,
        toolsets: Sequence[str] | None = None,
        *,
        read_only: bool = False,
        without: Sequence[str] = (),
        demonstration: bool = False,
        actor: str = "mcp",
        records_work_tree: bool = True,
        compares_work_tree: bool = False,
    ) -> None:
        """Store the settings; `without` disables more tools, `demonstration` allows a demonstration's folder.

        `actor` is the actor of calls that name none. The other settings are those of `Store`.
        """
        self._actor = actor
        self._records_work_tree = records_work_tree
        self._compares_work_tree = compares_work_tree
        self._home = home
        self._read_only = read_only
        self._without = without
        self._demonstration = demonstration
        self._toolsets = toolsets
        self._lock = allocate_lock()
        self._config: Config | None = None
        self._tools: ToolList | None = None
        self._tool_lists: dict[tuple[str | None, str | None, bool], ToolList] = {}
        self._store: Store | None = None

    def tools(self) -> ToolList:
        """Return the enabled tools; write the configuration's warnings to stderr once."""
        if self._tools is not None:
            return self._tools  # needed for every message, so without the lock
        with self._lock:
            return self._load_tools()

    def config(self) -> Config:
        with self._lock:
            self._load_tools()
            assert self._config is not None
            return self._config

    def tools_for(self, workspace: str | None, toolsets: str | None, *, read_only: bool = False) -> ToolList:
        """Return the tool list of a connection with its own default workspace or comma-separated toolsets.

        Unknown names are refused with `INVALID_REQUEST`.
        """
        key = (workspace, toolsets, read_only)
        tool_list = self._tool_lists.get(key)
        if tool_list is None:
            if workspace is not None:
                normalize_workspace(workspace)
            chosen = self._toolsets if toolsets is None else [name for name in toolsets.split(",") if toolsets]
            if unknown := unknown_toolsets(chosen or ()):
                toolset_names = ", ".join(TOOLSETS)
                raise invalid_request(
                    f"`toolsets` names {unknown[0][:60]!r}, which does not exist; known: {toolset_names}"
                )
            self.tools()
            with self._lock:
                assert self._config is not None
                if len(self._tool_lists) >= MAX_TOOL_LISTS:
                    self._tool_lists.clear()
                tool_list = tool_list_of(self._config, chosen, workspace, read_only=read_only)
                self._tool_lists[key] = tool_list
        return tool_list

    def store(self) -> Store:
        """Return the store, opened by the first call."""
        if self._store is not None:
            return self._store
        with self._lock:
            self._load_tools()
            assert self._config is not None
            if not self._demonstration:
                refuse_demonstration(self._config.home)
            if self._store is None:
                self._store = Store(
                    self._config,
                    read_only=self._read_only,
                    actor=self._actor,
                    records_work_tree=self._records_work_tree,
                    compares_work_tree=self._compares_work_tree,
                    counts_loads=True,
                )
            return self._store

    def session_summary(self, repository: str = "") -> SessionSummary | None:
        """Return the repository and the workspaces that changed last, for the instructions of a session."""
        from .repository_context import SessionSummary, read_session_summary  # only the beginning of a session needs it

        self.tools()
        assert self._config is not None
        if not self._config.has_store():
            return SessionSummary(repository, []) if repository else None
        return read_session_summary(self.store, repository)

    def close(self) -> None:
        """Close the store if it was opened."""
        with self._lock:
            if self._store is not None:
                self._store.close()

    def _load_tools(self) -> ToolList:
        if self._tools is None:
            config = load_config(self._home)
            for warning in (*config.warnings, *mistakes_in(config)):
                write_notice(warning)
            config = config.replace(disabled_tools=[*config.disabled_tools, *self._without])
            self._config = config
            self._tools = tool_list_of(config, self._toolsets)
        return self._tools
