"""Help: the overview, and for every command its options and an example."""

from __future__ import annotations

from moss_memory import catalog

from .builtin import BUILT_IN
from .command import EVERYWHERE, ITEMS, Command, find_command, words_of
from .language import spoken
from .output import width
from .table import wrapped
from .words import names_itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.operation import Operation

    from .builtin import BuiltIn
    from .command import Option

_METAVARS = {"integer": "N", "number": "N", "list": "A,B", "object": "JSON", "items": "JSON", "item": "ITEM",
             "age": "AGE", "extra_integer": "N"}  # fmt: skip
_EXTRA_METAVARS = {"file": "PATH", "type": "TYPE"}
_POSITIONAL = {
    "address": "[NAME | WORKSPACE/NAME | ID]",
    "items": "[NAME | WORKSPACE/NAME | ID] \u2026",
    "query": "WORD \u2026",
}
_WIDTH = 100


def overview() -> str:
    """What `moss --help` shows: every command in its group, one line each."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for operation in catalog.operations():
        groups.setdefault(_group(operation), []).append((words_of(operation.name), summary_of(operation)))
    groups["moss itself"] = [(one.name, one.summary) for one in BUILT_IN]
    column = max(len(name) for rows in groups.values() for name, _ in rows) + 2
    lines = [
        *_paragraph("Moss: memory for coding agents, and for the people and programs that work with them."),
        "",
        "usage: moss COMMAND [options]",
        "       moss COMMAND --help shows its options and an example",
    ]
    for group, rows in groups.items():
        lines += ["", f"{group}:"]
        for name, summary in rows:
            lines += _entry(name, summary, column)
    lines += [
        "",
        "The capsule commands also answer as `moss capsule …`.",
        *_paragraph(
            "Everywhere: --home DIR, --table, --help. Answers are JSON on stdout; errors go to stderr with exit 1, "
            "mistakes in the command line with exit 2."
        ),
        "",
        "example: moss store --name auth < capsule.md && moss fetch auth",
    ]
    return "\n".join(lines)


def family_help(family: str) -> str:
    """The commands of one family, one line each."""
    rows = [
        (f"{family} {one.name.partition('_')[2].replace('_', '-')}", summary_of(one))
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
    positional = _POSITIONAL.get(command.positional or "", f"[{(command.positional or '').upper()}]")
    parts = [f"usage: moss {command.words}", *([positional] if command.positional else []), "[options]"]
    lines = [" ".join([*parts, *(["< FILE"] if command.text else [])])]
    for paragraph in spoken(operation.description, operation).split("\n\n"):
        lines += ["", *_paragraph(paragraph)]
    options = [(_shown(command, option), _meaning(command, option)) for option in command.options.values()]
    options += [(f"--{name}" + (" DIR" if name == "home" else ""), EVERYWHERE[name]) for name in everywhere(command)]
    column = min(max(len(shown) for shown, _ in options) + 2, 36, (width() or _WIDTH) // 2 - 2)
    lines += ["", "options:"]
    for shown, means in options:
        lines += _entry(shown, means, column)
    return "\n".join([*lines, "", f"example: {operation.example}"])


def summary_of(operation: Operation | BuiltIn) -> str:
    """The first line of what a command promises, in the command line's words."""
    return spoken(operation.summary, operation)


def everywhere(command: Command) -> tuple[str, ...]:
    """Which of the options that every command takes mean something to this one."""
    return getattr(command.operation, "everywhere", tuple(EVERYWHERE))


def denied(command: Command, option: Option) -> str:
    """How a flag that is on by itself is switched off; empty for all others."""
    on = option.kind == "boolean" and getattr(command.operation, "defaults", {}).get(option.argument) is True
    return f"--no-{option.flag[2:]}" if on else ""


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


def _shown(command: Command, option: Option) -> str:
    if option.kind in ("boolean", "switch"):
        return ", ".join(filter(None, [option.flag, denied(command, option)]))
    if names_itself(option.schema):
        return f"{option.flag} NAME|JSON"
    default = _EXTRA_METAVARS.get(option.name) or option.name.upper().replace("_", "-")
    return f"{option.flag} {_METAVARS.get(option.kind, default)}"


def _meaning(command: Command, option: Option) -> str:
    """The option's description with what can be known from its schema: choices, default, need."""
    operation = command.operation
    parts = [spoken(option.description, operation)] if option.description else []
    if option.name == "id" and "name" not in operation.parameters:
        parts = [parts[0].partition(";")[0]] if parts else []  # there is nothing else to give instead
    choices = choices_of(option)
    if choices:
        parts.append(("any of " if option.kind == "list" else "one of ") + ", ".join(choices))
    default = getattr(operation, "defaults", {}).get(option.argument)
    if denied(command, option):
        parts.append("on by itself")
    elif default not in (None, False) and option.name == option.argument:
        parts.append(f"if left out: {default}")
    parts += _need(command, option)
    if option.kind == "list":
        parts.append("may be repeated")
    return "; ".join(parts)


def _need(command: Command, option: Option) -> list[str]:
    needed = option.name in command.operation.required
    if option.name == command.text:
        return ["read from stdin when not given" if needed else "read from stdin when it is piped there"]
    if needed and option.name == ITEMS == command.positional:
        return ["needed, unless they are named as words or with --item"]
    if needed and option.name == command.positional:
        return ["needed, here or as a word"]
    return ["needed"] if needed else []


def choices_of(option: Option) -> list[str]:
    """The closed set of an option's values, of a list's entries too; empty when it is open."""
    return list(option.schema.get("enum") or option.schema.get("items", {}).get("enum") or ())


def _paragraph(text: str) -> list[str]:
    return wrapped(" ".join(text.split()), width() or _WIDTH)


def _entry(name: str, text: str, column: int) -> list[str]:
    """A name and its meaning, the meaning wrapped in its own column."""
    first, *more = wrapped(text, width() or _WIDTH, indent=column + 2)
    head = [f"  {name:<{column}}{first}"] if len(name) < column else [f"  {name}", " " * (column + 2) + first]
    return [*head, *more]
