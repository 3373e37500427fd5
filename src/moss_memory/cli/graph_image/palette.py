"""Colours of an image: one pair for each type of node, fixed for the usual types."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

INK, FAINT_INK, LINE, PAPER = "#1f2937", "#6b7280", "#64748b", "#ffffff"

_USUAL = {
    "question": ("#fef9c3", "#a16207"),
    "hypothesis": ("#dbeafe", "#1d4ed8"),
    "test": ("#ede9fe", "#6d28d9"),
    "evidence": ("#dcfce7", "#15803d"),
    "decision": ("#ffe4e6", "#be123c"),
    "note": ("#f1f5f9", "#475569"),
    "frame": ("#fae8ff", "#a21caf"),
    "update": ("#ffedd5", "#c2410c"),
}
_OTHERS = (
    ("#ccfbf1", "#0f766e"),
    ("#e0f2fe", "#0369a1"),
    ("#ecfccb", "#4d7c0f"),
    ("#fce7f3", "#be185d"),
    ("#e0e7ff", "#4338ca"),
    ("#e7e5e4", "#57534e"),
)

SETTLED = (
    "closed", "resolved", "rejected", "done", "merged", "superseded", "refuted", "dropped", "abandoned", "obsolete",
    "cancelled", "canceled",
)  # fmt: skip
"""Final statuses; such nodes are drawn pale."""


def colours_of(types: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the light and the dark colour of every type; unusual types get theirs in the order of their names."""
    others = sorted({name for name in types if name not in _USUAL})
    other_colours = {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(others)}
    return {name: _USUAL.get(name) or other_colours[name] for name in types}


def is_settled(status: str | None) -> bool:
    """Return True if a status is final."""
    return (status or "").strip().lower() in SETTLED
