"""`moss freshness`: its options `--check` and `--confirm`."""

from __future__ import annotations

from moss_memory.cli.args.command import Command, find_command
from moss_memory.store import Store

from .command_request import load_settings, request_of
from .tool import execute, run_command

_STALE = ("orphaned", "drifted")


def freshness(command: Command, words: list[str], home: str | None) -> int:
    """List the freshness of capsules; with `--confirm` run `moss confirm`, with `--check` return 1 if one is stale."""
    parsed = command.parse(words)
    if "confirm" in parsed.cli_options and "help" not in parsed.cli_options:
        match = find_command(["confirm"])
        assert match is not None
        workspace = ["--workspace", parsed.arguments["workspace"]] if "workspace" in parsed.arguments else []
        output_options = [f"--{name}" for name in ("json", "table") if name in parsed.cli_options]
        return run_command(match[0], [parsed.cli_options["confirm"], *workspace, *output_options], home)
    request = request_of(command, words, home)
    if request is None:
        return 0
    config = load_settings(request.cli_options.get("home", home))
    code = execute(command, request, config)
    if code or "check" not in request.cli_options:
        return code
    with Store(config, actor="cli") as store:
        # The worst comes first, whichever page was shown.
        worst = store.call("moss_freshness", {**request.arguments, "offset": 0, "limit": 1})["items"]
    return 1 if worst and worst[0]["freshness"]["state"] in _STALE else 0
