"""Check answers against `max_chars`, `max_bytes` and `max_lines`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.reasoning.reasoning_tools import compact, lines

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., dict[str, Any]]

MEASURES: dict[str, Callable[[Any], int]] = {
    "max_chars": lambda answer: len(compact(answer)),
    "max_bytes": lambda answer: len(compact(answer).encode()),
    "max_lines": lines,
}
LEAST = {"max_chars": 500, "max_bytes": 500, "max_lines": 10}
BUDGETS = [
    ("max_chars", 500), ("max_chars", 2000), ("max_chars", 20_000), ("max_bytes", 500), ("max_bytes", 1200),
    ("max_lines", 10), ("max_lines", 40),
]  # fmt: skip
FIXED = ("radar", "handoff", "reasoning_ref", "docs", "stats", "notes", "trace", "pagination", "template")
"""Objects whose own keys a document names."""
AGAIN = ("branch", "doc", "truncated")
"""Keys that the notes and the trace of an export may omit because the export itself has them."""
LONG = '\U0001f331 a long line of thought, "quoted" & é\n' * 40


def check_fits(answer: dict[str, Any], budget: dict[str, int]) -> None:
    for name, most in budget.items():
        assert MEASURES[name](answer) <= most, f"{name}={most} is exceeded: {MEASURES[name](answer)}"


def skeleton(value: Any, *, inside: bool = False) -> Any:
    """Return the keys of an answer and of its objects that have documented keys of their own."""
    left_out = {"next_cursor", "omitted", *(AGAIN if inside and "entries" in value else ())}
    return {
        name: skeleton(part, inside=True) if name in FIXED and isinstance(part, dict) else None
        for name, part in value.items()
        if name not in left_out
    }


def check_budget(ask: Ask, full: dict[str, Any], name: str, most: int) -> dict[str, Any]:
    """Assert that an answer fits its budget, has every key, and is marked as truncated exactly if it is."""
    answer = ask(**{name: most})
    check_fits(answer, {name: most})
    assert skeleton(answer) == skeleton(full), (name, most)
    if MEASURES[name](full) <= most:
        assert answer == full, f"{name}={most} is enough, and something is missing"
    else:
        assert answer["truncated"] is True, (name, most)
        assert answer != full
    check_next(answer, full, name, most)
    return answer


def check_next(answer: dict[str, Any], full: dict[str, Any], name: str, most: int) -> None:
    """Assert that the next call is dropped only if nothing else could make room for it."""
    inside = "next" not in full
    whole = full.get("radar", {}).get("next") if inside else full["next"]
    kept = answer.get("radar", {}).get("next") if inside else answer["next"]
    if whole is None:
        return
    if kept is not None:
        assert (kept["tool"], kept["arguments"]) == (whole["tool"], whole["arguments"]), "it cannot be sent"
        return
    shortest = {**whole, "reason": ""}
    least = bare(answer)
    least = {**least, "radar": {**least["radar"], "next": shortest}} if inside else {**least, "next": shortest}
    assert MEASURES[name](least) > most, f"{name}={most} had room for the next call"


def bare(value: Any) -> Any:
    """Return the smallest answer with the same keys."""
    if isinstance(value, dict):
        return {name: bare(part) for name, part in value.items()}
    if isinstance(value, list):
        return []
    return "" if isinstance(value, str) else value
