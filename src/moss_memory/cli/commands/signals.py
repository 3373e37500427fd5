"""Ctrl-C on the command line: a write is cancelled between its steps, never between its commit and its response."""

from __future__ import annotations

from moss_memory.registry.operation import Operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.cli.args.command_declaration import BuiltIn


class InterruptHandler:
    """Handler of Ctrl-C during one call.

    A read stops at once. A write stops while it waits for the lock or at its next step, but never between commit and
    response, so that the reported outcome is true.
    """

    def __init__(self, operation: Operation | BuiltIn) -> None:
        self.deferred = isinstance(operation, Operation) and operation.mutates
        self.pressed = False
        self._previous_handler: Any = None

    def __enter__(self) -> InterruptHandler:
        if self.deferred:
            import signal

            self._previous_handler = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self.deferred:
            import signal

            signal.signal(signal.SIGINT, self._previous_handler)

    def _press(self, *_: object) -> None:
        self.pressed = True

    def ask(self) -> bool:
        """Return True if the call is cancelled."""
        return self.pressed
