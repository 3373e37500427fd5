from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from moss_memory.mcp.line_reader import LineReader


def test_a_line_above_the_limit_is_reported_before_it_ends() -> None:
    lines = LineReader(4)
    assert lines.feed(b"abcde") == [None]
    assert lines.feed(b"fgh" * 100) == []
    assert lines.feed(b"ij\nok\n") == [b"ok"]


def test_a_line_at_the_limit_is_complete() -> None:
    assert LineReader(4).feed(b"abcd\nabcde\nab\n") == [b"abcd", None, b"ab"]


def test_the_last_line_needs_no_newline() -> None:
    lines = LineReader(4)
    assert lines.feed(b"a\nb") == [b"a"]
    assert lines.end() == [b"b"]
    assert lines.end() == []


def test_a_long_line_at_the_end_of_the_stream_is_reported_once() -> None:
    lines = LineReader(4)
    assert lines.feed(b"abcdef") == [None]
    assert lines.end() == []


@given(st.lists(st.binary(max_size=12)), st.data())
def test_chunk_boundaries_do_not_change_the_lines(texts: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(text.replace(b"\n", b" ") for text in texts) + b"\n"
    expected = [line if len(line) <= 8 else None for line in stream.split(b"\n")[:-1]]
    lines = LineReader(8)
    found: list[bytes | None] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += lines.feed(stream[:size])
        stream = stream[size:]
    assert found == expected
