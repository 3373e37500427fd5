"""One command: a tool's arguments as options, and how the words of a command line become its arguments.

Written here rather than with argparse, whose import alone costs more than half a bare interpreter start
and which refuses values that begin with a dash, such as `--content "- rotate the keys"`.
"""

from __future__ import annotations

from moss_memory import catalog

from .usage import Usage, unexpected_word, unknown_option
from .words import BOOLEANS, address_from, list_from, object_from, read_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.operation import Operation

    from .builtin import BuiltIn

POSITIONAL = ("id", "query", "path", "shell", "command")
"""Arguments that may stand without their option's name; the first that a tool has is the one."""

ADDRESSED, ITEMS = "address", "items"
"""Positional words that fill more than one argument: one address, or a list of them."""

SEVERAL_WORDS = ("query", "command")
TEXT = ("capsule_text", "content", "data")
"""Arguments that are read from stdin, or from `--file`, when no option gives them."""

SHOWS_TEXT = ("_fetch", "_latest", "_compose")
"""How the names of those tools end whose answer holds one text, which `--text` prints alone."""

ADDRESS = ("id", "workspace", "name", "allow_thin")
"""Arguments that say where or how, not what: they give an update nothing to do."""

EVERYWHERE = {
    "home": "folder of the store, instead of MOSS_HOME or ~/.moss",
    "table": "aligned columns for people instead of JSON",
    "help": "this help",
}
_SWITCHES = ("table", "help")
_SINGULAR = "item"


class Option:
    """One option of a command: its name, what it takes, what it means."""

    __slots__ = ("argument", "description", "kind", "name", "schema")

    def __init__(self, name: str, kind: str, description: str, *, argument: str = "", schema: Any = None) -> None:
        self.name = name
        self.kind = kind
        self.description = description
        self.argument = argument
        self.schema = schema or {}

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return "--" + self.name.replace("_", "-")


class Request:
    """What one command line asks for: the tool's arguments, and what the command itself needs to know."""

    __slots__ = ("arguments", "extras")

    def __init__(self) -> None:
        self.arguments: dict[str, Any] = {}
        self.extras: dict[str, str] = {}


