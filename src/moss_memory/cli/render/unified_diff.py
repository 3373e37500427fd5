"""Two texts as a unified diff: plain in a pipe, coloured on a terminal."""

from __future__ import annotations

from .cell import printable
from .output import STDOUT, is_terminal, show, show_text
from .style import wants_colour

TYPE_CHECKING = False
if TYPE_CHECKING:
    MarkedLine = tuple[str, str]
    """The kind of a line ("head", "@", "-", "+" or " ") and the line."""

_COLOURS = {"head": "1", "@": "36", "-": "31", "+": "32"}
_NO_NEWLINE = (" ", "\\ No newline at end of file")


def diff_lines(old: str, new: str, parts: list[tuple[str, str, str]]) -> list[MarkedLine]:
    """Return the lines of a unified diff of every part that differs; `old` and `new` are the labels."""
    import difflib  # imported only by `moss diff`

    lines: list[MarkedLine] = []
    for name, before, after in parts:
        old_label, new_label = (f"{label} {name}".rstrip() for label in (old, new))
        for number, line in enumerate(difflib.unified_diff(_lines(before), _lines(after), old_label, new_label)):
            lines.append(("head" if number < 2 else line[0], line.removesuffix("\n")))
            if not line.endswith("\n"):
                lines.append(_NO_NEWLINE)
    return lines


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def show_difference(lines: list[MarkedLine]) -> None:
    """Print a diff, with colours on a terminal unless they are switched off."""
    if not is_terminal(STDOUT):
        show_text("".join([f"{line}\n" for _, line in lines]))
        return
    plain = not wants_colour()
    show("\n".join([_colour("" if plain else _COLOURS.get(kind, ""), line) for kind, line in lines]))


def _colour(colour: str, line: str) -> str:
    visible = printable(line, keep_lines=True)
    return f"\x1b[{colour}m{visible}\x1b[0m" if colour else visible
