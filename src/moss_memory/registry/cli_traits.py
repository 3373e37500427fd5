"""`Cli`: the facts about one tool as a command of `moss`, declared with the tool."""

from __future__ import annotations

from .tool_groups import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .operation import Operation

    Schema = dict[str, Any]
    Sentence = str | Callable[[dict[str, Any], dict[str, Any]], str | None]


class Cli:
    """Declares how a command differs from the one that follows from the tool's name and arguments.

    `name`: the words of the command, such as "notes add"; `make docs` writes them into the index of commands.
    `aliases`: alternative verbs in the same group.
    `groups`: groups that have the command too; the group is then the argument `type`, which is the first one otherwise.
    `hidden`: neither help nor completion list the command.
    `positional`: the arguments that words fill, in this order, instead of the required ones.
    `defaults`: arguments whose default differs from the tool's.
    `inferred`: required arguments that the command computes if they are missing, and their values as help says them.
    `descriptions`: arguments whose description differs from the tool's.
    `options`: options that only the command has, as JSON Schemas.
    `asks`: a person on a terminal is asked before the call, unless there is `--yes`.
    `prints_text`: the command has `--text`, which prints the text of the answer alone.
    `sentence`: the sentence that confirms a write on a terminal, as a template or as a function of the answer and the
    arguments that returns one, or None for a table. `cli.render.sentences` has the words of templates.

    The others are functions of `moss_memory.cli` by their path, imported when they are called:
    `runs`: runs the command, given it, the words after it and the home folder, and returns the exit code.
    `completes`: returns the answer with further fields for a table, given the store, the arguments and the answer.
    `table`: returns the answer as text for a terminal, given the answer and the width.
    `remark`: prints a remark below a table, given the store, the command, the arguments and the answer.
    """

    __slots__ = (
        "aliases", "asks", "completes", "defaults", "descriptions", "groups", "hidden", "inferred", "name", "options",
        "positional", "prints_text", "remark", "runs", "sentence", "table",
    )  # fmt: skip

    def __init__(
        self,
        name: str = "",
        *,
        aliases: tuple[str, ...] = (),
        groups: tuple[str, ...] = (),
        hidden: bool = False,
        positional: tuple[str, ...] = (),
        defaults: dict[str, str] | None = None,
        inferred: dict[str, str] | None = None,
        descriptions: dict[str, str] | None = None,
        options: dict[str, Schema] | None = None,
        asks: bool = False,
        prints_text: bool = False,
        sentence: Sentence = "",
        runs: str = "",
        completes: str = "",
        table: str = "",
        remark: str = "",
    ) -> None:
        self.name = name
        self.aliases = aliases
        self.groups = groups
        self.hidden = hidden
        self.positional = positional
        self.defaults = defaults or {}
        self.inferred = inferred or {}
        self.descriptions = descriptions or {}
        self.options = options or {}
        self.asks = asks
        self.prints_text = prints_text
        self.sentence = sentence
        self.runs = runs
        self.completes = completes
        self.table = table
        self.remark = remark

    def check(self, operation: Operation) -> None:
        """Raise ValueError if this names an argument that the tool does not have, or an option that it has."""
        for name in (*self.positional, *self.defaults, *self.inferred, *self.descriptions):
            if name not in operation.parameters:
                raise ValueError(f"`{operation.name}` has no argument {name!r} for its command")
        for name in self.options:
            if name in operation.parameters:
                raise ValueError(
                    f"`{operation.name}` has an argument {name!r}; its command cannot have it as an option"
                )


PLAIN = Cli()
"""The facts about most tools: none."""


def cli_function(path: str) -> Callable[..., Any]:
    """Import and return a function of `moss_memory.cli` by its path."""
    module, _, name = path.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(f"moss_memory.cli.{module}"), name)
    return function


def string(description: str, **more: Any) -> Schema:
    """Return the schema of an option that takes a text."""
    return {"type": "string", "description": description, **more}


def switch(description: str) -> Schema:
    """Return the schema of an option that takes no value."""
    return {"type": "boolean", "description": description}


YES = {"yes": switch("do not ask on a terminal")}
"""The option of commands that ask."""
