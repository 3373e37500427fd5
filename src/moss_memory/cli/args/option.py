"""The options of a command: the arguments of its tool, their aliases, and options that only the command line has."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .command import Command

SINGULAR = "item"
SHOWS_TEXT = ("_fetch", "_latest", "_compose")
"""Suffixes of tools whose response has one text, which `--text` prints."""

MANY = ("list", "sentences", "item", "pairs", "titles")
"""Kinds of options that may be repeated."""

SENTENCES = ("success_criteria", "tests", "blockers", "links", "checks", "texts", "search")
"""Lists of sentences, which commas do not separate; the option is repeated instead."""

PAIRS = ("properties",)
"""Objects that may be given as NAME=VALUE; the option may be repeated."""

_LISTING_COMMANDS = {"capability_id": "record capabilities"}
"""Arguments, and the command that lists their values."""

_HELP = {
    "ids": "their ids",
    "types": "of any of these types",
    "tags_any": "with any of these tags",
    "tags_all": "with all of these tags",
    "docs": "the documents that it goes to",
    "supports": "ids of the cards that it speaks for",
    "blocks": "ids of the cards that must wait for it",
    "candidate_ids": "only these cards",
    "depends_on": "ids of the tasks that come first",
    "success_criteria": "what must be true in the end",
    "tests": "how that is checked",
    "blockers": "what stands in the way",
    "links": "where to look",
    "checks": "what was run, and how it ended",
    "texts": "what was seen",
    "thought_number": "the number of this thought",
    "total_thoughts": "how many there will be, as far as can be seen",
    "revises_thought": "the number of the thought that it revises",
    "branch_from_thought": "the number of the thought that it branches off",
}
"""Descriptions of arguments that have none in the schema, to keep the tool list of agents short."""


_EXTRA_HELP = {
    "capsule_export": "; - is stdout",
    "capsule_import": ", or a folder: one that `moss export --all` wrote, or of Markdown files",
}
"""Additions to the description of `--path`."""

_CONFIRMATIONS = {
    "_workspace_delete": "do it, instead of saying what would go",
    "_purge": "do not ask on a terminal",
    "_erase": "do not ask on a terminal",
}
"""Suffixes of tools whose command has `--yes`, and its meaning."""

_COMMON = (
    ("home", "extra", "folder of the store, instead of MOSS_HOME or ~/.moss"),
    ("table", "switch", "a plain table with every column, instead of JSON"),
    ("json", "switch", "JSON, also on a terminal"),
    ("verbose", "switch", "log every call to stderr, as MOSS_LOG=debug does"),
    ("help", "switch", "this help"),
)
"""Common options of commands."""

_SHORT_OPTIONS = {"workspace": "-w", "output": "-o", "help": "-h"}
"""Short options."""


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
        return _SHORT_OPTIONS.get(self.name, "")

    @property
    def denied(self) -> str:
        """Return the option that switches off a flag whose default is true, empty for other options."""
        return f"--no-{self.flag[2:]}" if self.kind == "boolean" and self.default is True else ""

    @property
    def takes_value(self) -> bool:
        """Return True if the option needs a value."""
        return self.kind not in ("boolean", "switch")

    @property
    def choices(self) -> list[str]:
        """Return the allowed values of the option or of a list's items, empty if any value is allowed."""
        return list(self.schema.get("enum") or self.schema.get("items", {}).get("enum") or ())


def flag_of(name: str) -> str:
    """Return the option of an argument: `include_text` is `--include-text`."""
    return "--" + name.replace("_", "-")


def options_of(command: Command) -> dict[str, Option]:
    """Return the options of a command by name."""
    operation = command.operation
    by_itself = command.defaults
    defaults = operation.defaults | by_itself
    options = {name: _option(name, schema, defaults.get(name)) for name, schema in operation.parameters.items()}
    if operation.name in _EXTRA_HELP:
        options["path"].description += _EXTRA_HELP[operation.name]
    if "type" in by_itself and " " in command.words:
        del options["type"]  # the group implies it
    for name, argument in operation.aliases.items():
        if name.islower():  # aliases such as thoughtNumber are for other programs
            original = options[argument]
            description = f"another word for {original.flag}"
            options.setdefault(
                name, Option(name, original.kind, description, argument=argument, schema=original.schema)
            )
    everywhere = getattr(operation, "everywhere", ("home", "table", "json", "help"))
    for extra in [
        *_extra_options(command),
        *(Option(*one) for one in _COMMON if (one[0] if one[0] != "verbose" else "home") in everywhere),
    ]:
        options.setdefault(extra.name, extra)
    return options


def kind_of(schema: dict[str, Any]) -> str:
    """Return the kind of an argument; if a schema allows several types, the one that words can give."""
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
    if name in _LISTING_COMMANDS:
        description += f"; `moss {_LISTING_COMMANDS[name]}` lists them"
    if kind == "items" and schema["items"].get("required") == ["title"]:
        kind = "titles"
        description = 'a title; may be repeated; or JSON: [{"title": "design"}, …], or @FILE'
    elif kind == "items":
        description = description or 'JSON: [{"name": "auth"}, …], or @FILE'
    elif not description and "enum" not in schema.get("items", schema):
        description = _HELP.get(name, "one or more" if kind in MANY else "")
    return Option(name, kind, description, argument=name, schema=schema, default=default)


_EXTRAS_OF = {
    "moss_erase": (Option("copies", "switch", "remove the copies in the home that Moss made, too"),),
    "moss_freshness": (
        Option("check", "switch", "exit with 1 if something has drifted or is orphaned"),
        Option("confirm", "extra", "say that this capsule, NAME or WORKSPACE/NAME, still holds"),
    ),
}
"""The further options of single commands."""


def _extra_options(command: Command) -> list[Option]:
    """Return the options of a command that are not arguments of its tool."""
    name, parameters = command.operation.name, command.operation.parameters
    extras = []
    if command.positional == "items":
        means = "one more of the items: NAME, WORKSPACE/NAME or an id; may be repeated"
        extras.append(Option(SINGULAR, "item", means, argument="items"))
    if "older_than_days" in parameters:
        means = "age in days, weeks: 7d, 2w"
        extras.append(Option("older_than", "age", means, argument="older_than_days"))
    if command.text:
        what = "JSON" if kind_of(parameters[command.text]) in ("object", "items") else "the text"
        extras.append(Option("file", "extra", f"read {what} from this file (- is stdin)"))
    if name.endswith(SHOWS_TEXT):
        extras.append(Option("text", "switch", "print the text alone, as it is stored, instead of JSON"))
    if name.endswith("_import"):
        extras.append(Option("max_bytes", "extra_integer", "accept a file up to this size"))
    if name == "capsule_export":
        extras.append(Option("all", "switch", "everything of every family, as plain files into the folder PATH"))
        extras.append(Option("salvage", "switch", "what can be read of a damaged store, into the folder PATH"))
        extras.append(Option("with_history", "switch", "with --all, earlier versions too"))
    extras += _EXTRAS_OF.get(name, ())
    confirmation = next((means for suffix, means in _CONFIRMATIONS.items() if name.endswith(suffix)), None)
    if confirmation:
        extras.append(Option("yes", "switch", confirmation))
    if name.endswith("_purge"):
        extras.append(
            Option("type", "extra", "of which family: capsule, if left out, artifact, reasoning, task or record")
        )
    return extras
