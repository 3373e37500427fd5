"""Help: the overview, and for every command its options and an example."""

from __future__ import annotations

from moss_memory import catalog

from ..parsing.builtin import BUILT_IN
from ..parsing.command import EVERYWHERE, SHORT, Command, find_command
from ..parsing.groups import DEFAULTS, UNLISTED, group_of, long_words_of, words_of
from ..parsing.option import flag_of
from ..parsing.positional import ITEMS, PLACE
from ..parsing.usage import Usage
from ..parsing.words import are_switches, names_itself
from ..showing.cell import wrapped
from ..showing.output import show, width
from ..speaking.language import spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.operation import Operation

    from ..parsing.builtin import BuiltIn
    from ..parsing.option import Option

_METAVARS = {"integer": "N", "number": "N", "list": "A,B", "object": "JSON", "items": "JSON", "item": "ITEM",
             "sentences": "TEXT", "age": "AGE", "extra_integer": "N", "pairs": "NAME=VALUE|JSON"}  # fmt: skip
_EXTRA_METAVARS = {"file": "PATH", "type": "TYPE"}
_POSITIONAL = {
    "address": "[NAME | WORKSPACE/NAME | ID]",
    "items": "[NAME | WORKSPACE/NAME | ID] \u2026",
    "query": "WORD \u2026",
    "search": "[WORD \u2026]",
}
_PLACES = {"branch": "BRANCH", "ref": "BRANCH", "target": "TASK-001"}
_NEEDED = (("-w", "workspace"), ("--output", "output"))
"""Options that a command may need; the others that it needs are words."""

_WIDTH = 100


def explain(_: str | None, *, command: str | None = None) -> int:
    """Shows the overview, or the help of one command or group."""
    known = find_any(command or "")
    if command is None:
        show(overview())
    elif known is not None:
        show(command_help(known))
    elif any(name.startswith(command + " ") for name in command_names()):
        show(family_help(command))
    else:
        from ..parsing.suggestion import nearest

        raise Usage(f"unknown command {command!r}{nearest(command, [*command_names(), *group_names()])}")
    return 0


def overview() -> str:
    """What `moss --help` shows: every command in its group, one line each."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for operation in commanded():
        groups.setdefault(_heading(operation.name), []).append((words_of(operation.name), summary_of(operation)))
    for one in BUILT_IN.values():
        group = one.name.partition(" ")[0] if " " in one.name else "moss itself"
        groups.setdefault(group, []).append((one.name, summary_of(one)))
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
            "Everywhere: --home DIR, --table, --help; -w is short for --workspace. Answers are JSON on stdout; errors "
            "go to stderr with exit 1, mistakes in the command line with exit 2."
        ),
        "",
        "example: moss store --name auth < capsule.md && moss fetch auth",
    ]
    return "\n".join(lines)


def commanded() -> list[Operation]:
    """Every tool that is a command: the listed ones, and those that only people need."""
    unlisted = [catalog.find(name) for name in UNLISTED]
    return [*catalog.operations(), *(one for one in unlisted if one is not None)]


def family_help(family: str) -> str:
    """The commands of one group, one line each."""
    members = [(long_words_of(one.name), one) for one in commanded() if group_of(one.name) == family]
    rows = [(name, summary_of(one)) for name, one in members]
    rows += [(one.name, summary_of(one)) for one in BUILT_IN.values() if one.name.startswith(family + " ")]
    column = max(len(name) for name, _ in rows) + 2
    lines = [f"usage: moss {family} COMMAND [options]", ""]
    for name, summary in rows:
        lines += _entry(name, summary, column)
    return "\n".join([*lines, "", f"example: {members[0][1].example}"])


def command_help(command: Command) -> str:
    """One command: what it promises, its options, an example."""
    operation = command.operation
    from_stdin = ["< FILE"] if command.text else []
    usage = " ".join([f"usage: moss {command.words}", *_words(command), "[options]", *from_stdin])
    lines = wrapped(usage, width() or _WIDTH, indent=7)
    for paragraph in spoken(operation.description, operation).split("\n\n"):
        lines += ["", *_paragraph(paragraph)]
    options = [(_shown(command, option), _meaning(command, option)) for option in command.options.values()]
    options += [(f"--{name}" + (" DIR" if name == "home" else ""), EVERYWHERE[name]) for name in everywhere(command)]
    column = min(max(len(shown) for shown, _ in options) + 2, 36, (width() or _WIDTH) // 2 - 2)
    lines += ["", "options:"]
    for shown, means in options:
        lines += _entry(shown, means, column)
    return "\n".join([*lines, "", f"example: {operation.example}"])


def _words(command: Command) -> list[str]:
    """What may stand after a command without an option's name, and what must."""
    name = command.positional
    words = [_slot(command, slot) for slot in command.slots]
    if name == PLACE:
        shown = [_PLACES[one] for one in _PLACES if one in command.operation.parameters]
        words = [f"[{' | '.join(shown)}]"]
    elif name:
        words = [_POSITIONAL.get(name, f"[{name.upper()}]")]
    needed = [f"{flag} {flag_of(name)[2:].upper()}" for flag, name in _NEEDED if name in command.operation.required]
    return [*words, *needed]


