"""A command line that cannot be meant: what is wrong with it, and the nearest thing that could be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .command import Command

ALIKE = 0.7
"""How alike two words must be for one to be taken for a slip of the other."""

SYNONYMS = {
    "get": "fetch", "show": "fetch", "load": "fetch", "cat": "fetch", "read": "fetch",
    "save": "store", "add": "store", "put": "store", "create": "store", "new": "store",
    "rm": "delete", "remove": "delete", "del": "delete", "undelete": "restore",
    "find": "search", "grep": "search", "ls": "list", "edit": "update", "set": "update",
}  # fmt: skip
"""What people type first, and the verb that it means here."""


class Usage(Exception):  # noqa: N818 - it names the mistake, as people say it
    """The words typed make no command; exit 2."""

    def __init__(self, message: str, *, command: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.command = command


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that suggests the known word most like the one typed; empty when none is."""
    import difflib  # only a mistake needs it

    names = list(known)
    family, _, verb = word.rpartition(" ")
    meant = f"{family} {SYNONYMS.get(verb, verb)}".strip()
    found = [meant] if meant in names else difflib.get_close_matches(word, names, n=1, cutoff=ALIKE)
    return f"; did you mean {found[0]}?" if found else ""


def unknown_option(word: str, command: Command, everywhere: Iterable[str]) -> Usage:
    """The refusal of an option: with the command that has it, or the option that is most like it."""
    shown = word.partition("=")[0]
    known = [option.flag for option in command.options.values()] + ["--" + name for name in everywhere]
    elsewhere = _command_with(shown[2:].replace("-", "_"), command)
    hint = f"; `moss {elsewhere}` has it" if elsewhere else nearest(shown, known)
    return Usage(f"unknown option {shown}{hint}")


def _command_with(argument: str, command: Command) -> str:
    """The command of the same family that takes an argument which this one does not; empty when none does."""
    from moss_memory import catalog

    from .command import words_of

    own = command.operation
    family, _, verb = own.name.partition("_")
    found = []
    for other in catalog.operations():
        related = other.name.endswith("_" + verb) if other.mutates else not getattr(own, "mutates", True)
        if related and family in ("moss", other.name.partition("_")[0]) and argument in other.parameters:
            found.append(other.name)
    found.sort(key=lambda name: not name.endswith("_" + verb))
    return f"{words_of(found[0])} --{argument.replace('_', '-')}" if found else ""


def unexpected_word(word: str, command: Command, *, after: str = "") -> Usage:
    """The refusal of a word that stands without an option, with the option that it probably belongs to."""
    import os

    parameters = command.operation.parameters
    looks_like_a_file = "." in word or "/" in word or os.path.isfile(word)
    if command.text and looks_like_a_file:
        hint = f"did you mean --file {word}?"
    elif not after and "name" in parameters:
        hint = f"did you mean --name {word}?"
    elif not after and "workspace" in parameters:
        hint = f"did you mean --workspace {word}?"
    else:
        hint = "" if after else "this command takes options only"
    place = f" after {after!r}" if after else ""
    return Usage(f"unexpected word {word!r}{place}" + (f"; {hint}" if hint else ""))
