"""Changes made through a client's own command line, because the client writes its file while it runs."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request

from .clients import SERVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .clients import Client

_TIMEOUT_S = 60.0


def can_use_client_cli(client: Client, scope: str, entry: dict[str, Any] | None) -> bool:
    """Return True if the client has a command line for this scope and the entry has no token.

    Everyone on the machine can read command lines.
    """
    import shutil

    if not client.own_add or scope != "user" or (entry is not None and "headers" in entry):
        return False
    return shutil.which(client.program) is not None


def cli_commands(client: Client, entry: dict[str, Any] | None, *, was_there: bool) -> list[list[str]]:
    """Return the command lines that connect a client, or disconnect it if there is no entry."""
    remove = [client.program, *client.own_remove, SERVER]
    if entry is None:
        return [remove]
    return [*([remove] if was_there else []), [client.program, *client.own_add, SERVER, json.dumps(entry)]]


def run_client_commands(lines: list[list[str]]) -> None:
    """Run the command lines in order; refuse with the client's message if one fails."""
    import subprocess

    for line in lines:
        try:
            result = subprocess.run(line, capture_output=True, text=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise invalid_request(f"{line[0]} cannot be run ({error})") from None
        if result.returncode:
            errors = (result.stderr or result.stdout).strip().splitlines()
            raise invalid_request(f"`{' '.join(line[:3])}` failed: {errors[-1][:300] if errors else result.returncode}")
