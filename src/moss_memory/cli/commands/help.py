"""Help: the overview, and the options and an example of every command."""

from __future__ import annotations

from moss_memory.cli.args.argument_names import WITHOUT_NAMES
from moss_memory.cli.args.built_in_commands import BUILT_IN
from moss_memory.cli.args.command import Command, find_command
from moss_memory.cli.args.command_names import command_names
from moss_memory.cli.args.converters import are_switches, names_itself
from moss_memory.cli.args.option import MANY
from moss_memory.cli.args.positional import ITEMS, SCOPE
from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.cell import wrap_text
from moss_memory.cli.render.cli_words import to_cli_words
from moss_memory.cli.render.install_hint import with_working_install
from moss_memory.cli.render.message_lines import wrap_command
from moss_memory.cli.render.output import show, width
from moss_memory.registry.tool_index import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.cli.args.option import Option

_METAVARS = {"integer": "N", "number": "N", "list": "A,B", "object": "JSON", "items": "JSON", "item": "ITEM",
             "sentences": "TEXT", "age": "AGE", "extra_integer": "N", "pairs": "NAME=VALUE|JSON",
             "titles": "TITLE|JSON"}  # fmt: skip
_EXTRA_METAVARS = {"file": "PATH", "home": "DIR"}
_POSITIONAL = {
    "address": "[NAME | WORKSPACE/NAME | ID]",
    "named": "[NAME | WORKSPACE/NAME]",
    "items": "[NAME | WORKSPACE/NAME | ID] \u2026",
    "query": "WORD \u2026",
    "search": "[WORD \u2026]",
}
_SCOPES = {"branch": "BRANCH", "ref": "BRANCH", "target": "TASK-001"}
_REQUIRED_OPTIONS = (("output", "--output OUTPUT"), ("workspace", "[-w WORKSPACE]"))
"""Options that a command may require; its other required arguments are positional."""

_WIDTH = 100
_COLUMN = 20
EVERYDAY = (
    ("save", "NAME < FILE", "Save a hand-over (capsule) for the next session."),
    ("load", "NAME", "Show it again."),
    ("latest", "", "Show the newest capsule."),
    ("list", "", "List the capsules of a workspace."),
    ("search", "WORDS", "Find anything, by words and by meaning."),
    ("append", "NAME \u2026", "Add to one section of a capsule."),
    ("revert", "NAME", "Take back the last change of a capsule."),
    ("task radar", "", "Show the state of the work and the next step."),
    ("connect", "CLIENT", "Connect Claude Code, Codex, Cursor and others."),
    ("serve", "", "Show the store in your browser."),
)
"""The commands that the overview explains: words, arguments, purpose."""


def print_help(_: str | None, *, command: str | None = None) -> int:
    """Print the overview, or the help of one command or group."""
    named_command = find_any(command or "")
    if command is None:
        show(help_overview())
    elif named_command is not None:
        show(command_help(named_command))
    elif any(name.startswith(command + " ") for name in command_names()):
        show(family_help(command))
    else:
        from moss_memory.cli.args.did_you_mean import suggest_word

        raise UsageError(f"unknown command {command!r}{suggest_word(command, [*command_names(), *group_names()])}")
    return 0


def help_overview() -> str:
    """Return the overview of `moss --help` on one screen: everyday commands, groups, the other commands."""
    wide = width() or _WIDTH
    everyday = [(f"{words} {arguments}".strip(), purpose) for words, arguments, purpose in EVERYDAY]
    everyday_names = {words for words, _, _ in EVERYDAY}
    others = sorted(name for name in command_names() if " " not in name and name not in everyday_names)
    return "\n".join(
        [
            *_paragraph("Moss: memory for coding agents and the people who work with them."),
            "",
            "Every day (moss COMMAND --help explains one):",
            *_entries(everyday, _COLUMN),
            "",
            *wrap_text(f"Groups (moss GROUP lists its commands): {', '.join(group_names())}.", wide, indent=2),
            *wrap_text(f"Other commands: {', '.join(others)}.", wide, indent=2),
            "",
            *_paragraph("Everywhere: -w WORKSPACE, --home DIR, --json, --help. A pipe gets JSON."),
        ]
    )


def family_help(family: str) -> str:
    """Return the commands of one group, one a line."""
    names = [name for name in (*COMMANDS, *BUILT_IN) if name.startswith(f"{family} ")]
    operations = [command.operation for name in names if (command := find_any(name)) is not None]
    rows = [
        (name, to_cli_words(operation.summary, operation)) for name, operation in zip(names, operations, strict=True)
    ]
    listed = _entries(rows, max(map(len, names)) + 2)
    example = _example(operations[0].example)
    return "\n".join([f"usage: moss {family} COMMAND [options]", "", *listed, "", *example])


