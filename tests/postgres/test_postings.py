"""Postings are packed into blocks and unpacked without a change."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.storage.postgres.codec import IN_BODY, POSITIONS, deltas, encode_posting, encode_varints
from moss_memory.storage.postgres.index_reader import starts_in, whole_weights
from moss_memory.storage.postgres.posting_blocks import Postings, keys_of

places = st.lists(st.integers(0, 100_000), max_size=300, unique=True).map(sorted)
held = st.tuples(places, places).filter(any)
documents = st.dictionaries(
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.dictionaries(st.integers(1, 2000) | st.integers(1, (1 << 31) - 1), held, max_size=5),
    min_size=1,
    max_size=8,
)
Document = dict[int, tuple[list[int], list[int]]]


def buffered(given: dict[int, Document]) -> Postings:
    """Return the postings of documents as they are in the buffer."""
    terms, weights, sizes, positions = [], [], [], []
    for words in given.values():
        numbers = sorted(words)
        encoded = [encode_posting(*words[number]) for number in numbers]
        terms.append(encode_varints(deltas(numbers)))
        weights.append(bytes(weight for weight, _, _ in encoded))
        sizes.append(bytes(size for _, size, _ in encoded))
        positions.append(b"".join(held for _, _, held in encoded))
    counts = np.array([len(words) for words in given.values()])
    columns = [b"".join(column) for column in (weights, sizes, positions)]
    return Postings.of_documents(np.array(list(given)), counts, b"\0".join(terms), columns)


def told(postings: Postings) -> dict[tuple[int, int], tuple[int, list[int]]]:
    """Return the weight and the positions of each word and slot."""
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
    postings = buffered(given)
    assert told(postings) == expected
    blocks = postings.blocks()
    assert told(Postings.of_blocks([block[1:] for block in blocks])) == expected
    assert len({block[0] for block in blocks}) == len(blocks), "each has a key of its own"


@given(given=documents)
def test_a_word_is_in_the_one_block_of_its_keys_that_holds_it(given: dict[int, Document]) -> None:
    blocks = buffered(given).blocks()
    for number in {number for words in given.values() for number in words}:
        own = [block[1:] for block in blocks if block[0] in keys_of([number])]
        slots = {slot for slot, words in given.items() if number in words}
        read = Postings.of_blocks(own)
        assert set(read.slots[read.numbers == number].tolist()) == slots


def test_a_position_and_a_document_are_packed_into_one_number() -> None:
    postings = buffered({7: {1: ([3], [0, 200])}})
    assert starts_in(postings, np.array([5]), 2).tolist() == [
        5 * POSITIONS + 1, 5 * POSITIONS + IN_BODY - 2, 5 * POSITIONS + IN_BODY + 198,
    ]  # fmt: skip
