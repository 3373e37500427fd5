"""The text of a capsule: its limit, its six sections, and its columns; append and compose use the same parser."""

from __future__ import annotations

import re

from moss_memory.errors import MossError, invalid_request
from moss_memory.rows.names import estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Transaction

REQUIRED: dict[str, tuple[str, ...]] = {
    "Objective": ("goal", "purpose"),
    "Current status": ("status", "state", "where we are"),
    "Decisions": ("decisions/constraints", "constraints", "choices"),
    "Next actions": ("next steps", "action items", "todo", "tasks"),
    "Key locations": ("locations", "files", "paths", "references"),
    "Open questions": ("open questions/risks", "questions", "risks", "unknowns"),
}
"""The six required sections of a capsule, each with its synonyms."""

_CANONICAL = {label: canonical for canonical, synonyms in REQUIRED.items() for label in (canonical.lower(), *synonyms)}
_LONGEST_LABEL = max(map(len, _CANONICAL)) + 8
_BYTE_ORDER_MARK = "\ufeff"

PLACEHOLDERS = frozenset(
    ("", "(pending)", "(none)", "(empty)", "(tbd)", "(n/a)", "tbd", "n/a", "none", "pending", "todo", "-", "...")
)
"""Bodies of a section that count as empty."""

_TO_FILL = {
    "Objective": "what is to be achieved, in a sentence",
    "Current status": "what works, what does not yet",
    "Decisions": "what was decided, and why",
    "Next actions": "what to do next, one a line",
    "Key locations": "files, commands, addresses",
    "Open questions": "what nobody knows yet, what may go wrong",
}


def check_capsule_text(tx: Transaction, text: str, *, allow_thin: bool) -> dict[str, Any]:
    """Return the columns of a text; refuse it if it is too large or lacks sections."""
    if not text.strip():
        raise invalid_request("`capsule_text` is empty; write the six sections", path="capsule_text")
    check_capsule_size(tx.config, text)
    if allow_thin:
        return text_columns(text)
    missing, unfilled = missing_sections(text), unfilled_sections(text)
    if missing or unfilled:
        thin = [title for title in REQUIRED if title in missing or title in unfilled]
        unfilled_text = f"; still to be filled in: [{', '.join(unfilled)}]" if unfilled else ""
        message = f"capsule missing required sections: [{', '.join(thin)}]{unfilled_text}"
        raise MossError("CAPSULE_TOO_THIN", message, details={"missing": thin})
    return text_columns(text)


def check_capsule_size(config: Config, text: str) -> None:
    limit = config.capsule_max_chars
    if len(text) > limit:
        raise MossError(
            "CAPSULE_TOO_LARGE",
            f"the capsule would have {len(text)} characters, {len(text) - limit} more than the limit of {limit}; "
            "compress it, keeping decisions and next actions",
            details={"max_chars": limit, "actual_chars": len(text)},
        )


def check_argument_size(call: CallContext, values: dict[str, Any]) -> None:
    """Refuse a capsule above the limit before its text is scanned for credentials."""
    check_capsule_size(call.config, values.get("capsule_text", ""))


def text_columns(text: str) -> dict[str, Any]:
    return {"capsule_text": text, "capsule_chars": len(text), "tokens_estimate": estimate_tokens(text)}


class Section:
    """A heading and the text below it, up to the next heading; offsets are into the text."""

    __slots__ = ("body_start", "end", "heading", "start", "title")

    def __init__(self, *, title: str, heading: str, start: int, body_start: int) -> None:
        self.title = title
        self.heading = heading
        self.start = start
        self.body_start = body_start
        self.end = body_start


_LIST_ITEM = re.compile(r" {0,3}(?:(?P<bullet>[-*+])|[0-9]{1,9}(?P<end>[.)]))(?=[ \t]|$)")


