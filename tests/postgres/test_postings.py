"""Postings are packed into blocks and come out as they went in."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.storage.postgres.codec import IN_BODY, PLACES, encode_posting, encode_varints
from moss_memory.storage.postgres.phrases import starts_in, whole_weights
from moss_memory.storage.postgres.postings import Postings, keys_of

places = st.lists(st.integers(0, 100_000), max_size=300, unique=True).map(sorted)
held = st.tuples(places, places).filter(any)
documents = st.dictionaries(
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.dictionaries(st.integers(1, 2000) | st.integers(1, (1 << 31) - 1), held, max_size=5),
    min_size=1,
    max_size=8,
)
Document = dict[int, tuple[list[int], list[int]]]


def row(slot: int, words: Document) -> tuple[Any, ...]:
    """A document as it is kept while it is fresh."""
    numbers = sorted(words)
    weights, sizes, places = (
        zip(*[encode_posting(*words[number]) for number in numbers], strict=True) if words else ((), (), ())
    )
    return (
        slot,
        encode_varints([number - before for before, number in zip([0, *numbers], numbers, strict=False)]),
        bytes(weights),
        bytes(sizes),
        b"".join(places),
    )


def told(postings: Postings) -> dict[tuple[int, int], tuple[int, list[int]]]:
    """Of each word and slot the weight and the places."""
    weights = whole_weights(postings).tolist() if len(postings) else []
    found = {}
    for at, weight in enumerate(weights):
        one = postings.take(np.array([at]))
        starts = starts_in(one, np.array([0]), 0)
        found[int(one.numbers[0]), int(one.slots[0])] = (weight, starts.tolist())
    return found


@given(given=documents)
def test_postings_come_out_of_their_blocks_as_they_went_in(given: dict[int, Document]) -> None:
    expected = {
        (number, slot): (5 * len(title) + len(body), [*title, *[place + IN_BODY for place in body]])
        for slot, words in given.items()
        for number, (title, body) in words.items()
    }
    fresh = Postings.of_documents([row(slot, words) for slot, words in given.items()])
    assert told(fresh) == expected
    blocks = fresh.blocks()
    assert told(Postings.of_blocks([block[1:] for block in blocks])) == expected
    assert len({block[0] for block in blocks}) == len(blocks), "each has a key of its own"


@given(given=documents)
def test_a_word_is_in_the_one_block_of_its_keys_that_holds_it(given: dict[int, Document]) -> None:
    blocks = Postings.of_documents([row(slot, words) for slot, words in given.items()]).blocks()
    for number in {number for words in given.values() for number in words}:
        own = [block[1:] for block in blocks if block[0] in keys_of([number])]
        slots = {slot for slot, words in given.items() if number in words}
        read = Postings.of_blocks(own)
        assert set(read.slots[read.numbers == number].tolist()) == slots


def test_a_place_and_a_document_are_one_number_that_tells_them_apart() -> None:
    postings = Postings.of_documents([row(7, {1: ([3], [0, 200])})])
    assert starts_in(postings, np.array([5]), 2).tolist() == [
        5 * PLACES + 1, 5 * PLACES + IN_BODY - 2, 5 * PLACES + IN_BODY + 198,
    ]  # fmt: skip
