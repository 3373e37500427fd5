"""Completion scripts for shells, written from the registry at development time and shipped as files.

`python -m moss_memory.surfaces.cli.commands.completion` writes them again; a test fails when they are stale.
"""

from __future__ import annotations

import os

from ..parsing.builtin import SHELLS
from ..parsing.usage import Usage
from ..showing.output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..parsing.command import Command
    from ..parsing.option import Option

_FOLDER = os.path.join(os.path.dirname(__file__), "completions")
_FILES = {"bash": "moss.bash", "zsh": "_moss", "fish": "moss.fish"}
_TAKES_FILE = ("file", "path", "output", "dir")
_TAKES_NOTHING = ("boolean", "switch")


def shipped_script(shell: str) -> str:
    """The completion script of a shell, as it lies in the package."""
    with open(os.path.join(_FOLDER, _FILES[shell]), encoding="utf-8") as file:
        return file.read()


def print_script(_: str | None, *, shell: str | None = None) -> int:
    """Prints the script of a shell, or says which there are."""
    if shell not in SHELLS:
        problem = "which shell" if shell is None else f"no completion for {shell!r}"
        raise Usage(f"{problem}; known: {', '.join(SHELLS)}", command="completion")
    show(shipped_script(shell))
    return 0


def script(shell: str) -> str:
    """The completion script of a shell, made from the registry."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def write_scripts() -> None:
    """Writes every script into the package."""
    os.makedirs(_FOLDER, exist_ok=True)
    for shell, name in _FILES.items():
        with open(os.path.join(_FOLDER, name), "w", encoding="utf-8") as file:
            file.write(script(shell))


def _commands() -> list[Command]:
    """Every command under every name it answers to, shorter names first."""
    from .help import command_names, find_any

    found = []
    for name in sorted(command_names(), key=lambda name: (" " in name, name)):
        command = find_any(name)
        if command is not None:
            command.words = name
            found.append(command)
    return found


def _families(commands: list[Command]) -> dict[str, list[Command]]:
    families: dict[str, list[Command]] = {}
    for command in commands:
        if " " in command.words:
            families.setdefault(command.words.split()[0], []).append(command)
    return families


def _flags(command: Command) -> list[str]:
    """Every option of a command as it is typed, those that say no included."""
    from .help import denied, everywhere

    options = command.options.values()
    flags = [option.flag for option in options] + [denied(command, option) for option in options]
    flags += _short(command)
    return [*filter(None, flags), *(f"--{name}" for name in everywhere(command))]


def _short(command: Command) -> list[str]:
    return [letter for option in command.options.values() for letter in _short_of(option)]


def _short_of(option: Option) -> list[str]:
    from ..parsing.command import SHORT

    return [letter for letter, name in SHORT.items() if name == option.name]


def _takes_file(command: Command, name: str) -> bool:
    """Whether an argument names a file; the path of a task's step is none."""
    return name in _TAKES_FILE and "target" not in command.slots


def _choices(option: Option, commands: list[Command]) -> list[str]:
    """What an option can be given, where that is a closed set; `help` takes the name of a command."""
    from .help import choices_of

    return _first_words(commands) if option.name == "command" else choices_of(option)


def _first_words(commands: list[Command]) -> list[str]:
    return [command.words for command in commands if " " not in command.words] + list(_families(commands))


def _bash() -> str:
    commands = _commands()
    return "\n".join(
        [
            "# bash completion for moss",
            "_moss() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" offered="" valued=""',
            '  local command="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}" place=$COMP_CWORD files=""',
            "  # Bash takes --mode=re for three words.",
            '  if [[ "$current" == "=" ]]; then current=""',
            '  elif [[ "$previous" == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi',
            '  if [[ "$previous" == "--home" ]]; then COMPREPLY=($(compgen -d -- "$current")); return; fi',
            *_offers(commands),
            '  COMPREPLY=($(compgen -W "$offered" -- "$current"))',
            '  if [[ -n "$files" ]]; then',
            '    COMPREPLY+=($(compgen -f -- "$current")); compopt -o filenames 2> /dev/null',
            "  fi",
            "}",
            "complete -F _moss moss moss-memory",
            "",
        ]
    )


def _zsh() -> str:
    commands = _commands()
    return "\n".join(
        [
            "#compdef moss moss-memory",
            "_moss() {",
            '  local previous="${words[CURRENT-1]}" command="${words[2]}" second="${words[3]}" offered="" valued=""',
            '  local place=$((CURRENT - 1)) current="${words[CURRENT]}" files=""',
            '  if [[ "$previous" == "--home" ]]; then _files -/; return; fi',
            *_offers(commands),
            '  if [[ -n "$files" ]]; then _files; fi',
            "  compadd -- ${=offered}",
            "}",
            "# Autoloaded from $fpath it is the completion itself; sourced, it registers it.",
            'if [[ "$funcstack[1]" == "_moss" ]]; then _moss "$@"; else compdef _moss moss moss-memory; fi',
            "",
        ]
    )


