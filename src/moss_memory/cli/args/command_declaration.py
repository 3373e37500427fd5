"""The declaration of a built-in command, which is not a tool."""

from __future__ import annotations

from moss_memory.registry.cli_traits import PLAIN, Cli
from moss_memory.registry.responses import ResponseSchema

from .option import COMMON_OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.responses import Field


class BuiltIn:
    """A built-in command, declared like a tool.

    The function `does` is imported when it is called; it gets the home folder and the arguments and returns a response
    or an exit code. `table` names a function that renders the response, if the default one does not fit.
    """

    mutates = False

    def __init__(
        self,
        name: str,
        description: str,
        example: str,
        parameters: dict[str, dict[str, Any]] | None = None,
        *,
        does: str,
        table: str = "",
        answers: dict[str, Field] | None = None,
        required: tuple[str, ...] = (),
        positional: tuple[str, ...] = (),
        aliases: dict[str, str] | None = None,
        common_options: tuple[str, ...] = COMMON_OPTIONS,
    ) -> None:
        self.name = name
        self.description = description
        self.summary = description.partition("\n")[0]
        self.example = example
        self.parameters = parameters or {}
        self.defaults: dict[str, Any] = {}
        self.does = does
        self.table = table
        self.answers = ResponseSchema("", answers or {})
        self.required = required
        self.cli = Cli(positional=positional) if positional else PLAIN
        self.aliases = aliases or {}
        self.common_options = common_options


STRINGS = {"type": "array", "items": {"type": "string"}}
"""The schema of an option that takes several texts."""
