"""Output of commands: JSON or a table on stdout; errors, warnings and progress on stderr."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.errors import MossError
    from moss_memory.registry.responses import ResponseSchema

STDIN, STDOUT, STDERR = 0, 1, 2
ERRORS_SHOWN = 10


class Unwritable(Exception):  # noqa: N818 - it names the state
    """The response could not be written for another reason than a closed pipe (`BrokenPipeError`)."""


def is_terminal(fd: int) -> bool:
    """Return True if a descriptor is a terminal."""
    try:
        return os.isatty(fd)
    except OSError:
        return False


def secure_descriptors() -> None:
    """Open missing standard descriptors, so that files of the store do not get their numbers and receive output."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            # Write-only for 0, read-only for 1 and 2: reads and writes fail as if they were closed.
            os.open(os.devnull, os.O_WRONLY if fd == 0 else os.O_RDONLY)


def answer(value: Any, *, table: ResponseSchema | None = None, view: str = "", plain: bool = False) -> None:
    """Print a response: as a table if its schema is given, else as JSON, indented on a terminal.

    Invisible characters are escaped in JSON: the value is the same, and an agent that reads the output sees them. A
    terminal gets the `view` of the command, else a table for reading, unless a `plain` one with every column is asked
    for.
    """
    if table is not None:
        from .style import wants_colour
        from .table import table_of

        reading = is_terminal(STDOUT) and not plain
        columns = 0 if plain else width()
        text = table_of(value, table, view=view, width=columns, reading=reading, colour=reading and wants_colour())
    else:
        import json

        from moss_memory.registry.invisible import escape_json

        indent = 2 if is_terminal(STDOUT) else None
        text = escape_json(json.dumps(value, ensure_ascii=False, indent=indent, default=_refuse_value))
    show(text)


def _refuse_value(_: object) -> None:
    from moss_memory.errors import not_json  # imported only for a damaged store

    raise not_json()


def show(text: str) -> None:
    """Write text and a newline to stdout in UTF-8, whatever the locale."""
    _write_stdout((text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace"))


def show_paragraph(text: str) -> None:
    """Write a paragraph to stdout, wrapped between words at the width of the terminal."""
    from .cell import wrap_text

    show("\n".join(wrap_text(text, width())))


def show_message(text: str) -> None:
    """Write lines to stdout, each wrapped between words at the width of the terminal and then indented."""
    columns = width()
    if columns:
        from .message_lines import wrap_message

        text = wrap_message(text, columns)
    show(text)


def _write_stdout(data: bytes) -> None:
    try:
        _write(STDOUT, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unwritable(error.strerror or str(error)) from None


def show_lines(lines: bytes) -> None:
    """Write lines of JSON to stdout unchanged; escape control characters on a terminal."""
    if is_terminal(STDOUT):
        from moss_memory.registry.invisible import escape_json

        lines = escape_json(lines.decode()).encode()
    _write_stdout(lines)


def show_text(text: str) -> None:
    """Write a stored text to stdout, byte for byte in a pipe; escape control characters on a terminal."""
    if not is_terminal(STDOUT):
        _write_stdout(text.encode("utf-8", "backslashreplace"))
        return
    from .cell import printable

    show(printable(text, keep_lines=True))


def say(text: str) -> None:
    """Write a message to stderr with control characters escaped, wrapped on a terminal; ignore a closed stderr."""
    if not (text.isascii() and text.isprintable()):
        from .cell import printable

        text = printable(text, keep_lines=True)
    columns = width(STDERR)
    if columns and len(text) > columns:
        from .message_lines import wrap_message

        text = wrap_message(text, columns)
    _write_stderr((text + "\n").encode("utf-8", "backslashreplace"))


def warn(text: str) -> None:
    say(f"moss: warning: {text}")


def _write_stderr(data: bytes) -> bool:
    try:
        _write(STDERR, data)
    except OSError:
        return False
    return True


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            import select

            select.select((), (fd,), ())


def width(fd: int = STDOUT) -> int:
    """Return the columns of the terminal at a descriptor, 0 if it is not a terminal."""
    if is_terminal(fd):
        try:
            return max(os.get_terminal_size(fd).columns or 80, 40)  # a terminal of unknown size says 0
        except OSError:
            return 80
    return 0


def print_error(error: MossError) -> None:
    """Write `[CODE] message` to stderr, and the proposed next command if there is one."""
    say(f"[{error.code}] {_one_line(error.message)}")
    errors = (error.details or {}).get("errors", ())
    for line in errors[:ERRORS_SHOWN]:
        if str(line.get("message")) not in error.message:
            code = f"[{line['code']}] " if "code" in line else ""
            say(f"  {_location(line)}: {code}{_one_line(str(line.get('message')))}")
    if len(errors) > ERRORS_SHOWN:
        total = (error.details or {}).get("errors_total", len(errors))
        say(f"  and {total - ERRORS_SHOWN:,} more")
    if error.recovery:
        from .recovery_line import recovery_line

        say(recovery_line(error.recovery))
    if error.retryable:
        say("moss: the same command may succeed if it is run again")
    for note in getattr(error, "__notes__", ()):
        say(note)


def _location(problem: dict[str, Any]) -> str:
    """Return the location of a problem: the file, if there are several, and the line."""
    line = f"line {problem['line']}" if "line" in problem else ""
    return _one_line(f"{problem.get('file', problem.get('path', ''))} {line}".strip())


def _one_line(message: str) -> str:
    return "".join([character if character.isprintable() else "\ufffd" for character in message])


class Progress:
    """A progress line on stderr, on a terminal only."""

    __slots__ = ("_is_shown", "_label")

    def __init__(self, label: str) -> None:
        self._label = label
        self._is_shown = False

    def __call__(self, done: int, total: int | None) -> None:
        _write_stderr(f"\r\x1b[K{self.text(done, total)}".encode())
        self._is_shown = True

    def text(self, done: int, total: int | None) -> str:
        return f"{self._label}: {done}" + (f" of {total}" if total is not None else "")

    def clear(self) -> None:
        if self._is_shown:
            _write_stderr(b"\r\x1b[K")
            self._is_shown = False


def progress_for(label: str) -> Progress | None:
    """Return the progress line of a command, None if stderr is not a terminal."""
    return Progress(label) if is_terminal(STDERR) else None
