"""A command: parses the words of a command line into the arguments of a tool.

Not built on argparse, which would add 9 ms to the 41 ms of `moss fetch`.
"""

from __future__ import annotations

from moss_memory.registry import catalog
from moss_memory.registry.tool_index import COMMANDS

from .converters import BOOLEANS, address_from, list_from, object_from, pairs_from, read_value
from .option import MANY, flag_of, options_of
from .positional import ITEMS, assign_words, fallback_positional_of, slots_of, text_argument_of
from .usage_error import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.operation import Operation

    from .command_declaration import BuiltIn
    from .option import Option

_UNGROUPED = ("capsule", "artifact", "moss")
"""First words of commands whose required arguments are options."""


class CommandRequest:
    """The arguments of a tool and the options of the command itself, parsed from one command line."""

    __slots__ = ("ambiguous_addresses", "arguments", "cli_options")

    def __init__(self) -> None:
        self.arguments: dict[str, Any] = {}
        self.cli_options: dict[str, str] = {}
        self.ambiguous_addresses: list[dict[str, Any]] = []
        """Addresses from words such as `shop/auth`, which may also be one name."""

    def for_people(self, *, terminal: bool) -> bool:
        """Return True if the output is a table: `--table` was given, or stdout is a terminal and `--json` was not
        given."""
        return "table" in self.cli_options or (terminal and "json" not in self.cli_options)


class Command:
    """A tool as a command: its words, options and positional arguments."""

    __slots__ = ("_letters", "defaults", "operation", "options", "positional", "slots", "text", "words")

    def __init__(self, operation: Operation | BuiltIn, words: str) -> None:
        self.operation = operation
        self.words = words
        group, space, _ = words.partition(" ")
        groups = operation.cli.groups
        self.defaults = operation.cli.defaults
        """The arguments that the words of the command imply."""
        if groups:
            self.defaults = {"type": group if space else groups[0]}
        grouped = bool(space) and not groups and group not in _UNGROUPED
        self.slots = slots_of(operation, grouped=grouped)
        self.positional = None if self.slots else fallback_positional_of(operation, grouped=grouped)
        self.text = text_argument_of(operation, grouped=grouped)
        self.options: dict[str, Option] = options_of(self)
        self._letters = {option.short: option.flag for option in self.options.values() if option.short}

    def parse(self, words: list[str]) -> CommandRequest:
        """Parse words into a request; raise `UsageError` if they are invalid."""
        try:
            return self._parse(words)
        except UsageError as mistake:
            mistake.command = self.words
            raise

    def _parse(self, words: list[str]) -> CommandRequest:
        request = CommandRequest()
        loose: list[str] = []
        queue = list(reversed(words))
        while queue:
            word = queue.pop()
            if word == "--":
                loose.extend(reversed(queue))
                break
            if word.startswith("--") or word in self._letters:
                self._parse_option(request, self._letters.get(word, word), queue)
            elif word.startswith("-") and word != "-":
                raise self._unknown_option(word)
            else:
                loose.append(word)
        if "json" in request.cli_options and "table" in request.cli_options:
            raise UsageError("--json and --table contradict each other")
        if loose and "help" not in request.cli_options:
            assign_words(self, request, loose)
        for name, value in self.defaults.items():
            request.arguments.setdefault(name, value)
        return request

    def _parse_option(self, request: CommandRequest, word: str, queue: list[str]) -> None:
        """Parse one option and remove its value from the queue."""
        typed_name, has_value, value = word[2:].partition("=")
        name = typed_name.replace("-", "_")
        option = self.options.get(name)
        if option is None and name.startswith("no_") and not has_value:
            option, value, has_value = self.options.get(name[3:]), "false", "="
            if option is not None and option.kind != "boolean":
                option = None
        if option is None:
            raise self._unknown_option(word)
        if not has_value:
            if option.kind == "switch":
                value = "true"
            elif option.kind == "boolean":
                value = queue.pop() if queue and queue[-1] in BOOLEANS else "true"
            else:
                if not queue:
                    raise UsageError(f"{word} needs a value")
                value = queue.pop()
        self.set(request, option, value)

    def set(self, request: CommandRequest, option: Option, value: str) -> None:
        """Convert a word to the value of an option and store it; refuse a second value."""
        if option.kind in ("extra", "extra_integer", "switch"):
            self._set_extra(request, option, value)
            return
        arguments, argument = request.arguments, option.argument
        previous = arguments.get(argument)
        if argument in arguments and not (option.kind in MANY and isinstance(previous, (list, dict))):
            if argument in self.operation.aliases.values():
                names = " and ".join(alias.flag for alias in self.options.values() if alias.argument == argument)
                raise UsageError(f"{names} mean the same; give one of them, and once")
            raise UsageError(f"{option.flag} is given twice")
        if option.kind == "item":
            address = address_from(value)
            arguments[argument] = [*(previous or ()), address]
            if "workspace" in address:
                request.ambiguous_addresses.append(address)
        else:
            arguments[argument] = _convert(option, value, previous)

    def _set_extra(self, request: CommandRequest, option: Option, value: str) -> None:
        if option.kind == "extra_integer":
            read_value("integer", value, option.flag)
        if option.kind == "switch" and not read_value("boolean", value, option.flag):
            return
        if option.name in request.cli_options and option.kind != "switch":
            raise UsageError(f"{option.flag} is given twice")
        if not value:
            raise UsageError(f"{option.flag} needs {'the name of a folder' if option.name == 'home' else 'a value'}")
        request.cli_options[option.name] = value

    def _unknown_option(self, word: str) -> UsageError:
        from .did_you_mean import unknown_option

        return unknown_option(word, self)

    def require(self, request: CommandRequest) -> None:
        """Refuse a request that lacks an argument which neither an option nor stdin gives."""
        available = (*request.arguments, self.text, *self.operation.cli.inferred)
        needed = [name for name in self.operation.required if name not in available]
        if not needed:
            return
        if needed[0] == ITEMS == self.positional:
            missing = "at least one NAME or WORKSPACE/NAME is needed"
        else:
            missing = " and ".join(map(flag_of, needed)) + (" is needed" if len(needed) == 1 else " are needed")
        example = f"\nfor example: {self.operation.example}"
        raise UsageError(f"{missing} by `moss {self.words}`{example}", command=self.words)


