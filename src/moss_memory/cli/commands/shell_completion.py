"""Completion scripts for shells, written from the registry at development time and shipped as files.

`python -m moss_memory.cli.commands.shell_completion` writes them again; a test fails when they are stale.
"""

from __future__ import annotations

import os

from moss_memory.cli.args.command_table import SHELLS
from moss_memory.cli.args.positional import ADDRESSED, ITEMS, PLACE
from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import show
from moss_memory.cli.render.wording import spoken

from .complete import ARTIFACTS, BRANCHES, CAPSULES, PLACES, TASKS, WORKSPACES
from .help import command_names, find_any, summary_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.cli.args.option import Option

_FOLDER = os.path.join(os.path.dirname(__file__), "completions")
_FILES = {"bash": "moss.bash", "zsh": "_moss", "fish": "moss.fish"}
_TAKES_FILE = ("file", "path", "output", "dir")
_NAMED = {
    "workspace": WORKSPACES,
    "new_workspace": WORKSPACES,
    "target": TASKS,
    "plan": TASKS,
    "branch": BRANCHES,
    "ref": BRANCHES,
    "from": BRANCHES,
    "into": BRANCHES,
}
"""Arguments whose values are in the store, and what they are."""


def shipped_script(shell: str) -> str:
    """The completion script of a shell, as it lies in the package."""
    with open(os.path.join(_FOLDER, _FILES[shell]), encoding="utf-8") as file:
        return file.read()


def print_script(_: str | None, *, shell: str | None = None) -> int:
    """Prints the script of a shell, or says which there are."""
    if shell not in SHELLS:
        problem = "which shell" if shell is None else f"no completion for {shell!r}"
        raise UsageError(f"{problem}; known: {', '.join(SHELLS)}", command="completion")
    show(shipped_script(shell))
    return 0


def script(shell: str) -> str:
    """The completion script of a shell, made from the registry."""
    return _fish() if shell == "fish" else {"bash": _BASH, "zsh": _ZSH}[shell].replace("@OFFERS@", _offers(_typed()))


def write_scripts() -> None:
    """Writes every script into the package."""
    os.makedirs(_FOLDER, exist_ok=True)
    for shell, name in _FILES.items():
        with open(os.path.join(_FOLDER, name), "w", encoding="utf-8") as file:
            file.write(script(shell))


class _Typed:
    """One command under one of its names, with what can be typed after it."""

    def __init__(self, name: str) -> None:
        command = find_any(name)
        assert command is not None
        self.name = name
        self.operation = command.operation
        self.options = list(command.options.values())
        self.words = [option for option in self.options if option.name in (*command.slots, command.positional)]
        """Options whose values may stand without the option."""
        self.has_steps = "target" in command.slots
        self._positional = command.positional
        self._slots = command.slots

    def takes_file(self, option: Option) -> bool:
        """Whether an argument names a file; the path of a task's step is none."""
        return option.name in _TAKES_FILE and not self.has_steps

    def named(self, option: Option) -> str:
        """What of the store an option's value is, where it is something of it."""
        if option.name == "name" and self.name.startswith("workspace "):
            return WORKSPACES
        if option.name == "name" and self._positional == ADDRESSED:
            return self._addressed()
        return _NAMED.get(option.argument or option.name, "")

    def named_words(self) -> str:
        """The same for the words after the command: the first of them that is something of the store."""
        if self._positional in (ADDRESSED, ITEMS):
            return self._addressed()
        if self._positional == PLACE:
            return PLACES if self._takes("target") else BRANCHES
        found = [self.named(option) for option in self.words if option.name in self._slots]
        return next((kind for kind in found if kind), "")

    def _takes(self, name: str) -> bool:
        return any(option.name == name for option in self.options)

    def _addressed(self) -> str:
        return ARTIFACTS if self.name.startswith("artifact ") else CAPSULES


def _typed() -> list[_Typed]:
    """Every command under every name it answers to, shorter names first."""
    return [_Typed(name) for name in sorted(command_names(), key=lambda name: (" " in name, name))]


def _groups(commands: list[_Typed]) -> dict[str, str]:
    """The second words of commands by their first."""
    groups: dict[str, list[str]] = {}
    for group, _, verb in (one.name.partition(" ") for one in commands if " " in one.name):
        groups.setdefault(group, []).append(verb)
    return {group: " ".join(verbs) for group, verbs in groups.items()}


def _first_words(commands: list[_Typed]) -> list[str]:
    return [one.name for one in commands if " " not in one.name] + list(_groups(commands))


def _choices(option: Option, commands: list[_Typed]) -> str:
    """What an option can be given, where that is a closed set; `help` takes the name of a command."""
    return " ".join(_first_words(commands) if option.name == "command" else option.choices)


_BASH = """# bash completion for moss
_moss_named() {
  local one
  while IFS= read -r one; do
    if [[ "$current" != [\\"\\']* ]]; then one=$(printf %q "$one"); fi
    COMPREPLY+=("$one")
  done < <("${COMP_WORDS[0]}" __offer "$named" "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2> /dev/null)
  if [[ "${COMPREPLY[0]}" == */ ]]; then compopt -o nospace 2> /dev/null; fi
}
_moss() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" offered="" valued=""
  local command="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}" place=$COMP_CWORD files="" named=""
  # Bash takes --mode=re for three words.
  if [[ "$current" == "=" ]]; then current=""
  elif [[ "$previous" == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ "$previous" == "--home" ]]; then COMPREPLY=($(compgen -d -- "$current")); return; fi
@OFFERS@
  COMPREPLY=()
  if [[ -n "$named" && "$current" != -* ]]; then _moss_named; fi
  if (( ${#COMPREPLY[@]} )); then return; fi
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ -n "$files" ]]; then
    COMPREPLY+=($(compgen -f -- "$current")); compopt -o filenames 2> /dev/null
  fi
}
complete -F _moss moss moss-memory
"""

