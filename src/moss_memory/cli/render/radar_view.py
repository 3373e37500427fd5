"""The radar of a plan or task for people: one screen of 80 columns and 24 lines."""

from __future__ import annotations

from .cell import line_of, wrap_text
from .recovery_line import command_line, reason_of
from .style import HIT, HIT_END

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCREEN_LINES = 22
"""The maximum number of lines: a screen without the command and the prompt after it."""
_PART_LINES = 3
_NEXT_LINES = 5
_USUAL_COLUMNS = 80
_LABEL_COLUMNS = 10


def screen_of(answer: dict[str, Any], width: int) -> str:
    """Return the response of `tasks_radar` as text."""
    columns = width or _USUAL_COLUMNS
    target, radar, steps = answer["target"], answer["radar"], answer["steps"]
    details = [target["status"]]
    details += [f"{target['priority']} priority"] if "priority" in target else []
    details += [f"part of {target['parent']}"] if "parent" in target else []
    title = _clip(f"{target['id']}  {line_of(target['title'])}", columns)
    lines = [f"{HIT}{title}{HIT_END}", ", ".join(details)]
    lines += _part("now", [radar["now"].removeprefix(f"{target['id']} {target['title']}: ")], columns)
    lines += _part("why", [radar["why"]], columns)
    lines += _part("verify", radar["verify"], columns)
    lines += _part("blocked", radar["blockers"], columns)
    if radar["next"] is not None:
        call = radar["next"]
        lines += _part(
            "next", [command_line(call["tool"], call["arguments"]), reason_of(call)], columns, most=_NEXT_LINES
        )
    room = SCREEN_LINES - len(lines) - 1
    return "\n".join([*lines, "", *_steps(steps, columns, room)] if steps else lines)


def _part(label: str, texts: list[str], columns: int, *, most: int = _PART_LINES) -> list[str]:
    """Return texts beside their label, in at most `most` lines."""
    if not texts:
        return []
    wrapped = [line for text in texts for line in wrap_text(line_of(text), columns - _LABEL_COLUMNS)]
    first, *other_lines = _limit([_clip(line.strip(), columns - _LABEL_COLUMNS) for line in wrapped], most)
    return [f"{label:<{_LABEL_COLUMNS}}{first}", *(" " * _LABEL_COLUMNS + line for line in other_lines)]


def _clip(line: str, columns: int) -> str:
    return line if len(line) <= columns else line[: columns - 1] + "…"


def _limit(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], lines[most - 1][:-1] + "…"]


def _steps(steps: list[dict[str, Any]], columns: int, room: int) -> list[str]:
    """Return one line for each step, the open ones first if not all have room."""
    chosen = steps
    if len(steps) > room:
        chosen = [step for step in steps if not step["done"]][: room - 1] or steps[-(room - 1) :]
    shown_lines = [_step(step, columns) for step in chosen]
    hidden = len(steps) - len(shown_lines)
    return [*shown_lines, f"and {hidden} more; `moss task show` has all"] if hidden else shown_lines


def _step(step: dict[str, Any], columns: int) -> str:
    tick = "[x]" if step["done"] else "[!]" if step["blocked"] else "[ ]"
    return _clip(f"{tick} {step['path']}  {line_of(step['title'])}", columns)
