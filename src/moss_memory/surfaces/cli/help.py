"""Help: the overview, and for every command its options and an example."""

from __future__ import annotations

from moss_memory import catalog

from .builtin import BUILT_IN
from .command import EVERYWHERE, Command, find_command, words_of
from .output import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.operation import Operation

    from .command import Option

_METAVARS = {"integer": "N", "number": "N", "list": "A,B", "object": "JSON", "items": "JSON", "item": "ITEM",
             "age": "AGE", "extra_integer": "N"}  # fmt: skip
_WIDTH = 100


def overview() -> str:
    """What `moss --help` shows: every command in its group, one line each."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for operation in catalog.operations():
        groups.setdefault(_group(operation), []).append((words_of(operation.name), operation.summary))
    groups["moss itself"] = [(one.name, one.summary) for one in BUILT_IN]
    column = max(len(name) for rows in groups.values() for name, _ in rows) + 2
    lines = [
        "Moss: memory for coding agents, and for the people and programs that work with them.",
        "",
        "usage: moss COMMAND [options]      moss COMMAND --help shows its options and an example",
    ]
    for group, rows in groups.items():
        lines += ["", f"{group}:"]
        for name, summary in rows:
            lines += _entry(name, summary, column)
    lines += [
        "",
        "The capsule commands also answer as `moss capsule …`.",
        "Everywhere: --home DIR, --table, --help. Answers are JSON on stdout; errors go to stderr with exit 1,",
        "mistakes in the command line with exit 2.",
        "",
        "example: moss store --name auth < capsule.md && moss fetch --name auth",
    ]
    return "\n".join(lines)


def family_help(family: str) -> str:
    """The commands of one family, one line each."""
    rows = [
        (f"{family} {one.name.partition('_')[2].replace('_', '-')}", one.summary)
        for one in catalog.operations()
        if one.name.startswith(family + "_")
    ]
    column = max(len(name) for name, _ in rows) + 2
    lines = [f"usage: moss {family} COMMAND [options]", ""]
    for name, summary in rows:
        lines += _entry(name, summary, column)
    return "\n".join([*lines, "", f"example: {_first_example(family)}"])


def command_help(command: Command) -> str:
    """One command: what it promises, its options, an example."""
    operation = command.operation
    positional = f" [{command.positional.upper()}]" if command.positional else ""
    stdin = " < FILE" if command.text else ""
    lines = [f"usage: moss {command.words}{positional} [options]{stdin}", "", operation.description]
    options = [(_shown(option), _meaning(command, option)) for option in command.options.values()]
    options += [(f"--{name}" + (" DIR" if name == "home" else ""), means) for name, means in EVERYWHERE.items()]
    column = min(max(len(shown) for shown, _ in options) + 2, 34)
    lines += ["", "options:"]
    for shown, means in options:
        lines += _entry(shown, means, column)
    return "\n".join([*lines, "", f"example: {operation.example}"])


def command_names() -> list[str]:
    """Everything that can be typed after `moss`."""
    names = [one.name for one in BUILT_IN]
    for operation in catalog.operations():
        family, _, verb = operation.name.partition("_")
        names.append(words_of(operation.name))
        if family != "moss":
            names.append(f"{family} {verb.replace('_', '-')}")
    return list(dict.fromkeys(names))


def find_any(asked: str) -> Command | None:
    """The command of that name, one of Moss's own or a tool."""
    for one in BUILT_IN:
        if one.name == asked:
            return Command(one, one.name)
    found = find_command(asked.split()) if asked.strip() else None
    return None if found is None or found[1] else found[0]


def _group(operation: Operation) -> str:
    family = operation.name.partition("_")[0]
    return "across everything" if family == "moss" else f"{family}s" if family == "capsule" else family


def _first_example(family: str) -> str:
    return next(one.example for one in catalog.operations() if one.name.startswith(family + "_"))


def _shown(option: Option) -> str:
    if option.kind == "boolean":
        return option.flag
    default = option.name.upper().replace("_", "-") if option.kind != "extra" else "VALUE"
    return f"{option.flag} {_METAVARS.get(option.kind, default)}"


def _meaning(command: Command, option: Option) -> str:
    """The option's description with what can be known from its schema: choices, default, need."""
    parts = [option.description] if option.description else []
    if "enum" in option.schema:
        parts.append("one of " + ", ".join(option.schema["enum"]))
    default = getattr(command.operation, "defaults", {}).get(option.argument)
    if default is True:
        parts.append(f"on unless --no-{option.flag[2:]}")
    elif default not in (None, False):
        parts.append(f"default {default}")
    if option.argument and option.argument in command.operation.required and option.name == option.argument:
        parts.append("read from stdin when not given" if option.name == command.text else "needed")
    elif option.name == command.text:
        parts.append("read from stdin when it is piped there")
    if option.kind == "list":
        parts.append("may be repeated")
    return "; ".join(parts)


def _entry(name: str, text: str, column: int) -> list[str]:
    """A name and its meaning, the meaning wrapped in its own column."""
    room = max((width() or _WIDTH) - column - 2, 30)
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    head = [f"  {name:<{column}}{lines[0]}"] if len(name) < column else [f"  {name}", " " * (column + 2) + lines[0]]
    return [*head, *(" " * (column + 2) + more for more in lines[1:])]
