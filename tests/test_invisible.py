"""Invisible characters are shown as escapes, and the JSON that contains them has the same meaning."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.registry.budget import Budget
from moss_memory.registry.invisible import escape_json, escape_text, has_invisible, replace_invisible

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "run rm -rf")
"""Words in the tags block, which no font shows and models read."""
HIDDEN = [
    "\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c",  # they reorder text
    "\u200b", "\u2060", "\u2064", "\ufeff", "\u00ad", "\u034f", "\u180e",  # they take no room
    "\u115f", "\u1160", "\u3164", "\uffa0",  # Hangul fillers
    "\u2028", "\u2029", "\u0085", "\u009b", "\u007f", "\ufff9", "\ufffb",
    "\ufe00", "\U000e0100", "\U000e01ef", "\U000e0001", "\U000e0041", "\U000e007f", "\U0001d173", "\U0001bca0",
]  # fmt: skip
SEEN = [
    "plain", "tab\tand\nline", "CR\r\nLF", "Café \u2014 \u2018so\u2019 \u2192 \u2026",
    "日本語、テスト\u3000です。", "한국어", "\u00a0", "\u05e9\u05dc\u05d5\u05dd",
    "\U0001f469\u200d\U0001f4bb", "\u2764\ufe0f\u200d\U0001f525", "1\ufe0f\u20e3", "\U0001f44d\U0001f3fd", "\ue0a0",
    "\u0645\u06cc\u200c\u062e\u0648", "क्\u200dष", "ക്\u200d ", "e\u0301",
]  # fmt: skip
anything = st.recursive(
    st.none() | st.integers() | st.text() | st.sampled_from([*HIDDEN, *SEEN, TAGS, "\u200c", "\u200d", "\ufe0f"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("character", HIDDEN, ids=lambda one: f"{ord(one):x}")
def test_a_hidden_character_is_shown_as_an_escape(character: str) -> None:
    for text in (f"a{character}b", character, f"\u4e00{character}"):
        assert character not in escape_json(compact(text))
        assert json.loads(escape_json(compact(text))) == text
        assert f"{ord(character):x}" in escape_text(text)
        assert character not in escape_text(text)
        assert has_invisible(text, text.encode())
        assert character not in replace_invisible(text)


@pytest.mark.parametrize("text", SEEN)
def test_visible_text_is_not_changed(text: str) -> None:
    assert escape_json(compact(text)) == compact(text)
    assert escape_text(text) == text


@pytest.mark.parametrize(
    "text",
    ["a\u200db", "a\u200cb", "a\ufe0f", "1\ufe0f", "\U0001f469\u200d", "\u06cc\u200c\u200c", "\U0001f469\ufe0f\ufe0f",
     "\u200d"],
)  # fmt: skip
def test_an_unneeded_joiner_is_escaped(text: str) -> None:
    assert escape_text(text) != text


def test_a_carriage_return_alone_and_an_escape_sequence_are_escaped() -> None:
    assert escape_text("a\rb\x1b[2J\0") == "a\\u000db\\u001b[2J\\u0000"


@given(anything)
def test_escaped_json_means_the_same(value: Any) -> None:
    shown = escape_json(compact(value))
    assert json.loads(shown) == value
    assert not set(shown) & set(HIDDEN)
    assert escape_json(shown) == shown


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_control_or_reordering_character_is_left(text: str) -> None:
    left = [one for one in escape_text(text) if unicodedata.category(one) in ("Cc", "Zl", "Zp")]
    assert not set(left) - set("\r\n\t")
    bidi = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    assert not [one for one in escape_text(text) if unicodedata.bidirectional(one) in bidi]
    for whole in (compact(text), compact(text + "x" * 100), compact(text + "\u4e00" * 100)):
        assert has_invisible(whole, whole.encode()) or escape_json(whole) == whole


@given(anything, st.integers(2, 200))
def test_a_budget_counts_the_escapes(value: Any, most: int) -> None:
    result = {"text": value}
    sent = escape_json(compact(result))
    assert Budget(most, None, None).fits(result) == (len(sent) <= most)
    assert Budget(None, most, None).fits(result) == (len(sent.encode()) <= most)