def command_help(command: Command) -> str:
    """Return the help of one command: description, options, example."""
    operation = command.operation
    from_stdin = ["< FILE"] if command.text else []
    usage = " ".join([f"usage: moss {command.words}", *_words(command), "[options]", *from_stdin])
    lines = wrap_text(usage, width() or _WIDTH, indent=7)
    for paragraph in with_working_install(to_cli_words(operation.description, operation)).split("\n\n"):
        lines += ["", *_paragraph(paragraph)]
    options = [(_placeholder(option), _describe(command, option)) for option in command.options.values()]
    column = min(max(len(placeholder) for placeholder, _ in options) + 2, 36, (width() or _WIDTH) // 2 - 2)
    return "\n".join([*lines, "", "options:", *_entries(options, column), "", *_example(operation.example)])


def _example(line: str) -> list[str]:
    """Return the example beside its label; on lines of its own if both do not fit."""
    if not width() or len(line) + len("example: ") <= width():
        return [f"example: {line}"]
    return ["example:", *(f"  {part}" for part in wrap_command(line, width() - 2))]


def _words(command: Command) -> list[str]:
    """Return the positional arguments and required options of a usage line."""
    name = command.positional
    words = [_slot(command, slot) for slot in command.slots]
    if name == SCOPE:
        scopes = [_SCOPES[scope] for scope in _SCOPES if scope in command.operation.parameters]
        words = [f"[{' | '.join(scopes)}]"]
    elif name:
        kind = command.defaults.get("type", "")
        name = WITHOUT_NAMES.get(kind, name)
        words = [_POSITIONAL.get(name, f"[{name.upper()}]")]
    needed = [option_text for name, option_text in _REQUIRED_OPTIONS if name in command.operation.required]
    return [*words, *needed]


def _slot(command: Command, name: str) -> str:
    word = name.upper().replace("_", "-")
    if name in (command.text, *command.operation.cli.inferred) or name not in command.operation.required:
        return f"[{word}]"
    if name in command.defaults:
        return f"[{word}]"
    return f"{word} \u2026" if command.options[name].kind in MANY else word


def group_names() -> list[str]:
    """Return the first words of commands with two words, except those that are commands themselves."""
    names = command_names()
    firsts = dict.fromkeys(name.partition(" ")[0] for name in names if " " in name)
    return [first for first in firsts if first not in names]


def find_any(name: str) -> Command | None:
    """Return the command of that name, built-in or tool, None if there is none."""
    if name in BUILT_IN:
        return Command(BUILT_IN[name], name)
    match = find_command(name.split()) if name.strip() else None
    return None if match is None or match[1] else match[0]


def _placeholder(option: Option) -> str:
    """Return the option as it is typed, with a placeholder for its value."""
    if not option.takes_value:
        return ", ".join(filter(None, [option.short, option.flag, option.negated_flag]))
    sign = _METAVARS.get(option.kind) or _EXTRA_METAVARS.get(option.name) or option.flag[2:].upper()
    if names_itself(option.schema):
        sign = "NAME|JSON"
    elif option.kind == "object" and are_switches(option.schema):
        sign = "A,B|JSON"
    return f"{', '.join(filter(None, [option.short, option.flag]))} {sign}"


def _describe(command: Command, option: Option) -> str:
    """Return the option's description with its choices, default and whether it is required."""
    operation = command.operation
    parts = [to_cli_words(option.description, operation)] if option.description else []
    if option.name == "id" and "name" not in operation.parameters:
        parts = [parts[0].partition(";")[0]] if parts else []  # the text after the semicolon is about names
    members = option.schema.get("properties", {})
    if option.kind == "object" and members and not are_switches(option.schema):
        parts.append(f"an object of {', '.join(members)}")
    if option.choices:
        parts.append(("any of " if option.kind == "list" else "one of ") + ", ".join(option.choices))
    if option.negated_flag:
        parts.append("on by default")
    elif option.name == "workspace" and (option.default or "workspace" in operation.required):
        fallback = f", else {option.default}" if option.default else ""
        parts.append(f"if left out: MOSS_WORKSPACE, else the configured one{fallback}")
    elif option.default not in (None, False):
        parts.append(f"if left out: {option.default}")
    parts += _requirement(command, option)
    if option.kind in ("list", "sentences", "pairs"):
        parts.append("may be repeated")
    return "; ".join(parts)


def _requirement(command: Command, option: Option) -> list[str]:
    needed = option.name in command.operation.required and option.name != "workspace" and option.default is None
    inferred = command.operation.cli.inferred.get(option.name)
    if inferred:
        return [f"if left out: {inferred}"]
    if option.name == command.text:
        return ["read from stdin if left out" if needed else "read from stdin if that is a pipe"]
    if needed and option.name == ITEMS == command.positional:
        return ["needed, unless they are named as words or with --item"]
    if needed and (option.name == command.positional or option.name in command.slots):
        return ["needed, here or as a word"]
    return ["needed"] if needed else []


def _paragraph(text: str) -> list[str]:
    return wrap_text(" ".join(text.split()), width() or _WIDTH)


def _entries(rows: list[tuple[str, str]], column: int) -> list[str]:
    """Return names and descriptions in two columns, the descriptions wrapped."""
    lines = []
    for name, text in rows:
        first, *other_lines = wrap_text(text, width() or _WIDTH, indent=column + 2)
        head = [f"  {name:<{column}}{first}"] if len(name) < column else [f"  {name}", " " * (column + 2) + first]
        lines += [*head, *other_lines]
    return lines
