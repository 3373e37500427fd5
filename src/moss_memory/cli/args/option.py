"""The options of a command: the arguments of its tool, their aliases, and options that only the command line has."""

from __future__ import annotations

from .argument_names import DESCRIPTIONS, LISTING_COMMANDS, PAIRS, SENTENCES, SHORT_OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .command import Command

SINGULAR = "item"
MANY = ("list", "sentences", "item", "pairs", "titles")
"""Kinds of options that may be repeated."""

_COMMON = {
    "home": ("extra", "folder of the store, instead of MOSS_HOME or ~/.moss"),
    "table": ("switch", "a plain table with every column, instead of JSON"),
    "json": ("switch", "JSON, also on a terminal"),
    "verbose": ("switch", "log every call to stderr, as MOSS_LOG=debug does"),
    "help": ("switch", "this help"),
}
COMMON_OPTIONS = tuple(_COMMON)
"""The options of every tool; a built-in command may have fewer."""

_EXTRA_KINDS = {"boolean": "switch", "integer": "extra_integer", "string": "extra"}
"""JSON type of an option that only a command has, and its kind."""


class Option:
    """An option of a command: its name, kind and description."""

    __slots__ = ("argument", "default", "description", "kind", "name", "schema")

    def __init__(
        self, name: str, kind: str, description: str, *, argument: str = "", schema: Any = None, default: Any = None
    ) -> None:
        self.name = name
        self.kind = kind
        self.description = description
        self.argument = argument
        self.schema = schema or {}
        self.default = default

    @property
    def flag(self) -> str:
        """Return the option as it is typed."""
        return flag_of(self.name)

    @property
    def short(self) -> str:
        """Return the short option, empty if there is none."""
        return SHORT_OPTIONS.get(self.name, "")

    @property
    def negated_flag(self) -> str:
        """Return the option that switches off a flag whose default is true, empty for other options."""
        return f"--no-{self.flag[2:]}" if self.kind == "boolean" and self.default is True else ""

    @property
    def takes_value(self) -> bool:
        return self.kind not in ("boolean", "switch")

    @property
    def choices(self) -> list[str]:
        """Return the allowed values of the option or of a list's items, empty if any value is allowed."""
        return list(self.schema.get("enum") or self.schema.get("items", {}).get("enum") or ())


def flag_of(name: str) -> str:
    """Return the option of an argument: `include_text` is `--include-text`."""
    return "--" + name.replace("_", "-")


def options_of(command: Command) -> dict[str, Option]:
    operation = command.operation
    command_defaults = command.defaults
    defaults = operation.defaults | command_defaults
    options = {name: _option(name, schema, defaults.get(name)) for name, schema in operation.parameters.items()}
    for name, description in operation.cli.descriptions.items():
        options[name].description = description
    if "type" in command_defaults and " " in command.words:
        del options["type"]  # the group implies it
    for name, argument in operation.aliases.items():
        if name.islower():  # aliases such as thoughtNumber are for other programs
            original = options[argument]
            description = f"another word for {original.flag}"
            options.setdefault(
                name, Option(name, original.kind, description, argument=argument, schema=original.schema)
            )
    common = [Option(name, *_COMMON[name]) for name in getattr(operation, "common_options", COMMON_OPTIONS)]
    for extra in [*_extra_options(command), *common]:
        options.setdefault(extra.name, extra)
    return options


def kind_of(schema: dict[str, Any]) -> str:
    """Return the kind of an argument; if a schema allows several types, a list, else a text, else the first one."""
    kind = schema["type"]
    if isinstance(kind, list):
        return "list" if "array" in kind else "string" if "string" in kind else str(kind[0])
    if kind == "array":
        return "list" if schema["items"]["type"] == "string" else "items"
    return str(kind)


def _option(name: str, schema: dict[str, Any], default: Any) -> Option:
    kind = kind_of(schema)
    description = schema.get("description", "")
    if kind == "list" and name in SENTENCES:
        kind = "sentences"
    if kind == "object" and name in PAIRS:
        kind = "pairs"
        description += "; numbers, true and false as JSON"
    if name in LISTING_COMMANDS:
        description += f"; `moss {LISTING_COMMANDS[name]}` lists them"
    if kind == "items" and schema["items"].get("required") == ["title"]:
        kind = "titles"
        description = 'a title; may be repeated; or JSON: [{"title": "design"}, …], or @FILE'
    elif kind == "items":
        description = description or 'JSON: [{"name": "auth"}, …], or @FILE'
    elif not description and "enum" not in schema.get("items", schema):
        description = DESCRIPTIONS.get(name, "one or more" if kind in MANY else "")
    return Option(name, kind, description, argument=name, schema=schema, default=default)


def _extra_options(command: Command) -> list[Option]:
    """Return the options of a command that are not arguments of its tool."""
    parameters, cli = command.operation.parameters, command.operation.cli
    extras = []
    if command.positional == "items":
        means = "a further item: NAME, WORKSPACE/NAME or an id; may be repeated"
        extras.append(Option(SINGULAR, "item", means, argument="items"))
    if "older_than_days" in parameters:
        means = "age in days, weeks: 7d, 2w"
        extras.append(Option("older_than", "age", means, argument="older_than_days"))
    if command.text:
        content = "JSON" if kind_of(parameters[command.text]) in ("object", "items") else "the text"
        extras.append(Option("file", "extra", f"read {content} from this file (- is stdin)"))
    if cli.prints_text:
        extras.append(Option("text", "switch", "print only the stored text, instead of JSON"))
    extras += [
        Option(name, _EXTRA_KINDS[schema["type"]], schema["description"]) for name, schema in cli.options.items()
    ]
    return extras