def parse_sections(text: str) -> list[Section]:
    """Return the flat list of sections of a Markdown text, in order; ignore headings inside fenced code."""
    sections: list[Section] = []
    for start, line in _lines_outside_fences(text):
        title = heading_title(line)
        if title is not None:
            if sections:
                sections[-1].end = start
            body_start = min(start + len(line) + 1, len(text))
            sections.append(Section(title=title, heading=line.strip(), start=start, body_start=body_start))
    if sections:
        sections[-1].end = len(text)
    return sections


def missing_sections(text: str) -> list[str]:
    """Return the canonical names of the required sections that a text lacks, in the order of the table."""
    fields = _json_object(text)
    labels = _find_labels(text) if fields is None else map(_json_label, fields)
    present = {_CANONICAL.get(label) for label in labels}
    return [canonical for canonical in REQUIRED if canonical not in present]


def unfilled_sections(text: str) -> list[str]:
    """Return the canonical names of the required sections that have only a placeholder to fill in."""
    if "(fill in:" not in text.lower():
        return []
    fields = _json_object(text)
    bodies = _bodies(text) if fields is None else ((_json_label(key), str(value)) for key, value in fields.items())
    lowered = ((label, body.strip().lower()) for label, body in bodies)
    unfilled = {_CANONICAL.get(label) for label, body in lowered if body.startswith("(fill in:") and body.endswith(")")}
    return [canonical for canonical in REQUIRED if canonical in unfilled]


def with_places_to_fill(text: str, missing: list[str]) -> str:
    """Return the text with the missing sections added, each with a placeholder to fill in."""
    bodies = {title: f"(fill in: {_TO_FILL[title]})" for title in missing}
    fields = _json_object(text)
    if fields is not None:
        import json

        return json.dumps({**fields, **bodies}, ensure_ascii=False, indent=2)
    fence = ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
    # Text after an open fence would be code.
    whole = f"{text.rstrip()}\n{fence}" if fence else text.rstrip()
    return whole + "".join([f"\n\n## {title}\n{body}" for title, body in bodies.items()]) + "\n"