def _offers(commands: list[Command]) -> list[str]:
    """Shell lines, the same in bash and zsh, that set `offered` and `files` by the words typed so far."""
    families = _families(commands)
    lines = [
        f'  case "$command" in {"|".join(families)})',
        '    if (( place > 2 )); then command="$command $second"; fi ;;',
        "  esac",
        '  if (( place == 1 )); then offered="' + " ".join(_first_words(commands)) + ' --help --version --home"',
        '  else case "$command" in',
    ]
    for command in commands:
        words, files = _words(command, commands)
        valued = [option.flag for option in command.options.values() if option.kind not in _TAKES_NOTHING]
        valued += _short(command)
        lines.append(f'    "{command.words}") offered="{" ".join(words)}"{files} valued="{" ".join(valued)}" ;;')
    for family, members in families.items():
        verbs = " ".join(command.words.split()[1] for command in members)
        lines.append(f'    "{family}") offered="{verbs}" ;;')
    lines += [
        "  esac; fi",
        "  # After an option that takes a value: what it can be, or nothing.",
        '  if [[ " $valued " == *" $previous "* ]]; then offered="" files=""; fi',
        '  case "$command $previous" in',
        *_value_lines(commands),
        "  esac",
    ]
    return lines


def _value_lines(commands: list[Command]) -> list[str]:
    lines = []
    for command in commands:
        for option in command.options.values():
            choices = _choices(option, commands)
            if choices:
                lines.append(f'    "{command.words} {option.flag}") offered="{" ".join(choices)}" ;;')
            elif _takes_file(command, option.name):
                short = "|".join(f'"{command.words} {flag}"' for flag in (option.flag, *_short_of(option)))
                lines.append(f"    {short}) files=1 ;;")
    return lines


def _words(command: Command, commands: list[Command]) -> tuple[list[str], str]:
    """What may stand after a command: its options, its positional argument's choices, and whether files may."""
    words = [command.options[name] for name in (*command.slots, command.positional) if name in command.options]
    choices = [choice for option in words for choice in _choices(option, commands)]
    return [*choices, *_flags(command)], " files=1" if command.positional in _TAKES_FILE else ""


_FISH = """# fish completion for moss
function __moss_typed
    set -l typed (commandline -opc)
    set -e typed[1]
    if test (count $typed) -ge 2; and test "$typed[1]" = --home
        set -e typed[1..2]
    end
    printf '%s\\n' $typed
end
function __moss_after --description 'only these words stand before the cursor'
    set -l typed (__moss_typed)
    test "$typed" = "$argv[1]"
end
function __moss_on --description 'the command line begins with one of these commands'
    set -l typed (string join ' ' -- (__moss_typed) '')
    for command in $argv
        if string match -q -- "$command *" "$typed"
            return 0
        end
    end
    return 1
end
complete -c moss -f"""


def _fish() -> str:
    from .help import summary_of

    commands = _commands()
    lines = [_FISH]
    first = "complete -c moss -n '__moss_after \"\"' -a"
    for command in commands:
        if " " not in command.words:
            lines.append(f"{first} {command.words} -d {_quoted(summary_of(command.operation))}")
    for family, members in _families(commands).items():
        verbs = " ".join(command.words.split()[1] for command in members)
        lines.append(f"{first} {family} -d {_quoted(f'the {family} commands')}")
        lines.append(f"complete -c moss -n '__moss_after {family}' -a {_quoted(verbs)}")
    names: dict[str, list[Command]] = {}
    for command in commands:
        names.setdefault(command.operation.name, []).append(command)
    for same in names.values():
        lines += _fish_options(same[0], [command.words for command in same], commands)
    return "\n".join([*lines, ""])


def _fish_options(command: Command, names: list[str], commands: list[Command]) -> list[str]:
    """The options of one command under all of its names."""
    from ..speaking.language import spoken
    from .help import denied, everywhere

    on = "__moss_on " + " ".join(f'"{name}"' if " " in name else name for name in names)
    lines = []
    for option in command.options.values():
        choices = _quoted(" ".join(_choices(option, commands)))
        line = f"complete -c moss -n '{on}' -l {option.flag[2:]}" + "".join(f" -s {it[1:]}" for it in _short_of(option))
        if option.kind not in _TAKES_NOTHING:
            line += " -r -F" if _takes_file(command, option.name) else " -x"
            line += f" -a {choices}" if choices != "''" else ""
        means = spoken(option.description, command.operation)
        lines.append(f"{line} -d {_quoted(means)}" if means else line)
        if denied(command, option):
            lines.append(f"complete -c moss -n '{on}' -l {denied(command, option)[2:]}")
        is_word = option.name == command.positional or option.name in command.slots
        if is_word and (choices != "''" or _takes_file(command, option.name)):
            lines.append(f"complete -c moss -n '{on}' " + ("-F" if choices == "''" else f"-a {choices}"))
    shared = {"home": "-r -a '(__fish_complete_directories)' -d 'folder of the store'", "help": "-d 'its options'"}
    for name in everywhere(command):
        lines.append(f"complete -c moss -n '{on}' -l {name} {shared.get(name, '-d ' + _quoted('columns for people'))}")
    return lines


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


if __name__ == "__main__":
    write_scripts()
