"""One command: a tool's arguments as options, and how the words of a command line become its arguments.

Written here rather than with argparse, whose import alone costs more than half a bare interpreter start
and which refuses values that begin with a dash, such as `--content "- rotate the keys"`.
"""

from __future__ import annotations

from moss_memory import catalog

from .usage import Usage, nearest
from .words import items_from, list_from, object_from, read_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.operation import Operation

    from .builtin import BuiltIn

POSITIONAL = ("id", "query", "path", "shell", "command")
"""Arguments that may stand without their option's name; the first that a tool has is the one."""

SEVERAL_WORDS = ("query", "command")
TEXT = ("capsule_text", "content")
"""Arguments that are read from stdin, or from `--file`, when no option gives them."""

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
        self.positional = next((name for name in POSITIONAL if name in parameters), None)
        self.text = next((name for name in TEXT if name in parameters), None)
        self.options = {name: _option(name, schema) for name, schema in parameters.items()}
        for extra in self._extras():
            self.options.setdefault(extra.name, extra)

    def _extras(self) -> list[Option]:
        """The few options that a command has beside its tool's arguments."""
        name, parameters = self.operation.name, self.operation.parameters
        extras = []
        if "items" in parameters and parameters["items"]["items"].get("type") == "object":
            means = "one more of the items: NAME, WORKSPACE/NAME or id:ULID; may be repeated"
            extras.append(Option(_SINGULAR, "item", means, argument="items"))
        if "older_than_days" in parameters:
            means = "age in days, weeks: 7d, 2w"
            extras.append(Option("older_than", "age", means, argument="older_than_days"))
        if self.text:
            extras.append(Option("file", "extra", f"read {self.text} from this file (- is stdin)"))
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
        if name in EVERYWHERE and name not in self.operation.parameters:
            if name in _SWITCHES:
                request.extras[name] = ""
                return
            request.extras[name] = value if has_value else self._next(word, queue)
            if not request.extras[name]:
                raise Usage(f"--{name} needs the name of a folder")
            return
        option = self.options.get(name)
        if option is None and name.startswith("no_") and not has_value:
            option, value, has_value = self.options.get(name[3:]), "false", "="
            if option is not None and option.kind != "boolean":
                option = None
        if option is None:
            raise self._unknown(word)
        if option.kind == "boolean":
            value = value if has_value else "true"
        elif not has_value:
            value = self._next(word, queue)
        self._set(request, option, value)

    def _set(self, request: Request, option: Option, value: str) -> None:
        if option.kind in ("extra", "extra_integer"):
            if option.kind == "extra_integer":
                read_value("integer", value, option.flag)
            request.extras[option.name] = value
            return
        arguments, argument = request.arguments, option.argument
        many = option.kind in ("list", "item")
        if argument in arguments and not many:
            raise Usage(f"{option.flag} is given twice")
        if option.kind == "list":
            read: Any = [*arguments.get(argument, []), *list_from(value, option.schema, option.flag)]
        elif option.kind == "item":
            read = [*arguments.get(argument, []), items_from(value)]
        elif option.kind in ("object", "items"):
            read = object_from(value, option.schema, option.flag)
        else:
            read = read_value(option.kind, value, option.flag, nullable=bool(option.schema.get("nullable")))
        arguments[argument] = read

    def _next(self, word: str, queue: list[str]) -> str:
        if not queue:
            raise Usage(f"{word} needs a value")
        return queue.pop()

    def _place(self, request: Request, loose: list[str]) -> None:
        """Gives the words without an option's name to the positional argument."""
        if not loose or "help" in request.extras:
            return
        name = self.positional
        if name is None:
            raise Usage(f"unexpected word {loose[0]!r}; this command takes options only")
        if name in request.arguments:
            raise Usage(f"{name} is given twice, once as --{name}")
        if len(loose) > 1 and name not in SEVERAL_WORDS:
            raise Usage(f"unexpected word {loose[1]!r} after {loose[0]!r}")
        request.arguments[name] = " ".join(loose)

    def _unknown(self, word: str) -> Usage:
        shown = word.partition("=")[0]
        known = [option.flag for option in self.options.values()]
        known += ["--" + name for name in EVERYWHERE]
        return Usage(f"unknown option {shown}{nearest(shown, known)}")

    def missing(self, request: Request) -> str | None:
        """The first required argument that neither an option nor stdin gives."""
        for name in self.operation.required:
            if name not in request.arguments and name != self.text:
                return name
        return None


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


def _option(name: str, schema: dict[str, Any]) -> Option:
    kind = schema["type"]
    if kind == "array":
        kind = "list" if schema["items"]["type"] == "string" else "items"
    description = schema.get("description", "")
    if kind == "items" and not description:
        description = 'JSON: [{"name": "auth"}, …], or @FILE'
    return Option(name, kind, description, argument=name, schema=schema)
