"""Two texts compared line by line, as the lines that a page shows."""

from __future__ import annotations

from difflib import SequenceMatcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_AROUND = 3
_EXACT_LINES = 1000
"""In longer texts lines that repeat often are not looked at one by one: that could take minutes."""
_SIGNS = {"same": " ", "added": "+", "removed": "\u2212", "skipped": "…"}


def difference(old: str, new: str) -> list[dict[str, Any]]:
    """The changed lines with some around them; what is left out between them is one line that says how much."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[dict[str, Any]] = []
    end = 0
    for group in SequenceMatcher(None, before, after, autojunk=len(after) > _EXACT_LINES).get_grouped_opcodes(_AROUND):
        if group[0][1] > end:
            lines.append(_line("skipped", f"{group[0][1] - end} unchanged lines"))
        for tag, first, last, new_first, new_last in group:
            if tag == "equal":
                lines += [_line("same", text) for text in before[first:last]]
            else:
                lines += [_line("removed", text) for text in before[first:last]]
                lines += [_line("added", text) for text in after[new_first:new_last]]
        end = group[-1][2]
    if lines and len(before) > end:
        lines.append(_line("skipped", f"{len(before) - end} unchanged lines"))
    return lines


def _line(kind: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "sign": _SIGNS[kind], "text": text}
