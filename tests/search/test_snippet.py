"""Snippets: the densest part of a text, with only true matches in bold and with complete markers."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.search.expression import Operand
from moss_memory.search.snippet import SNIPPET_CHARS, Matcher, snippet
from search.capsules import CapsuleDatabase
from support.measured import cpu_s

anything = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("<>&\"' b/;redis\u0301\u200d")), max_size=900
)


def shown(database: CapsuleDatabase, query: str, text: str) -> str:
    """Return the snippet of the only capsule."""
    database.put(text)
    return snippet(text, database.search(query).matcher)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("jwt", "uses JWT here", "uses <b>JWT</b> here"),
        ("policy", "all policies", "all <b>policies</b>"),
        ("auth*", "author, oauth", "<b>author</b>, oauth"),
        ('"user auth"', "user auth, auth user", "<b>user</b> <b>auth</b>, auth user"),
        ('"user auth"*', "user authentication", "<b>user</b> <b>authentication</b>"),
        ("redis NOT jwt", "redis", "<b>redis</b>"),
        ("jwt OR x", "<b>jwt</b> & co", "&lt;b&gt;<b>jwt</b>&lt;/b&gt; &amp; co"),
        ("b", "<b>", "&lt;<b>b</b>&gt;"),
        ("café", "日本 Cafés 😀 cafe", "日本 <b>Cafés</b> 😀 <b>cafe</b>"),
    ],
)
def test_matches_are_bold_and_text_is_escaped(database: CapsuleDatabase, query: str, text: str, expected: str) -> None:
    assert shown(database, query, text) == expected


def test_the_densest_part_is_shown(database: CapsuleDatabase) -> None:
    text = "redis first. " + "filler words " * 100 + "redis with a cache and jwt. " + "filler words " * 100
    found = shown(database, "redis cache jwt", text)
    assert "<b>redis</b> with a <b>cache</b> and <b>jwt</b>" in found
    assert found.startswith("...")
    assert found.endswith("...")


@pytest.mark.parametrize(
    ("text", "word"), [("cat " * 200_000 + "a rollback", "rollback"), ("会话" * 400_000 + "回滚", "回滚")]
)
def test_a_match_at_the_end_of_a_long_text_is_shown(text: str, word: str) -> None:
    assert snippet(text, Matcher(["a", word])).endswith(f"<b>{word}</b>")


@pytest.mark.parametrize("unit", ["a ", "é ", "会话"])
def test_a_long_text_with_many_matches_is_not_searched_to_its_end(unit: str) -> None:
    text = unit * (800_000 // len(unit))
    assert cpu_s(lambda: snippet(text, Matcher(["a", "e", "会话"]))) < 0.15


def test_the_snippet_of_a_text_without_a_match_is_its_beginning() -> None:
    text = "word " * 200
    found = snippet(text, Matcher())
    assert found.startswith("word word")
    assert found.endswith("word...")


def test_cut_ends_fall_between_words(database: CapsuleDatabase) -> None:
    text = "alphabet " * 60 + "redis " + "alphabet " * 60
    inner = shown(database, "redis", text).strip(".").replace("<b>", "").replace("</b>", "")
    assert set(inner.split()) == {"alphabet", "redis"}


@given(text=anything)
def test_a_snippet_is_part_of_the_text_with_only_true_matches_in_bold(text: str) -> None:
    matcher = Matcher(
        frozenset({"redis", "b", "s"}), (Operand(("red",), prefix=True), Operand(("d", "is"), prefix=False))
    )
    found = snippet(text, matcher)
    bare = re.sub(r"</?b>", "", found)
    for raw in "<>\"'":
        assert raw not in bare
    assert re.fullmatch(r"(?:[^<>]|<b>[^<>]+</b>)*", found, re.DOTALL)
    plain = html.unescape(bare) if "&" in bare else bare
    candidates = [plain, plain[3:], plain[:-3], plain[3:-3]]
    assert any(len(piece) <= SNIPPET_CHARS and piece in text for piece in candidates)
    assert len(text) > SNIPPET_CHARS or plain == text


@pytest.mark.parametrize("before", ["", "x"])
def test_a_combining_accent_stays_with_its_letter(before: str) -> None:
    found = snippet(before + "e\u0301" * 400, Matcher())
    assert found.removesuffix("...").endswith("e\u0301")


def test_a_match_longer_than_the_snippet_is_cut_and_closed(database: CapsuleDatabase) -> None:
    found = shown(database, "x" * 400, "y " * 200 + "x" * 400 + " z" * 200)
    assert found.count("<b>") == found.count("</b>") == 1
    assert len(found) < SNIPPET_CHARS + 20


@pytest.mark.parametrize("marker", ["## ", "- ", "* ", "> ", "1. ", "### Key locations of the ", "\n\n## ", "| "])
def test_a_cut_end_has_no_marker_without_its_text(marker: str) -> None:
    for more in range(60):
        text = f"needle {'word ' * 50}{'x' * more}\n{marker}{'tail ' * 80}"
        found = snippet(text, Matcher(["needle"]))
        assert found.endswith("...")
        last = found.removesuffix("...").splitlines()[-1]
        assert last.split()[-1].strip("#*->|") != ""
        assert not re.fullmatch(r"(#+.*|\d+\.)", last) or "tail" in last


def test_a_cut_start_keeps_the_marker_of_a_heading() -> None:
    for more in range(200):
        text = f"{'word ' * 80}\n## Decisions\n{'x' * more} needle {'tail ' * 80}"
        found = snippet(text, Matcher(["needle"]))
        assert "...Decisions" not in found
        assert len(found) <= SNIPPET_CHARS + len("<b></b>......")
