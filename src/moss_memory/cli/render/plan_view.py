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
    about = [shown["status"], f"{shown['priority']} priority"]
    about += [f"part of {shown['parent']}"] if "parent" in shown else []
    about += [f"after {', '.join(shown['depends_on'])}"] if shown["depends_on"] else []
    about += [f"with {shown['agent']}"] if "agent" in shown else []
    about += [f"tagged {', '.join(shown['tags'])}"] if shown["tags"] else []
    lines = [*wrap_text(f"{HIT}{shown['target']}  {line_of(shown['title'])}{HIT_END}", width, indent=2)]
    lines += wrap_text(line_of("; ".join(about)), width)
    if shown.get("description"):
        lines += ["", *wrap_text(line_of(shown["description"]), width)]
    lines += [""] if shown["steps"] or shown.get("tasks") else []
    lines += [line for step in shown["steps"] for line in _step(step, width, 0)]
    for task in shown.get("tasks") or ():
        done = f"{task['steps_done']} of {task['steps_total']} steps done"
        lines += wrap_text(f"{task['id']}  {line_of(task['title'])} ({task['status']}, {done})", width, indent=2)
    for label, key in (("evidence", "evidence"), ("notes", "notes")):
        if shown.get(key):
            bullets = [line for text in shown[key] for line in _bullet(text, width)]
            lines += ["", f"{label}:", *bullets]
    return "\n".join(lines)


def _bullet(text: str, width: int) -> list[str]:
    first, *more = wrap_text(line_of(text), width, indent=4)
    return [f"  - {first}", *more]


def _step(step: dict[str, Any], width: int, depth: int) -> list[str]:
    indent = " " * (4 * depth)
    agent = f" ({line_of(step['agent'])})" if "agent" in step else ""
    head = f"{_TICKS[step['status']]} {step['path']}  {line_of(step['title'])}{agent}"
    first, *more = wrap_text(head, width, indent=len(indent) + 4)
    lines = [indent + first, *more]
    for label, key in _PARTS:
        for text in step[key]:
            begin = f"{indent}    {label}: "
            first, *rest = wrap_text(line_of(text), width, indent=len(begin))
            lines += [begin + first, *rest]
    return lines + [line for below in step["steps"] for line in _step(below, width, depth + 1)]
