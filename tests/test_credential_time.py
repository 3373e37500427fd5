"""The time to look for credentials grows linearly with the text, whatever it contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from moss_memory.errors import MossError
from moss_memory.secrets import kinds
from moss_memory.secrets.scanner import findings_in, redacted, spans_in
from support.made_up_credentials import TEXTS, TOKENS, Chance
from support.measured import growth, thread_cpu_s
from support.thorough import complete_or, is_thorough

if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.store import Store

SMALL, MIDDLE, LARGE = complete_or(10_000, 4_000), complete_or(100_000, 40_000), complete_or(1_000_000, 400_000)
MOST_PER_TENFOLD = 20
"""A tenfold text may take twenty times as long: quadratic would be a hundred."""
FILLERS = ("", " ", "-", ".", "/", "a", "a1", "=", "\n", "eyJ", "_A1b2C3d4-", ";", "password=")


def _literals() -> Iterator[tuple[str, str]]:
    for table in (kinds.PREFIXED, kinds.CONTAINING, kinds.SURROUNDED, kinds.PASSWORDS):
        for kind, (literals, _) in table.items():
            for literal in literals:
                yield kind, literal


def _near_misses(value: str) -> list[str]:
    """Return values that fail late: without their end, with another sign before it, or twice in one."""
    return [value[:-1], f"{value[: len(value) * 2 // 3]}!", value + value, f"{value[:-2]}\u00e9"]


def _hostile() -> dict[str, list[str]]:
    """Return for each kind the texts to repeat: its literals, each with what may follow, and its near misses."""
    made: dict[str, list[str]] = {}
    for kind, literal in _literals():
        made.setdefault(kind, []).extend(literal + filler for filler in FILLERS)
    chance = Chance(11)
    for kind, make in {**TOKENS, **TEXTS}.items():
        made.setdefault(kind, []).extend(_near_misses(make(chance)))
    made["runs"] = [
        "a",
        "A",
        "0",
        "aB3",
        "a.",
        "a-",
        "f" * 32 + "-",
        "M1.",
        "%3D",
        "\\n",
        "AAAA",
        "AAAAAAAAAAAAAAAAAAAAB",
    ]
    made["settings"] = [
        "user=",
        "user=a;",
        "host=a ",
        "password=",
        "pwd=a;",
        "password = x",
        "token",
        "token=",
        "secret: ",
        "api_key=a1B2",
        "auth=",
        "Basic ",
        "Bearer ",
        "user=user=user= password=",
        "_pass=",
        "://",
        "://a:",
        "@",
        "login a password ",
        "curl -u ",
        ":5432:a:",
        "sig=",
        '"d":"',
        '"auth":"',
    ]
    return made


def _repeated(part: str, size: int) -> str:
    return (part * (size // len(part) + 1))[:size]


HOSTILE = _hostile()


def test_every_kind_has_its_hostile_texts() -> None:
    tables = (kinds.PREFIXED, kinds.CONTAINING, kinds.SURROUNDED, kinds.PASSWORDS)
    assert {kind for table in tables for kind in table} <= HOSTILE.keys()


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_time_of_every_kind_grows_linearly(kind: str) -> None:
    """Test each text at 4 kB, the slowest of the kind at 40 kB; with `--thorough` at 10, 100 and 1,000 kB."""
    slowest = max(HOSTILE[kind], key=lambda part: thread_cpu_s(lambda: spans_in(_repeated(part, SMALL))))
    for smaller, larger in ((SMALL, MIDDLE), (MIDDLE, LARGE)) if is_thorough() else ((SMALL, MIDDLE),):
        grown = growth(lambda size: spans_in(_repeated(slowest, size)), smaller, larger)
        assert grown < MOST_PER_TENFOLD, (slowest, larger)


@pytest.mark.parametrize(
    "part", ["user=", "user=a ", "eyJ-", "://a:", "curl -u a:", "-----BEGIN PRIVATE KEY-----", "a"]
)
def test_a_long_text_before_the_password_is_searched_in_linear_time(part: str) -> None:
    assert growth(lambda size: spans_in(_repeated(part, size) + " password="), MIDDLE, LARGE) < MOST_PER_TENFOLD


@pytest.mark.parametrize("after", [" ", " \u00e9", " \U0001f600"])
def test_many_credentials_are_reported_and_removed_in_linear_time(after: str) -> None:
    values = [TOKENS["github"](Chance(number)) + after for number in range(50)]
    for do in (redacted, lambda text: findings_in({"text": text})):
        assert growth(lambda size: do(_repeated("".join(values), size)), MIDDLE, LARGE) < MOST_PER_TENFOLD  # noqa: B023


def test_searching_a_long_text_checks_for_cancellation() -> None:
    asked = 0

    def cancel() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        spans_in("word/word/word/word/word " * 40_000, cancel)


def test_a_cancelled_call_ends_while_its_text_is_searched(store: Store) -> None:
    content = "https://host.internal/a/long/path/of/words " * 4_000
    store.call("branchmind_init", {"workspace": "shop"})
    with pytest.raises(MossError) as caught:
        store.call("branchmind_notes_commit", {"workspace": "shop", "content": content}, cancelled=lambda: True)
    assert caught.value.code == "CANCELLED"