def _convert(option: Option, value: str, previous: Any) -> Any:
    """Return the value of an option from a word; `previous` is that of the words before, None if this is the first."""
    if option.kind == "list":
        return [*(previous or ()), *list_from(value)]
    if option.kind == "sentences":
        return [*(previous or ()), *list_from(value, separator="")]
    if option.kind == "titles" and not value.lstrip().startswith(("[", "@")):
        return [*(previous or ()), {"title": value}]
    if option.kind == "pairs":
        return pairs_from(value, option.flag, previous or {})
    if option.kind in ("object", "items", "titles"):
        return object_from(value, option.schema, option.flag)
    return read_value(option.kind, value, option.flag, nullable=bool(option.schema.get("nullable")))


def find_command(words: list[str]) -> tuple[Command, list[str]] | None:
    """Return the command that the first words name and the words after it, None if there is no such command.

    The name of a tool in two words is a command too, such as `tasks claim`.
    """
    if len(words) > 1 and not words[1].startswith("-"):
        verb = words[1].replace("_", "-")
        tool = COMMANDS.get(f"{words[0]} {verb}") or f"{words[0]}_{verb}".replace("-", "_")
        operation = catalog.find(tool)
        if operation is not None:
            return Command(operation, f"{words[0]} {words[1]}"), words[2:]
    tool = COMMANDS.get(words[0].replace("_", "-"), "")
    operation = catalog.find(tool)
    return None if operation is None else (Command(operation, words[0]), words[1:])
