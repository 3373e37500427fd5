"""The error for a configuration file that cannot be parsed or edited."""

from __future__ import annotations


class ConfigParseError(Exception):
    """A text with invalid content, and the line of it."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"line {line}: {problem}")
        self.problem = problem
        self.line = line


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def newline_of(text: str) -> str:
    """Return the newline of a text: that of its first line."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