class Command:
    """A tool as a command: its words, its options, its positional argument."""

    __slots__ = ("operation", "options", "positional", "text", "words")

    def __init__(self, operation: Operation | BuiltIn, words: str) -> None:
        self.operation = operation
        self.words = words
        parameters = operation.parameters
        self.positional = _positional(parameters)
        self.text = next((name for name in TEXT if name in parameters), None)
        self.options = {name: _option(name, schema) for name, schema in parameters.items()}
        for extra in self._extras():
            self.options.setdefault(extra.name, extra)

    def _extras(self) -> list[Option]:
        """The few options that a command has beside its tool's arguments."""
        name, parameters = self.operation.name, self.operation.parameters
        extras = []
        if self.positional == ITEMS:
            means = "one more of the items: NAME, WORKSPACE/NAME or an id; may be repeated"
            extras.append(Option(_SINGULAR, "item", means, argument="items"))
        if "older_than_days" in parameters:
            means = "age in days, weeks: 7d, 2w"
            extras.append(Option("older_than", "age", means, argument="older_than_days"))
        if self.text:
            extras.append(Option("file", "extra", "read the text from this file (- is stdin)"))
        if name.endswith(SHOWS_TEXT):
            extras.append(Option("text", "switch", "print the text alone, as it is stored, instead of JSON"))
        if name.endswith("_import"):
            extras.append(Option("max_bytes", "extra_integer", "accept a file up to this size"))
        if name.endswith("_purge"):
            extras.append(Option("type", "extra", "what to purge: capsule, or another family"))
        return extras

    def parse(self, words: list[str]) -> Request:
        """The request that the words make; raises `Usage` for what cannot be meant."""
        try:
            return self._parse(words)
        except Usage as mistake:
            mistake.command = self.words
            raise

    def _parse(self, words: list[str]) -> Request:
        request = Request()
        loose: list[str] = []
        queue = list(reversed(words))
        while queue:
            word = queue.pop()
            if word == "--":
                loose.extend(reversed(queue))
                break
            if word == "-h":
                request.extras["help"] = ""
            elif word.startswith("--"):
                self._take(request, word, queue)
            elif word.startswith("-") and word != "-":
                raise self._unknown(word)
            else:
                loose.append(word)
        self._place(request, loose)
        return request

    def _take(self, request: Request, word: str, queue: list[str]) -> None:
        """Takes one option and its value off the queue."""
        shown, has_value, value = word[2:].partition("=")
        name = shown.replace("-", "_")
        if name in EVERYWHERE and name not in self.options:
            self._take_everywhere(request, name, value if has_value or name in _SWITCHES else self._next(word, queue))
            return
        option = self.options.get(name)
        if option is None and name.startswith("no_") and not has_value:
            option, value, has_value = self.options.get(name[3:]), "false", "="
            if option is not None and option.kind != "boolean":
                option = None
        if option is None:
            raise self._unknown(word)
        if not has_value:
            if option.kind == "switch":
                value = "true"
            elif option.kind == "boolean":
                value = queue.pop() if queue and queue[-1] in BOOLEANS else "true"
            else:
                value = self._next(word, queue)
        self._set(request, option, value)

    def _take_everywhere(self, request: Request, name: str, value: str) -> None:
        if name not in _SWITCHES and not value:
            raise Usage(f"--{name} needs the name of a folder")
        request.extras[name] = value

    def _set(self, request: Request, option: Option, value: str) -> None:
        if option.kind in ("extra", "extra_integer", "switch"):
            self._set_extra(request, option, value)
            return
        arguments, argument = request.arguments, option.argument
        before = arguments.get(argument)
        many = option.kind in ("list", "item")
        if argument in arguments and not (many and isinstance(before, list)):
            raise Usage(f"{option.flag} is given twice")
        if option.kind == "list":
            read: Any = [*(before or ()), *list_from(value, option.schema, option.flag)]
        elif option.kind == "item":
            read = [*(before or ()), address_from(value)]
        elif option.kind in ("object", "items"):
            read = object_from(value, option.schema, option.flag)
        else:
            read = read_value(option.kind, value, option.flag, nullable=bool(option.schema.get("nullable")))
        arguments[argument] = read

    def _set_extra(self, request: Request, option: Option, value: str) -> None:
        if option.kind == "extra_integer":
            read_value("integer", value, option.flag)
        if option.kind == "switch" and not read_value("boolean", value, option.flag):
            return
        if option.name in request.extras and option.kind != "switch":
            raise Usage(f"{option.flag} is given twice")
        request.extras[option.name] = value

    def _next(self, word: str, queue: list[str]) -> str:
        if not queue:
            raise Usage(f"{word} needs a value")
        return queue.pop()

    def _place(self, request: Request, loose: list[str]) -> None:
        """Gives the words without an option's name to the arguments that they are for."""
        if not loose or "help" in request.extras:
            return
        name, arguments = self.positional, request.arguments
        if name is None:
            raise unexpected_word(loose[0], self)
        if name == ITEMS:
            for word in loose:
                self._set(request, self.options[_SINGULAR], word)
            return
        if len(loose) > 1 and name not in SEVERAL_WORDS:
            raise unexpected_word(loose[1], self, after=loose[0])
        if name == ADDRESSED:
            given = address_from(loose[0], workspace_given="workspace" in arguments)
        else:
            given = {name: " ".join(loose)}
        for argument in given:
            if argument in arguments:
                raise Usage(f"{argument} is given twice, once as --{argument}")
        arguments.update(given)

    def _unknown(self, word: str) -> Usage:
        return unknown_option(word, self, EVERYWHERE)

    def require(self, request: Request) -> None:
        """Refuses a request that lacks an argument which neither an option nor stdin gives."""
        for name in self.operation.required:
            if name in request.arguments or name == self.text:
                continue
            if name == ITEMS and self.positional == ITEMS:
                needed = "at least one NAME or WORKSPACE/NAME is needed"
            else:
                needed = f"--{name.replace('_', '-')} is needed"
            raise Usage(f"{needed} by `moss {self.words}`", command=self.words)


def find_command(words: list[str]) -> tuple[Command, list[str]] | None:
    """The command that the first words name, and the words after it: `store …`, `capsule store …`."""
    first = words[0].replace("-", "_")
    if len(words) > 1 and not words[1].startswith("-"):
        operation = catalog.find(f"{first}_{words[1].replace('-', '_')}")
        if operation is not None:
            return Command(operation, f"{words[0]} {words[1]}"), words[2:]
    tool = "moss_search" if first == "search" else f"capsule_{first}"
    operation = catalog.find(tool)
    return None if operation is None else (Command(operation, words[0]), words[1:])


def words_of(tool: str) -> str:
    """How a tool is typed: `capsule_store` is `store`, `artifact_store` is `artifact store`."""
    family, _, verb = tool.replace("moss.", "capsule_").partition("_")
    verb = verb.replace("_", "-")
    if family == "moss" or (family == "capsule" and verb != "search"):
        return verb
    return f"{family} {verb}"


def _positional(parameters: dict[str, dict[str, Any]]) -> str | None:
    """What the words without an option's name are for: an argument, an address, a list of addresses, or nothing."""
    items = parameters.get(ITEMS)
    if items is not None and items["items"]["type"] == "object":
        return ITEMS
    if "id" in parameters and "name" in parameters:
        return ADDRESSED
    return next((name for name in POSITIONAL if name in parameters), None)


def _option(name: str, schema: dict[str, Any]) -> Option:
    kind = schema["type"]
    if kind == "array":
        kind = "list" if schema["items"]["type"] == "string" else "items"
    description = schema.get("description", "")
    if kind == "items" and not description:
        description = 'JSON: [{"name": "auth"}, …], or @FILE'
    return Option(name, kind, description, argument=name, schema=schema)
