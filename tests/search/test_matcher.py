"""Finding the matching words of a text without tokenizing all of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from moss_memory.search.expression import Operand
from moss_memory.search.snippet import Matcher
from moss_memory.search.tokens import word_offsets

LETTERS = "abR é\u0130ß_-.\n\r\x0b\x85\u2028日本x9"
words = st.sets(st.text("abr9x", min_size=1, max_size=3), max_size=3)


@given(text=st.text(LETTERS, max_size=60), exact=words, beginnings=words)
def test_the_matcher_finds_the_same_words_as_tokenizing_the_text(
    text: str, exact: set[str], beginnings: set[str]
) -> None:
    matcher = Matcher(exact, [Operand((word,), prefix=True) for word in sorted(beginnings)])
    assert matcher.matches(text) == [
        place for place in word_offsets(text) if place[2] in exact or place[2].startswith(tuple(beginnings))
    ]
