"""The estimated tokens of texts in several scripts."""

from __future__ import annotations

import math

import pytest

from moss_memory.rows.names import estimate_tokens
from moss_memory.rows.token_estimate import tokens_about

ENGLISH = (
    "Events of the provider are handled once, in any order. They are stored by their id before anything is done with "
    "them, and the queue of failed ones has been empty for a week."
)
COUNTED = [
    # The lower and the upper bound of common tokenizers for the same text.
    pytest.param(ENGLISH, 34, 46, id="english"),
    pytest.param("处理每个事件一次" * 35, 200, 380, id="chinese"),
    pytest.param("イベントは一度だけ処理される。" * 10, 90, 190, id="japanese"),
    pytest.param("이벤트는 한 번만 처리됩니다 " * 10, 70, 160, id="korean"),
    pytest.param("Каждое событие обрабатывается один раз. " * 10, 90, 200, id="russian"),
    pytest.param("كل حدث يعالج مرة واحدة فقط. " * 10, 70, 160, id="arabic"),
    pytest.param("เหตุการณ์แต่ละรายการจะถูกจัดการเพียงครั้งเดียว " * 5, 80, 220, id="thai"),
    pytest.param("हर घटना एक बार संभाली जाती है। " * 10, 90, 220, id="hindi"),
    pytest.param("🎉🚀✅" * 10, 30, 90, id="emoji"),
    pytest.param("def total(rows: list[int]) -> int:\n    return sum(rows)\n" * 5, 70, 130, id="code"),
]


@pytest.mark.parametrize(("text", "least", "most"), COUNTED)
def test_the_estimate_lies_between_those_of_common_tokenizers(text: str, least: int, most: int) -> None:
    assert least <= tokens_about(text) <= most


def test_280_chinese_characters_are_not_2_tokens() -> None:
    text = "记" * 280
    assert estimate_tokens(text) == math.ceil(1.3)
    assert tokens_about(text) == 280


def test_english_prose_is_near_to_the_estimate_by_words() -> None:
    assert abs(tokens_about(ENGLISH) - estimate_tokens(ENGLISH)) <= 0.2 * estimate_tokens(ENGLISH)


@pytest.mark.parametrize("text", ["", "   ", "\t \r"])
def test_a_blank_text_has_no_tokens(text: str) -> None:
    assert tokens_about(text) == 0


def test_the_sum_of_two_parts_is_the_whole() -> None:
    whole = ENGLISH + "处理每个事件一次"
    assert 0 <= tokens_about(ENGLISH) + tokens_about("处理每个事件一次") - tokens_about(whole) <= 1


def test_every_character_counts_something_or_is_a_space() -> None:
    visible = [chr(code) for code in range(0x21, 0x30000, 7) if chr(code).isprintable()]
    assert all(tokens_about(character) >= 1 for character in visible)
