"""The declaration of a built-in command, which is not a tool."""

from __future__ import annotations

from moss_memory.registry.responses import ResponseSchema

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
        aliases: dict[str, str] | None = None,
        everywhere: tuple[str, ...] = ("home", "table", "json", "help"),
        heading: str = "moss itself",
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
        self.aliases = aliases or {}
        self.everywhere = everywhere
        """The common options that this command takes."""
        self.heading = heading
        """The heading in the overview."""


def string(description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an option that takes a text."""
    return {"type": "string", "description": description, **more}


def switch(description: str) -> dict[str, Any]:
    """Return the schema of an option that takes no value."""
    return {"type": "boolean", "description": description}


STRINGS = {"type": "array", "items": {"type": "string"}}
"""The schema of an option that takes several texts."""
