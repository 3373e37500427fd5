"""A client changed through its own command line, because it writes its file itself while it runs."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request

from .clients import SERVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .clients import Client

_TIMEOUT_S = 60.0


def has_own_command(client: Client, scope: str, entry: dict[str, Any] | None) -> bool:
    """Whether a change goes through the client's command line: where it has one, and no token is part of it.

    What stands on a command line can be read by everyone on the machine.
    """
    import shutil

    if not client.own_add or scope != "user" or (entry is not None and "headers" in entry):
        return False
    return shutil.which(client.program) is not None


def own_command(client: Client, entry: dict[str, Any] | None, *, was_there: bool) -> list[list[str]]:
    """The command lines that connect a client, or without an entry let it go."""
    remove = [client.program, *client.own_remove, SERVER]
    if entry is None:
        return [remove]
    return [*([remove] if was_there else []), [client.program, *client.own_add, SERVER, json.dumps(entry)]]


def run_own(lines: list[list[str]]) -> None:
    """Runs the command lines, one after the other; what the client says against it is told."""
    import subprocess

    for line in lines:
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise invalid_request(f"{line[0]} cannot be run ({error})") from None
        if done.returncode:
            told = (done.stderr or done.stdout).strip().splitlines()
            raise invalid_request(f"`{' '.join(line[:3])}` failed: {told[-1][:300] if told else done.returncode}")
