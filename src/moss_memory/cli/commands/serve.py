"""`moss mcp` and `moss serve`: start a server and print its address."""

from __future__ import annotations

from moss_memory.cli.render.install_hint import require_extra
from moss_memory.cli.render.output import STDIN, is_terminal, say, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from moss_memory.http.server import MossServer


def serve_client(home: str | None, toolsets: Sequence[str] | None = None) -> int:
    """Serve the client on stdin and stdout until it closes the connection."""
    from moss_memory.code_state.work_tree import repository_name
    from moss_memory.mcp.stdio import serve

    if toolsets:
        _warn_empty(toolsets)
    if is_terminal(STDIN):
        say("moss: serving MCP on stdin and stdout, and waiting for a client; Ctrl-C stops it; see `moss --help`")
    return serve(home=home, toolsets=toolsets, repository=repository_name)


def _warn_empty(toolsets: Sequence[str]) -> None:
    from moss_memory.mcp.tool_list import tool_lines
    from moss_memory.registry import catalog

    used_toolsets = {catalog.toolset_of(name) for name, _ in tool_lines()} | {"core"}
    names = [name for name in toolsets if name in catalog.TOOLSETS]
    if names and not used_toolsets.intersection(names):
        say(f"moss: {' and '.join(names)} {'has' if len(names) == 1 else 'have'} no tools yet; only tools "
            "that belong to no toolset are listed")  # fmt: skip


def serve_web(home: str | None, **options: Any) -> int:
    """Serve MCP and the pages over HTTP until a signal arrives."""
    require_extra("http", ("uvicorn", "httptools", "starlette"), purpose="serving over HTTP")
    from moss_memory.http.bind import PORT, BindConfig
    from moss_memory.http.oauth import make_oauth
    from moss_memory.http.server import MossServer

    bind = BindConfig(
        host=options.get("host") or "127.0.0.1",
        allowed_hosts=options.get("allowed_host") or (),
        behind_proxy=options.get("behind_proxy", False),
        tls_cert=options.get("tls_cert"),
        tls_key=options.get("tls_key"),
    )
    port, read_only, log_all = options.get("port", PORT), options.get("read_only", False), options.get("log", False)
    if options.get("demo"):
        from .serve_demo import serve_demo

        return serve_demo(home, bind, port=port, read_only=read_only, log_all=log_all)
    if options.get("upgrade"):
        from .upgrade_command import upgrade_store

        upgrade_store(home)
    log_json = options.get("log_format") == "json"
    oauth = make_oauth(options.get("oauth_issuer"), options.get("oauth_audience"))
    server = MossServer(home, bind, port=port, read_only=read_only, log_all=log_all, log_json=log_json, oauth=oauth)
    at_a_terminal = is_terminal(STDIN)
    return server.run(
        on_ready=lambda: _announce(server),
        on_line=(lambda: show(server.new_link())) if at_a_terminal else None,
    )


def _announce(server: MossServer) -> None:
    """Print the address of the server, the sign-in link and how to connect each client."""
    from moss_memory.http.http_clients import connect_commands

    reading = ", to read only," if server.read_only else ""
    again = "; Enter prints a new one" if is_terminal(STDIN) else ""
    lines = [
        f"Moss serves {server.served_store} at {server.address}{reading} until Ctrl-C.",
        "",
        f"Open this link in a browser. It works once, within five minutes{again}:",
        f"  {server.new_link()}",
        "",
        f"MCP at {server.address}/mcp, for programs that send the token in {server.token_path}:",
        *(f"  {client:<12} {line}" for client, line in connect_commands(server.address, server.token_path)),
    ]
    show("\n".join(lines))