def _bodies(text: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of a Markdown text with the text up to the next label."""
    marks: list[tuple[int, int, str]] = []
    for start, line in _lines_outside_fences(text):
        title = heading_title(line)
        before, colon, _ = line.partition(":")
        if title is not None:
            marks.append((start, start + len(line), _normalize_label(title)))
        elif colon and _normalize_label(before) in _CANONICAL:
            marks.append((start, start + len(before) + 1, _normalize_label(before)))
    ends = [start for start, _, _ in marks[1:]] + [len(text)]
    for (_, body_start, label), end in zip(marks, ends, strict=True):
        yield label, text[body_start:end].strip(" \t\r\n*_")


def heading_title(line: str) -> str | None:
    """Return the title of an ATX heading, without closing marks and trailing colon; None for other lines."""
    stripped = line.lstrip(" ")
    if not stripped.startswith("#") or len(line) - len(stripped) > 3:
        return None
    title = stripped.lstrip("#")
    if len(stripped) - len(title) > 6 or (title and title[0] not in " \t\r"):
        return None
    title = title.strip()
    closed = title.rstrip("#")
    if not closed or closed[-1] in " \t":
        title = closed.rstrip()
    return title.removesuffix(":").rstrip()


def same_title(one: str, other: str) -> bool:
    """Return True if two titles are equal except for case, spacing, bold marks and a trailing colon."""
    return _normalize_title(one) == _normalize_title(other)


def _normalize_title(title: str) -> str:
    """Return a title in the form that is compared, without its `##`."""
    written = heading_title(title)
    bare = (title if written is None else written).strip(" \t\r*_:")
    return " ".join(bare.split()).casefold()


def _find_labels(text: str) -> Iterator[str]:
    for _, line in _lines_outside_fences(text):
        title = heading_title(line) if "#" in line else None
        if title is not None:
            yield _normalize_label(title)
        elif ":" in line[:_LONGEST_LABEL]:
            yield _normalize_label(line.partition(":")[0])


def _normalize_label(raw: str) -> str:
    """Return a label in the form of the table: lower case, without bold marks and spaces around a slash."""
    label = " ".join(raw.strip(" \t\r*_:").lower().split())
    return label.replace(" /", "/").replace("/ ", "/") if "/" in label else label


def _json_label(key: str) -> str:
    return _normalize_label(key.replace("_", " ").replace("-", " "))


def _json_object(text: str) -> dict[str, Any] | None:
    """Return the text as a JSON object, or None."""
    text = text.removeprefix(_BYTE_ORDER_MARK)
    if not text.lstrip().startswith("{"):
        return None
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _lines_outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """Yield every line that is not fenced code with its offset, without the line feed."""
    fence = ""
    start = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
    for line in text[start:].split("\n"):
        if "```" in line or "~~~" in line:
            before, fence = fence, _fence_after(line, fence)
            if not before and not fence:
                yield start, line
        elif not fence:
            yield start, line
        start += len(line) + 1


def _fence_after(line: str, fence: str) -> str:
    """Return the mark of the fence that is open after a line, or an empty string; `fence` was open before it."""
    mark = _fence_mark(line)
    if not fence:
        return mark
    return "" if mark.startswith(fence) and line.strip() == mark else fence


def _fence_mark(line: str) -> str:
    """Return the backticks or tildes that open or close fenced code on this line, or an empty string."""
    stripped = line.lstrip(" ")
    if len(line) - len(stripped) > 3 or stripped[:3] not in ("```", "~~~"):
        return ""
    after = stripped.lstrip(stripped[0])
    if stripped[0] == "`" and "`" in after:
        return ""
    return stripped[: len(stripped) - len(after)]


def append_to(text: str, section: Section, content: str, *, replace: bool = False) -> tuple[str, bool]:
    """Return the text with content added to a section, and True if it replaced the section's content.

    A placeholder is always replaced, other content with `replace`. Items of one list stay together. All other lines
    and the style of line ends stay the same.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    addition = content.strip("\r\n").replace("\r\n", "\n").replace("\n", newline)
    before, body, after = text[: section.body_start], text[section.body_start : section.end], text[section.end :]
    if not before.endswith("\n"):
        before += newline
    blank_lines, old_content, trailing = _split_blank(body)
    if not old_content:
        trailing = newline + (body or newline) if after else body or (newline if text.endswith("\n") else "")
        return before + addition + trailing + after, True
    replaced = replace or old_content.strip().lower() in PLACEHOLDERS
    between = newline if _continues_list(old_content, addition) else newline * 2
    start = blank_lines if replaced else blank_lines + old_content + between
    return before + start + addition + trailing + after, replaced


def _continues_list(text: str, addition: str) -> bool:
    """Return True if a text ends with an item of a list and the addition begins with an item of the same list."""
    for line in reversed(text.splitlines()):
        item = _LIST_ITEM.match(line)
        if item or not line.startswith((" ", "\t")):
            break  # an indented line belongs to the item above
    added = _LIST_ITEM.match(addition)
    return bool(item and added and (item["bullet"], item["end"]) == (added["bullet"], added["end"]))


def _split_blank(body: str) -> tuple[str, str, str]:
    """Return the leading blank lines, the lines from the first to the last that is not blank, and the rest."""
    content = body.strip()
    if not content:
        return "", "", body
    first = body.rfind("\n", 0, body.index(content[0])) + 1
    end = body.find("\n", len(body.rstrip()))
    if end < 0:
        end = len(body)
    elif body[end - 1] == "\r":
        end -= 1
    return body[:first], body[first:end], body[end:]


def keep_sections(text: str, wanted: list[str]) -> str | None:
    """Return the wanted sections of a text, in its order; None if it has none of them."""
    parts = [
        text[section.start : section.end].rstrip()
        for section in parse_sections(text)
        if any(same_title(section.title, title) for title in wanted)
    ]
    return "\n\n".join(parts) if parts else None
