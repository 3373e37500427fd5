"""Completion scripts for shells, written from the registry at development time and shipped as files.

`python -m moss_memory.surfaces.cli.completion` writes them again; a test fails when they are stale.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .command import Command, Option

_FOLDER = os.path.join(os.path.dirname(__file__), "completions")
_FILES = {"bash": "moss.bash", "zsh": "_moss", "fish": "moss.fish"}
_TAKES_FILE = ("file", "path")


def shipped_script(shell: str) -> str:
    """The completion script of a shell, as it lies in the package."""
    with open(os.path.join(_FOLDER, _FILES[shell]), encoding="utf-8") as file:
        return file.read()


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
    flags = [option.flag for option in command.options.values()]
    defaults = getattr(command.operation, "defaults", {})
    flags += [f"--no-{flag[2:]}" for flag in flags if defaults.get(flag[2:].replace("-", "_")) is True]
    return [*flags, "--home", "--table", "--help"]


def _choices(option: Option) -> list[str]:
    return list(option.schema.get("enum", ()))


def _bash() -> str:
    commands = _commands()
    return "\n".join(
        [
            "# bash completion for moss",
            "_moss() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
            '  local command="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}" place=$COMP_CWORD offered=""',
            '  case "$previous" in',
            '    --file|--path) COMPREPLY=($(compgen -f -- "$current")); return ;;',
            '    --home) COMPREPLY=($(compgen -d -- "$current")); return ;;',
            "  esac",
            *_offers(commands),
            '  COMPREPLY=($(compgen -W "$offered" -- "$current"))',
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
            '  local previous="${words[CURRENT-1]}" command="${words[2]}" second="${words[3]}" offered=""',
            "  local place=$((CURRENT - 1))",
            '  case "$previous" in',
            "    --file|--path) _files; return ;;",
            "    --home) _files -/; return ;;",
            "  esac",
            *_offers(commands),
            "  compadd -- ${=offered}",
            "}",
            "# Autoloaded from $fpath it is the completion itself; sourced, it registers it.",
            'if [[ "$funcstack[1]" == "_moss" ]]; then _moss "$@"; else compdef _moss moss moss-memory; fi',
            "",
        ]
    )


def _offers(commands: list[Command]) -> list[str]:
    """Shell lines, the same in bash and zsh, that set `offered` by the words typed so far."""
    families = _families(commands)
    top = [command.words for command in commands if " " not in command.words] + list(families)
    lines = [
        f'  case "$command" in {"|".join(families)})',
        '    if (( place > 2 )); then command="$command $second"; fi ;;',
        "  esac",
        '  case "$command $previous" in',
    ]
    for command in commands:
        for option in command.options.values():
            if _choices(option):
                lines.append(f'    "{command.words} {option.flag}") offered="{" ".join(_choices(option))}" ;;')
    lines += ["  esac", '  if [[ -n "$offered" ]]; then', "    :", "  elif (( place == 1 )); then"]
    lines += [f'    offered="{" ".join(top)} --help --version --home"', "  else", '    case "$command" in']
    lines += [f'      "{command.words}") offered="{" ".join(_words(command))}" ;;' for command in commands]
    for family, members in families.items():
        verbs = " ".join(command.words.split()[1] for command in members)
        lines.append(f'      "{family}") offered="{verbs}" ;;')
    return [*lines, "    esac", "  fi"]


def _words(command: Command) -> list[str]:
    """What may stand after a command: its options, and the choices of its positional argument."""
    positional = command.options.get(command.positional or "")
    return [*(_choices(positional) if positional else []), *_flags(command)]


def _fish() -> str:
    commands = _commands()
    families = _families(commands)
    lines = ["# fish completion for moss", "complete -c moss -f"]
    for command in commands:
        if " " not in command.words:
            lines.append(
                f"complete -c moss -n __fish_use_subcommand -a {command.words} -d {_quoted(command.operation.summary)}"
            )
    for family, members in families.items():
        verbs = " ".join(command.words.split()[1] for command in members)
        lines.append(f"complete -c moss -n __fish_use_subcommand -a {family} -d {_quoted(f'the {family} commands')}")
        lines.append(
            f"complete -c moss -n '__fish_seen_subcommand_from {family}; "
            f"and not __fish_seen_subcommand_from {verbs}' -a {_quoted(verbs)}"
        )
    for command in commands:
        if " " not in command.words or command.words.split()[0] != "capsule" or command.words == "capsule search":
            lines += _fish_options(command)
    lines.append("complete -c moss -l home -r -a '(__fish_complete_directories)' -d 'folder of the store'")
    return "\n".join([*lines, "complete -c moss -l table -d 'columns for people'", ""])


def _fish_options(command: Command) -> list[str]:
    first, _, verb = command.words.partition(" ")
    seen = f"__fish_seen_subcommand_from {verb or first}"
    lines = []
    for option in command.options.values():
        line = f"complete -c moss -n '{seen}' -l {option.flag[2:]}"
        if option.kind != "boolean":
            line += " -r -F" if option.name in _TAKES_FILE else " -x"
            line += f" -a {_quoted(' '.join(_choices(option)))}" if _choices(option) else ""
        lines.append(f"{line} -d {_quoted(option.description)}" if option.description else line)
        if option.name == command.positional and _choices(option):
            lines.append(f"complete -c moss -n '{seen}' -a {_quoted(' '.join(_choices(option)))}")
    return lines


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


if __name__ == "__main__":
    write_scripts()