_ZSH = """#compdef moss moss-memory
_moss() {
  local previous="${words[CURRENT-1]}" command="${words[2]}" second="${words[3]}" offered="" valued=""
  local place=$((CURRENT - 1)) current="${words[CURRENT]}" files="" named=""
  local -a found
  if [[ "$previous" == "--home" ]]; then _files -/; return; fi
@OFFERS@
  if [[ -n "$named" && "$current" != -* ]]; then
    found=("${(@f)$("${words[1]}" __offer "$named" "${(@)words[2,CURRENT]}" 2> /dev/null)}")
    found=(${found:#})
    if (( $#found )); then compadd -S '' -- ${(M)found:#*/}; compadd -- ${found:#*/}; return; fi
  fi
  if [[ -n "$files" ]]; then _files; fi
  compadd -- ${=offered}
}
# Autoloaded from $fpath it is the completion itself; sourced, it registers it.
if [[ "$funcstack[1]" == "_moss" ]]; then _moss "$@"; else compdef _moss moss moss-memory; fi
"""


def _offers(commands: list[_Typed]) -> str:
    """Shell lines, the same in bash and zsh, that set `offered`, `files` and `named` by the words typed so far."""
    groups = _groups(commands)
    return "\n".join(
        [
            f'  case "$command" in {"|".join(groups)})',
            '    if (( place > 2 )); then command="$command $second"; fi ;;',
            "  esac",
            f'  if (( place == 1 )); then offered="{" ".join(_first_words(commands))} --help --version --home"',
            '  else case "$command" in',
            *(_after(one, commands) for one in commands),
            *(f'    "{group}") offered="{verbs}" ;;' for group, verbs in groups.items()),
            "  esac; fi",
            "  # After an option that takes a value: what it can be, or nothing.",
            '  if [[ " $valued " == *" $previous "* ]]; then offered="" files="" named=""; fi',
            '  case "$command $previous" in',
            *(line for one in commands for option in one.options for line in _given(one, option, commands)),
            "  esac",
        ]
    )


def _after(one: _Typed, commands: list[_Typed]) -> str:
    """What may stand after a command: its words' choices, its options, and whether files may."""
    flags = [flag for option in one.options for flag in (option.flag, option.denied, option.short)]
    offered = " ".join(filter(None, [*(_choices(option, commands) for option in one.words), *flags]))
    valued = [flag for option in one.options if option.takes_value for flag in (option.flag, option.short)]
    files = " files=1" if any(one.takes_file(option) for option in one.words) else ""
    named = f" named={kind}" if (kind := one.named_words()) else ""
    return f'    "{one.name}") offered="{offered}"{files}{named} valued="{" ".join(filter(None, valued))}" ;;'


def _given(one: _Typed, option: Option, commands: list[_Typed]) -> list[str]:
    """What may stand after an option."""
    if choices := _choices(option, commands):
        return [f'    "{one.name} {option.flag}") offered="{choices}" ;;']
    typed = "|".join(f'"{one.name} {flag}"' for flag in (option.flag, option.short) if flag)
    if kind := one.named(option):
        return [f"    {typed}) named={kind} ;;"]
    return [f"    {typed}) files=1 ;;"] if one.takes_file(option) else []


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
function __moss_named --description 'names, workspaces, tasks or branches of the store'
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -e typed[1]
    command moss __offer $argv[1] $typed "$current" 2> /dev/null
end
complete -c moss -f"""


def _fish() -> str:
    commands = _typed()
    lines = [_FISH]
    first = "complete -c moss -n '__moss_after \"\"' -a"
    for one in commands:
        if " " not in one.name:
            lines.append(f"{first} {one.name} -d {_quoted(summary_of(one.operation))}")
    for group, verbs in _groups(commands).items():
        lines.append(f"{first} {group} -d {_quoted(f'the {group} commands')}")
        lines.append(f"complete -c moss -n '__moss_after {group}' -a {_quoted(verbs)}")
    for one in commands:
        if kind := one.named_words():
            on = f'"{one.name}"' if " " in one.name else one.name
            lines.append(f"complete -c moss -n '__moss_on {on}' -a '(__moss_named {kind})'")
    same: dict[str, list[_Typed]] = {}
    for one in commands:
        same.setdefault(one.operation.name, []).append(one)
    for first_name, *others in same.values():
        names = [f'"{one.name}"' if " " in one.name else one.name for one in (first_name, *others)]
        lines += _fish_options(first_name, f"complete -c moss -n '__moss_on {' '.join(names)}'", commands)
    return "\n".join([*lines, ""])


def _fish_options(one: _Typed, on: str, commands: list[_Typed]) -> list[str]:
    """The options of one command; `on` says under which of its names."""
    lines = []
    for option in one.options:
        kind = one.named(option)
        found = _choices(option, commands) or (f"(__moss_named {kind})" if kind else "")
        choices = f" -a {_quoted(found)}" if found else ""
        line = f"{on} -l {option.flag[2:]}" + (f" -s {option.short[1:]}" if option.short else "")
        if option.name == "home":
            line += " -r -a '(__fish_complete_directories)'"
        elif option.takes_value:
            line += (" -r -F" if one.takes_file(option) else " -x") + choices
        means = spoken(option.description, one.operation)
        lines.append(f"{line} -d {_quoted(means)}" if means else line)
        if option.denied:
            lines.append(f"{on} -l {option.denied[2:]}")
        if option in one.words and not kind and (choices or one.takes_file(option)):
            lines.append(on + (choices or " -F"))
    return lines


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


if __name__ == "__main__":
    write_scripts()
