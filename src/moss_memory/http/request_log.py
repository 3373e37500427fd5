"""The log of requests on stderr, as text or as JSON: no name of a row, no text, no argument, no token."""

from __future__ import annotations

from typing import Any

from starlette.types import Scope

from moss_memory.log import LogStyle, write_json_line, write_notice

LOG_PATH = "moss.place"
"""Scope key of the loggable part of the path: without names, text or tokens."""
LOG_TOKEN = "moss.token"  # noqa: S105 - the key of the token's name
"""Scope key of the name of the token."""
LOG_TOOLS = "moss.tools"
"""Scope key of the called tools."""


def log_request(scope: Scope, status: int, took_ms: float) -> None:
    path = scope.get(LOG_PATH, "/...")
    if not LogStyle.is_json:
        write_notice(f"{scope['method']} {path} {status or '-'} {took_ms:.1f} ms")
        return
    level = "error" if status >= 500 or not status else "warning" if status >= 400 else "info"
    line: dict[str, Any] = {
        "method": scope["method"], "path": path, "status": status or None, "duration_ms": round(took_ms, 1),
    }  # fmt: skip
    if LOG_TOKEN in scope:
        line["token"] = scope[LOG_TOKEN]
    if scope.get(LOG_TOOLS):
        line["tool"] = ",".join(scope[LOG_TOOLS])
    write_json_line(level, line)
