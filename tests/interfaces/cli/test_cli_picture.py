"""Parts of a picture: text that fits and is escaped, and stable colours."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.cli.graph_image.palette import colours_of, is_settled
from moss_memory.cli.graph_image.text_metrics import MORE, measure, safe, truncate, wrap

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(TEXT)
def test_any_text_is_safe_in_xml_without_control_characters(text: str) -> None:
    parsed = ET.fromstring(f"<text a='{safe(text)}'>{safe(text)}</text>")  # noqa: S314 - that it is safe is the point
    assert parsed.text in (parsed.attrib["a"], None)
    assert len(parsed.text or "") == len(text)
    assert all(shown == meant or shown == "\ufffd" for shown, meant in zip(parsed.text or "", text, strict=True))
    assert not [one for one in parsed.text or "" if not one.isprintable() and one not in "\u200c\u200d"]


@given(TEXT, st.integers(1, 5), st.floats(20, 300))
def test_wrapped_text_fits_and_marks_omissions(text: str, lines: int, room: float) -> None:
    wrapped = wrap(text, 13.0, room, lines)
    assert len(wrapped) <= lines
    for line in wrapped:
        assert measure(line, 13.0) <= max(room, measure("\u4e16" + MORE, 13.0))
    if not (wrapped and wrapped[-1].endswith(MORE)):
        assert "".join("".join(wrapped).split()) == "".join(text.split())


@given(TEXT, st.floats(20, 300))
def test_cut_text_fits_and_begins_as_the_text_does(text: str, room: float) -> None:
    shown = truncate(text, 10.0, room)
    assert measure(shown, 10.0) <= room
    assert shown == text or text.startswith(shown.removesuffix(MORE))


def test_text_is_broken_between_words_if_possible() -> None:
    assert wrap("Where should the sessions live", 13.0, 120.0, 4) == ["Where should", "the sessions", "live"]


def test_a_known_type_has_a_fixed_colour_and_others_differ() -> None:
    alone, among = colours_of(["question"]), colours_of(["a", "b", "question", "z"])
    assert alone["question"] == among["question"]
    assert len(set(among.values())) == 4
    assert len(colours_of([f"t{at}" for at in range(50)])) == 50


@pytest.mark.parametrize(
    ("status", "settled"), [("closed", True), (" Rejected ", True), ("open", False), (None, False)]
)
def test_only_finished_statuses_are_settled(status: str | None, settled: bool) -> None:
    assert is_settled(status) is settled
