"""A plan or task for people: its fields, then its steps as a checklist with their criteria."""

from __future__ import annotations

from .cell import line_of, wrap_text
from .style import HIT, HIT_END

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TICKS = {"done": "[x]", "blocked": "[!]", "open": "[ ]"}
_PARTS = (
    ("done when", "criteria"),
    ("check", "tests"),
    ("waits for", "blockers"),
    ("seen", "evidence"),
    ("note", "notes"),
)


def plan_of(shown: dict[str, Any], width: int) -> str:
    """Return the response of `tasks_show` as text."""
    details = [shown["status"], f"{shown['priority']} priority"]
    details += [f"part of {shown['parent']}"] if "parent" in shown else []
    details += [f"after {', '.join(shown['depends_on'])}"] if shown["depends_on"] else []
    details += [f"with {shown['agent']}"] if "agent" in shown else []
    details += [f"tagged {', '.join(shown['tags'])}"] if shown["tags"] else []
    lines = [*wrap_text(f"{HIT}{shown['target']}  {line_of(shown['title'])}{HIT_END}", width, indent=2)]
    lines += wrap_text(line_of("; ".join(details)), width)
    if shown.get("description"):
        lines += ["", *wrap_text(line_of(shown["description"]), width)]
    lines += [""] if shown["steps"] or shown.get("tasks") else []
    lines += [line for step in shown["steps"] for line in _step(step, width, 0)]
    for task in shown.get("tasks") or ():
        progress = f"{task['steps_done']} of {task['steps_total']} steps done"
        lines += wrap_text(f"{task['id']}  {line_of(task['title'])} ({task['status']}, {progress})", width, indent=2)
    for label, key in (("evidence", "evidence"), ("notes", "notes")):
        if shown.get(key):
            bullets = [line for text in shown[key] for line in _bullet(text, width)]
            lines += ["", f"{label}:", *bullets]
    return "\n".join(lines)


def _bullet(text: str, width: int) -> list[str]:
    first, *other_lines = wrap_text(line_of(text), width, indent=4)
    return [f"  - {first}", *other_lines]


def _step(step: dict[str, Any], width: int, depth: int) -> list[str]:
    indent = " " * (4 * depth)
    agent = f" ({line_of(step['agent'])})" if "agent" in step else ""
    head = f"{_TICKS[step['status']]} {step['path']}  {line_of(step['title'])}{agent}"
    first, *other_lines = wrap_text(head, width, indent=len(indent) + 4)
    lines = [indent + first, *other_lines]
    for label, key in _PARTS:
        for text in step[key]:
            begin = f"{indent}    {label}: "
            first, *following = wrap_text(line_of(text), width, indent=len(begin))
            lines += [begin + first, *following]
    return lines + [line for below in step["steps"] for line in _step(below, width, depth + 1)]
