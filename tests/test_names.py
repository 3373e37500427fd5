"""Names, tags, pages, ids and estimates."""

from __future__ import annotations

import math
import threading
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moss_memory.errors import MossError
from moss_memory.rows.names import estimate_tokens, normalize_label, normalize_name, normalize_tags, prefix_range
from moss_memory.rows.paging import Page
from moss_memory.storage.call import IdSource, encode_ulid

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(str.strip)


@given(raw=NAMES)
@example(raw="  My   Project ")
@example(raw="\u1e9e \u0130")
def test_a_normal_form_is_nfc_stripped_lower_case_with_single_spaces(raw: str) -> None:
    expected = " ".join(unicodedata.normalize("NFC", raw).strip().lower().split())
    assert unicodedata.normalize("NFC", normalize_name(raw, what="name")) == unicodedata.normalize("NFC", expected)


@given(raw=NAMES)
@example(raw="H\u0331")
@example(raw="\u0130\u0323")
def test_a_normal_form_is_its_own_normal_form(raw: str) -> None:
    norm = normalize_name(raw, what="name")
    assert normalize_name(norm, what="name") == norm


@given(raw=NAMES)
@example(raw="e\u0301")
@example(raw="\u212b")
def test_composed_and_decomposed_spellings_are_one_name(raw: str) -> None:
    decomposed = unicodedata.normalize("NFD", raw)
    assert normalize_name(decomposed, what="name") == normalize_name(raw, what="name")


def test_a_control_character_anywhere_in_a_name_is_refused(subtests: pytest.Subtests) -> None:
    for character in (*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))):
        for raw in (f"a{character}b", f"{character}ab", f"ab{character}", f"\u00e9{character}"):
            with subtests.test(raw=ascii(raw)), pytest.raises(MossError, match="workspace"):
                normalize_name(raw, what="workspace")


@pytest.mark.parametrize("raw", ["", " ", "\u00a0", "\u2003\u3000"])
def test_a_blank_name_is_refused(raw: str) -> None:
    with pytest.raises(MossError, match="blank"):
        normalize_name(raw, what="name")


def test_a_name_has_at_most_256_characters() -> None:
    assert normalize_name("\U0001f331" * 256, what="name")
    with pytest.raises(MossError, match="256"):
        normalize_name("x" * 257, what="name")


@given(prefix=NAMES, rest=st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=10))
@example(prefix="a", rest="\U0010ffff")
@example(prefix="a", rest="\U0010ffffb")
def test_a_prefix_range_holds_every_name_that_begins_with_the_prefix(prefix: str, rest: str) -> None:
    low, high = prefix_range(prefix)
    assert low <= prefix + rest < high


@given(prefix=NAMES, other=NAMES)
def test_a_prefix_range_holds_no_other_name(prefix: str, other: str) -> None:
    low, high = prefix_range(prefix)
    assert (low <= other < high) == other.startswith(prefix)


def test_labels_are_trimmed_and_blank_is_none() -> None:
    assert normalize_label(" r1\n", what="run_id") == "r1"
    assert normalize_label("  ", what="run_id") is None
    assert normalize_label(None, what="run_id") is None


@given(tags=st.lists(st.text(st.sampled_from("ab \u00e9"), min_size=1, max_size=3).filter(str.strip), max_size=50))
def test_cleaning_tags_twice_changes_nothing_more(tags: list[str]) -> None:
    once = normalize_tags(tags)
    assert normalize_tags(once) == once
    assert set(once) == {tag.strip() for tag in tags}
    assert once == list(dict.fromkeys(tag.strip() for tag in tags))


def test_a_bad_tag_is_refused_by_its_path() -> None:
    with pytest.raises(MossError) as caught:
        normalize_tags(["ok", " "], what="set_tags")
    assert caught.value.details == {"path": "set_tags[1]"}


@given(words=st.lists(st.text(st.sampled_from("abc"), min_size=1, max_size=4), max_size=200))
def test_tokens_are_words_times_1_3_rounded_up(words: list[str]) -> None:
    assert estimate_tokens(" \n".join(words)) == math.ceil(len(words) * 1.3)


@given(total=st.integers(0, 30), limit=st.integers(1, 40), offset=st.integers(0, 40))
def test_a_page_says_whether_more_rows_follow(total: int, limit: int, offset: int) -> None:
    page = Page(limit, offset, maximum=20)
    returned = len(range(total)[page.offset : page.offset + page.limit])
    answer = page.answer(returned=returned, total=total)
    assert answer == {
        "limit": min(limit, 20),
        "offset": offset,
        "has_more": offset + min(limit, 20) < total,
        "total": total,
    }


def test_an_empty_page_is_the_last_one_even_if_rows_were_deleted_after_the_count() -> None:
    assert Page(5, 0, maximum=20).answer(returned=0, total=3)["has_more"] is False


@given(clocks=st.lists(st.integers(0, 2**47), min_size=2, max_size=50))
def test_ids_rise_whatever_the_clock_does(clocks: list[int]) -> None:
    source = IdSource()
    ids = [source(now) for now in clocks]
    assert ids == sorted(set(ids))
    assert {len(new) for new in ids} == {26}


def test_ids_of_many_threads_never_repeat() -> None:
    source = IdSource()
    seen: list[str] = []

    def take() -> None:
        seen.extend([source(1_900_000_000_000) for _ in range(500)])

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 4000


def test_a_ulid_begins_with_its_time() -> None:
    assert encode_ulid(0) == "0" * 26
    assert encode_ulid(2**128 - 1) == "7" + "Z" * 25
    assert encode_ulid(1469918176385 << 80).startswith("01ARYZ6S41")
