"""What a file that cannot be read or changed is refused with."""

from __future__ import annotations


class ConfigParseError(Exception):
    """A text that is not what it should be, and the line where that shows."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"line {line}: {problem}")
        self.problem = problem
        self.line = line


def line_of(text: str, place: int) -> int:
    """The number of the line in which a place stands, from 1."""
    return text.count("\n", 0, place) + 1


def newline_of(text: str) -> str:
    """How the lines of a text end: as its first one does."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
