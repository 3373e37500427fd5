"""Tokenization of texts for the bundled model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.search.embedding import embedder
from moss_memory.search.embedding.wordpiece import WordPieces

UNKNOWN = 100

EXPECTED = {
    "": [],
    "Hello, world!": [7592, 1010, 2088, 999],
    "unaffable": [14477, 20961, 3468],
    "Ünaffable\tcafé": [14477, 20961, 3468, 7668],
    "pg_try_advisory_lock(4711)": [18720, 1035, 3046, 1035, 7319, 1035, 5843, 1006, 4700, 14526, 1007],
    "東京": [1879, 1755],
    "a\u200bb\x00c\x07d": [5925, 2094],
    "x" * 101: [UNKNOWN],
    "🍌 banana": [UNKNOWN, 15212],
}
"""Return the tokens of the tokenizers package with the model's own tokenizer.json."""


PIECES = WordPieces(embedder.vocabulary(), unknown=UNKNOWN)


def pieces_of(text: str, most: int) -> list[int]:
    return PIECES.pieces_of(text, most)[0]


@pytest.mark.parametrize("text", list(EXPECTED), ids=ascii)
def test_a_text_has_the_tokens_of_the_model(text: str) -> None:
    assert pieces_of(text, 100) == EXPECTED[text]


@given(st.text(max_size=200))
def test_any_text_has_known_tokens_and_plain_words_have_the_same_tokens_anywhere(text: str) -> None:
    pieces = pieces_of(text, 50)
    assert len(pieces) <= 50
    assert all(0 <= piece < 30_522 for piece in pieces)
    assert PIECES.words_of(f"plain words {text}")[:2] == ["plain", "words"]


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=100))
def test_the_fast_path_for_plain_text_returns_the_same_tokens(text: str) -> None:
    assert PIECES.words_of(text) == PIECES.words_of(f"{text} é")[: len(PIECES.words_of(text))]


@given(st.text(max_size=200))
def test_every_token_has_the_position_of_its_word(text: str) -> None:
    numbers, starts = PIECES.pieces_of(text, 1000)
    assert len(numbers) == len(starts)
    assert starts == sorted(starts)
    for at in set(starts):
        assert PIECES.pieces_of(text[at:], 1000)[0] == numbers[starts.index(at) :]


def test_only_the_beginning_of_a_long_text_is_tokenized() -> None:
    assert pieces_of("word " * 1_000_000, 64) == pieces_of("word " * 64, 64)
