"""`moss mcp`: the server, and what a person who starts it by hand should know."""

from __future__ import annotations

from ..showing.output import STDIN, is_terminal, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def serve_client(home: str | None, toolsets: Sequence[str] | None = None) -> int:
    """Serves the client on stdin and stdout until it hangs up."""
    from ...mcp.stdio import serve

    if toolsets:
        _tell_empty(toolsets)
    if is_terminal(STDIN):
        say("moss: serving MCP on stdin and stdout, and waiting for a client; Ctrl-C ends it, `moss --help` tells more")
    return serve(home=home, toolsets=toolsets)


def _tell_empty(toolsets: Sequence[str]) -> None:
    """Says so when no chosen family has a tool yet, which would look like a broken server."""
    from moss_memory import catalog

    from ...mcp.listing import tool_lines

    known = {catalog.toolset_of(name) for name, _ in tool_lines()} | {"core"}
    named = [name for name in toolsets if name in catalog.TOOLSETS]
    if named and not known.intersection(named):
        say(f"moss: {' and '.join(named)} {'has' if len(named) == 1 else 'have'} no tools yet; only those are listed "
            "that belong to no toolset")  # fmt: skip
