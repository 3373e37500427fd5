"""Shell completion scripts, which get the candidates of the last word from `moss __complete WORDS…`."""

from __future__ import annotations

from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import show

_BASH = r"""# bash completion for moss
_moss() {
  local line current="${COMP_WORDS[COMP_CWORD]}"
  if [[ "$current" == "=" ]]; then current=""; fi
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      files | folders)
        compopt -o filenames 2> /dev/null
        local kind=-f
        if [[ "$line" == folders ]]; then kind=-d; fi
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "$current") ;;
      *)
        line="${line%%$'\t'*}"
        if [[ "$current" != [\"\']* ]]; then printf -v line %q "$line"; fi
        COMPREPLY+=("$line") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  if [[ "${COMPREPLY[0]}" == */ ]]; then compopt -o nospace 2> /dev/null; fi
}
complete -F _moss moss moss-memory
"""

_ZSH = r"""#compdef moss moss-memory
_moss() {
  local -a lines found
  lines=("${(@f)$("${words[1]/#\~/$HOME}" __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if (( $lines[(Ie)files] )); then _files; fi
  if (( $lines[(Ie)folders] )); then _files -/; fi
  # A candidate has a tab before its description; the words files and folders have none.
  found=(${${(M)lines:#*$'\t'*}%%$'\t'*})
  compadd -S '' -- ${(M)found:#*/}
  compadd -- ${found:#*/}
}
# Autoloaded from $fpath it is the completion itself; sourced, it registers it.
if [[ "$funcstack[1]" == "_moss" ]]; then _moss "$@"; else compdef _moss moss moss-memory; fi
"""

_FISH = r"""# fish completion for moss
function __moss_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -e typed[1]
    for line in (command moss __complete $typed "$current" 2> /dev/null)
        switch "$line"
            case files
                __fish_complete_path "$current"
            case folders
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' "$line"
        end
    end
end
complete -c moss -f -a '(__moss_complete)'
complete -c moss-memory -w moss
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def print_script(_: str | None, *, shell: str | None = None) -> int:
    """Print the completion script of a shell, or refuse an unknown shell."""
    if shell not in SCRIPTS:
        problem = "which shell" if shell is None else f"no completion for {shell!r}"
        raise UsageError(f"{problem}; known: {', '.join(SCRIPTS)}", command="completion")
    show(SCRIPTS[shell])
    return 0