def _slot(command: Command, name: str) -> str:
    shown = name.upper().replace("_", "-")
    if name == command.text:
        return f"[{shown}]"
    return f"{shown} \u2026" if command.options[name].kind == "list" else shown


def summary_of(operation: Operation | BuiltIn) -> str:
    """The first line of what a command promises, in the command line's words."""
    return spoken(operation.summary, operation)


def everywhere(command: Command) -> tuple[str, ...]:
    """Which of the options that every command takes mean something to this one."""
    return getattr(command.operation, "everywhere", tuple(EVERYWHERE))


def denied(command: Command, option: Option) -> str:
    """How a flag that is on by itself is switched off; empty for all others."""
    on = option.kind == "boolean" and command.operation.defaults.get(option.argument) is True
    return f"--no-{option.flag[2:]}" if on else ""


def command_names() -> list[str]:
    """Everything that can be typed after `moss`."""
    names = list(BUILT_IN)
    for operation in commanded():
        names += [words_of(operation.name), long_words_of(operation.name)]
    return list(dict.fromkeys(names))


def group_names() -> list[str]:
    """The first words of commands that have two."""
    return list(dict.fromkeys(name.partition(" ")[0] for name in command_names() if " " in name))


def find_any(asked: str) -> Command | None:
    """The command of that name, one of Moss's own or a tool."""
    if asked in BUILT_IN:
        return Command(BUILT_IN[asked], asked)
    found = find_command(asked.split()) if asked.strip() else None
    return None if found is None or found[1] else found[0]


def _heading(tool: str) -> str:
    group = group_of(tool)
    return "across everything" if not group else "capsules" if group == "capsule" else group


def _shown(command: Command, option: Option) -> str:
    if option.kind in ("boolean", "switch"):
        return ", ".join(filter(None, [option.flag, denied(command, option)]))
    if names_itself(option.schema):
        return f"{option.flag} NAME|JSON"
    if option.kind == "object" and are_switches(option.schema):
        return f"{option.flag} A,B|JSON"
    default = _EXTRA_METAVARS.get(option.name) or option.name.upper().replace("_", "-")
    short = next((f"{letter}, " for letter, name in SHORT.items() if name == option.name), "")
    return f"{short}{option.flag} {_METAVARS.get(option.kind, default)}"


def _meaning(command: Command, option: Option) -> str:
    """The option's description with what can be known from its schema: choices, default, need."""
    operation = command.operation
    parts = [spoken(option.description, operation)] if option.description else []
    if option.name == "id" and "name" not in operation.parameters:
        parts = [parts[0].partition(";")[0]] if parts else []  # there is nothing else to give instead
    members = option.schema.get("properties", {})
    if option.kind == "object" and members and not are_switches(option.schema):
        parts.append(f"an object of {', '.join(members)}")
    choices = choices_of(option)
    if choices:
        parts.append(("any of " if option.kind == "list" else "one of ") + ", ".join(choices))
    default = (operation.defaults | DEFAULTS.get(operation.name, {})).get(option.argument)
    if denied(command, option):
        parts.append("on by itself")
    elif default not in (None, False) and option.name == option.argument:
        parts.append(f"if left out: {default}")
    parts += _need(command, option)
    if option.kind in ("list", "sentences", "pairs"):
        parts.append("may be repeated")
    return "; ".join(parts)


def _need(command: Command, option: Option) -> list[str]:
    needed = option.name in command.operation.required
    if option.name == command.text:
        return ["read from stdin when not given" if needed else "read from stdin when it is piped there"]
    if needed and option.name == ITEMS == command.positional:
        return ["needed, unless they are named as words or with --item"]
    if needed and (option.name == command.positional or option.name in command.slots):
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
