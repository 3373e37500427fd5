"""The supported clients: the files in which they configure servers, and the format of an entry."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

USER, PROJECT = SCOPES = ("user", "project")
SERVER = "moss"
"""The name of the Moss server in clients."""
VARIABLE = "MOSS_TOKEN"
"""The environment variable that replaces the token in a project's file."""


class Client:
    """An MCP client: its configuration files and the format of a server entry.

    A path begins with `~`, `$CONFIG` (the system's folder for settings) or a variable with a default, `$NAME|default`;
    a project's path is relative to the current folder. Of several paths the first that exists is used, else the first.
    """

    def __init__(
        self,
        key: str,
        name: str,
        *,
        user: tuple[str, ...],
        project: tuple[str, ...] = (),
        under: str = "mcpServers",
        program: str = "",
        stdio: dict[str, Any] | None = None,
        http: dict[str, Any] | None = None,
        variable: str = "",
        own_add: tuple[str, ...] = (),
        own_remove: tuple[str, ...] = (),
        hooks: dict[str, str] | None = None,
        loads_on_demand: bool = False,
    ) -> None:
        self.key = key
        self.name = name
        self.files = {USER: user, PROJECT: project}
        self.under = under
        """The key of the table of servers."""
        self.program = program
        """Its command, by which it is found on this machine."""
        self.stdio = stdio or {}
        """Members of a stdio entry beside the command."""
        self.http = http
        """The entry of an HTTP server, None if the client supports none."""
        self.variable = variable
        """The syntax of an environment variable in a value, empty if there is none."""
        self.own_add = own_add
        self.own_remove = own_remove
        """The arguments of its command that add and remove a server, if it writes its file itself."""
        self.hooks = hooks or {}
        """The file of its hooks, by scope."""
        self.loads_on_demand = loads_on_demand
        """True if it searches long lists of tools itself and loads the schema of a tool when it is needed."""

    def default_toolsets(self, *, http: bool) -> tuple[str, ...]:
        """Return the toolsets that it lists by default.

        Few, because clients limit the number of tools (Cursor, VS Code, Windsurf) or spend context on each; all if it
        loads them on demand. Over HTTP always few.
        """
        return () if self.loads_on_demand and not http else ("core",)

    @property
    def toml(self) -> bool:
        """Return True if its file is TOML; otherwise it is JSON, possibly with comments."""
        return self.files[USER][0].endswith(".toml")

    def scopes(self) -> list[str]:
        return [scope for scope in SCOPES if self.files[scope]]

    def file(self, scope: str) -> str:
        paths = [_expand_path(path) for path in self.files[scope]]
        return next((path for path in paths if os.path.lexists(path)), paths[0])

    def hooks_file(self, scope: str) -> str:
        return _expand_path(self.hooks[scope])

    def is_here(self) -> bool:
        """Return True if its command or its folder of settings exists on this machine."""
        import shutil

        folder = os.path.dirname(self.file(USER))
        if self.program and shutil.which(self.program):
            return True
        return os.path.lexists(self.file(USER)) or (folder != os.path.expanduser("~") and os.path.isdir(folder))


_BEARER = {"Authorization": "Bearer {token}"}

CLIENTS = {
    client.key: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            user=("$CLAUDE_CONFIG_DIR|~/.claude.json",),
            project=(".mcp.json",),
            program="claude",
            own_add=("mcp", "add-json", "--scope", "user"),
            own_remove=("mcp", "remove", "--scope", "user"),
            hooks={USER: "$CLAUDE_CONFIG_DIR|~/.claude/settings.json", PROJECT: ".claude/settings.json"},
            stdio={"type": "stdio"},
            http={"type": "http", "url": "{url}", "headers": _BEARER},
            variable=f"${{{VARIABLE}}}",
            loads_on_demand=True,
        ),
        Client("claude-desktop", "Claude Desktop", user=("$CONFIG/Claude/claude_desktop_config.json",)),
        Client(
            "codex",
            "Codex",
            user=("$CODEX_HOME|~/.codex/config.toml",),
            project=(".codex/config.toml",),
            under="mcp_servers",
            program="codex",
            hooks={USER: "$CODEX_HOME|~/.codex/hooks.json", PROJECT: ".codex/hooks.json"},
            http={"url": "{url}", "http_headers": _BEARER},
            variable=VARIABLE,
            loads_on_demand=True,
        ),
        Client(
            "cursor",
            "Cursor",
            user=("~/.cursor/mcp.json",),
            project=(".cursor/mcp.json",),
            program="cursor",
            hooks={USER: "~/.cursor/hooks.json", PROJECT: ".cursor/hooks.json"},
            http={"url": "{url}", "headers": _BEARER},
            variable=f"${{env:{VARIABLE}}}",
        ),
        Client(
            "vs-code",
            "VS Code",
            user=("$CONFIG/Code/User/mcp.json",),
            project=(".vscode/mcp.json",),
            under="servers",
            program="code",
            stdio={"type": "stdio"},
            http={"type": "http", "url": "{url}", "headers": _BEARER},
            variable=f"${{env:{VARIABLE}}}",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            user=("~/.gemini/settings.json",),
            project=(".gemini/settings.json",),
            program="gemini",
            hooks={USER: "~/.gemini/settings.json", PROJECT: ".gemini/settings.json"},
            http={"httpUrl": "{url}", "headers": _BEARER},
            variable=f"${{{VARIABLE}}}",
        ),
        Client(
            "windsurf",
            "Windsurf",
            user=("~/.codeium/windsurf/mcp_config.json",),
            program="windsurf",
            http={"serverUrl": "{url}", "headers": _BEARER},
        ),
        Client(
            "zed",
            "Zed",
            user=("$XDG_CONFIG_HOME|~/.config/zed/settings.json",),
            project=(".zed/settings.json",),
            under="context_servers",
            program="zed",
            http={"url": "{url}", "headers": _BEARER},
        ),
        Client(
            "opencode",
            "opencode",
            user=(
                "$XDG_CONFIG_HOME|~/.config/opencode/opencode.json",
                "$XDG_CONFIG_HOME|~/.config/opencode/opencode.jsonc",
            ),
            project=("opencode.json", "opencode.jsonc"),
            under="mcp",
            program="opencode",
            stdio={"type": "local"},
            http={"type": "remote", "url": "{url}", "headers": _BEARER},
            variable=f"{{env:{VARIABLE}}}",
        ),
    )
}
"""Clients by the name that is typed."""


def _expand_path(path: str) -> str:
    if path.startswith("$CONFIG/"):
        base = "~/Library/Application Support" if sys.platform == "darwin" else "$XDG_CONFIG_HOME|~/.config"
        path = base + path.removeprefix("$CONFIG")
    if path.startswith("$"):
        name, _, default = path[1:].partition("|")
        folder = os.environ.get(name)
        # The variable replaces the folder at the beginning of the default: `~/.codex`, or `~` before `.claude.json`.
        parts = default.split("/")
        if folder:
            inner_parts = parts[1:] if parts[1].endswith(".json") else parts[2:]
            return os.path.join(os.path.expanduser(folder), *inner_parts)
        path = default
    return os.path.abspath(os.path.expanduser(path))
