"""A splitter of a byte stream into lines of bounded length."""

from __future__ import annotations


class LineReader:
    """Buffer that returns complete lines; a line above the limit is returned as one None."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._parts: list[bytes] = []
        self._size_bytes = 0
        self._is_too_long = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """Return the lines that end in this chunk, without their newline."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | None] = []
        for piece in ended:
            self._add(piece, lines)
            self._end_line(lines)
        if rest:
            self._add(rest, lines)
        return lines

    def end(self) -> list[bytes | None]:
        """Return the last line if the stream ended without a newline."""
        lines: list[bytes | None] = []
        if self._parts:
            self._end_line(lines)
        return lines

    def _add(self, piece: bytes, lines: list[bytes | None]) -> None:
        if self._is_too_long:
            return
        self._size_bytes += len(piece)
        if self._size_bytes > self._limit_bytes:
            self._parts.clear()
            self._is_too_long = True
            lines.append(None)
        else:
            self._parts.append(piece)

    def _end_line(self, lines: list[bytes | None]) -> None:
        if not self._is_too_long:
            lines.append(self._parts[0] if len(self._parts) == 1 else b"".join(self._parts))
        self._parts.clear()
        self._size_bytes = 0
        self._is_too_long = False
