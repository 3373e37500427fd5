"""The clients that Moss connects itself to: where each keeps its servers, and in which form."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

USER, PROJECT = SCOPES = ("user", "project")
SERVER = "moss"
"""Under which name clients know Moss."""
VARIABLE = "MOSS_TOKEN"
"""The variable of the environment that a project's file names instead of the token."""


class Client:
    """A program that speaks MCP: the files it reads, and how an entry for a server looks there.

    A file's place begins with `~`, `$CONFIG` (where programs of this system keep settings) or a variable that moves
    it, `$NAME|default`; a project's begins at the current folder. Several places are for one file: the first that is
    there counts, else the first.
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
        toolsets: tuple[str, ...] = ("core",),
    ) -> None:
        self.key = key
        self.name = name
        self.files = {USER: user, PROJECT: project}
        self.under = under
        """The key above all servers."""
        self.program = program
        """Its command, by which it is found on this machine."""
        self.stdio = stdio or {}
        """What an entry holds beside the command."""
        self.http = http
        """An entry for a server over HTTP; none where the client cannot."""
        self.variable = variable
        """How it writes that a value comes from the environment; nothing where it cannot."""
        self.own_add = own_add
        self.own_remove = own_remove
        """What follows its command to add and to remove a server, where its file is its own to write."""
        self.hooks = hooks or {}
        """By scope the file in which it reads what to run at the start of a session and before compaction."""
        self.toolsets = toolsets
        """What it lists unless told otherwise: the few tools that lead to all others, because clients either bear
        few tools (Cursor, Windsurf) or pay for each with context."""

    @property
    def toml(self) -> bool:
        """Whether its file is TOML; else JSON, with comments where people wrote some."""
        return self.files[USER][0].endswith(".toml")

    def scopes(self) -> list[str]:
        """For whom it can be connected: one user everywhere, or everyone in one project."""
        return [scope for scope in SCOPES if self.files[scope]]

    def file(self, scope: str) -> str:
        """Where its servers stand."""
        places = [_place(one) for one in self.files[scope]]
        return next((one for one in places if os.path.lexists(one)), places[0])

    def hooks_file(self, scope: str) -> str:
        """Where its hooks stand."""
        return _place(self.hooks[scope])

    def is_here(self) -> bool:
        """Whether there are signs of it on this machine: its command, or the folder of its settings."""
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
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            user=("$CONFIG/Claude/claude_desktop_config.json",),
        ),
        Client(
            "codex",
            "Codex",
            user=("$CODEX_HOME|~/.codex/config.toml",),
            project=(".codex/config.toml",),
            under="mcp_servers",
            program="codex",
            http={"url": "{url}", "http_headers": _BEARER},
            variable=VARIABLE,
        ),
        Client(
            "cursor",
            "Cursor",
            user=("~/.cursor/mcp.json",),
            project=(".cursor/mcp.json",),
            program="cursor",
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
"""By the word that is typed."""


def _place(written: str) -> str:
    """A place as this system has it."""
    if written.startswith("$CONFIG/"):
        base = "~/Library/Application Support" if sys.platform == "darwin" else "$XDG_CONFIG_HOME|~/.config"
        written = base + written.removeprefix("$CONFIG")
    if written.startswith("$"):
        name, _, default = written[1:].partition("|")
        moved = os.environ.get(name)
        # The variable stands for the folder that the default begins with: `~/.codex` or `~` before `.claude.json`.
        parts = default.split("/")
        if moved:
            kept = parts[1:] if parts[1].endswith(".json") else parts[2:]
            return os.path.join(os.path.expanduser(moved), *kept)
        written = default
    return os.path.abspath(os.path.expanduser(written))
