"""The one section parser: lint, append and compose all see a capsule's text through it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

REQUIRED: dict[str, tuple[str, ...]] = {
    "Objective": ("goal", "purpose"),
    "Current status": ("status", "state", "where we are"),
    "Decisions": ("decisions/constraints", "constraints", "choices"),
    "Next actions": ("next steps", "action items", "todo", "tasks"),
    "Key locations": ("locations", "files", "paths", "references"),
    "Open questions": ("open questions/risks", "questions", "risks", "unknowns"),
}
"""The six sections a capsule needs, each with the other labels that count for it."""

_CANONICAL = {label: canonical for canonical, synonyms in REQUIRED.items() for label in (canonical.lower(), *synonyms)}
_LONGEST_LABEL = max(map(len, _CANONICAL)) + 8
_MARK = "\ufeff"
"""What some editors write before a text; it is no part of its first line."""

PLACEHOLDERS = frozenset(
    (
        "",
        "(pending)",
        "(none)",
        "(empty)",
        "(tbd)",
        "(n/a)",
        "tbd",
        "n/a",
        "none",
        "pending",
        "todo",
        "-",
        "...",
    )
)
"""What counts as no content yet, when it is all that a section holds."""


_TO_FILL = {
    "Objective": "what is to be achieved, in a sentence",
    "Current status": "what works, what does not yet",
    "Decisions": "what was decided, and why",
    "Next actions": "what to do next, one a line",
    "Key locations": "files, commands, addresses",
    "Open questions": "what nobody knows yet, what may go wrong",
}


class Section:
    """A heading and what stands below it, up to the next heading; offsets are into the text."""

    __slots__ = ("body_start", "end", "heading", "start", "title")

    def __init__(self, *, title: str, heading: str, start: int, body_start: int) -> None:
        self.title = title
        self.heading = heading
        self.start = start
        self.body_start = body_start
        self.end = body_start


def parse(text: str) -> list[Section]:
    """The flat list of sections of a Markdown text, in order; headings inside fenced code do not count."""
    found: list[Section] = []
    for start, line in _lines_outside_fences(text):
        title = heading_title(line)
        if title is not None:
            if found:
                found[-1].end = start
            body_start = min(start + len(line) + 1, len(text))
            found.append(Section(title=title, heading=line.strip(), start=start, body_start=body_start))
    if found:
        found[-1].end = len(text)
    return found


def missing_sections(text: str) -> list[str]:
    """The canonical names of the required sections that a text lacks, in the order of the table."""
    keys = _json_keys(text)
    present = {_CANONICAL.get(label) for label in (_labels(text) if keys is None else keys)}
    return [canonical for canonical in REQUIRED if canonical not in present]


def unfilled_sections(text: str) -> list[str]:
    """The canonical names of the required sections of which a place to fill in is all they hold, in that order."""
    if "(fill in:" not in text.lower():
        return []
    found = _json_object(text)
    bodies = _bodies(text) if found is None else ((_json_label(key), str(value)) for key, value in found.items())
    left = {_CANONICAL.get(label) for label, body in bodies if _is_to_fill(body)}
    return [canonical for canonical in REQUIRED if canonical in left]


def with_places_to_fill(text: str, missing: list[str]) -> str:
    """The text with the missing sections, each a heading and what is to be written there."""
    places = {title: f"(fill in: {_TO_FILL[title]})" for title in missing}
    found = _json_object(text)
    if found is not None:
        import json

        return json.dumps({**found, **places}, ensure_ascii=False, indent=2)
    fence = _open_fence(text)  # what came after it would be code
    whole = f"{text.rstrip()}\n{fence}" if fence else text.rstrip()
    return whole + "".join([f"\n\n## {title}\n{place}" for title, place in places.items()]) + "\n"


def _is_to_fill(body: str) -> bool:
    said = body.strip().lower()
    return said.startswith("(fill in:") and said.endswith(")")


def _bodies(text: str) -> Iterator[tuple[str, str]]:
    """The labels of a Markdown text with what stands beside or below them, up to the next one."""
    marks: list[tuple[int, int, str]] = []
    for start, line in _lines_outside_fences(text):
        title = heading_title(line)
        before, colon, _ = line.partition(":")
        if title is not None:
            marks.append((start, start + len(line), _label(title)))
        elif colon and _label(before) in _CANONICAL:
            marks.append((start, start + len(before) + 1, _label(before)))
    ends = [start for start, _, _ in marks[1:]] + [len(text)]
    for (_, body_start, label), end in zip(marks, ends, strict=True):
        yield label, text[body_start:end].strip(" \t\r\n*_")


def heading_title(line: str) -> str | None:
    """The title of an ATX heading of any level, without closing marks and trailing colon; none for other lines."""
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
    """Whether two headers are the same to a person: case, spacing, bold and a trailing colon aside."""
    return _plain(one) == _plain(other)


def _plain(title: str) -> str:
    """A title as it is compared; one given with its `##` means the same."""
    written = heading_title(title)
    bare = (title if written is None else written).strip(" \t\r*_:")
    return " ".join(bare.split()).casefold()


def _labels(text: str) -> Iterator[str]:
    for _, line in _lines_outside_fences(text):
        title = heading_title(line) if "#" in line else None
        if title is not None:
            yield _label(title)
        elif ":" in line[:_LONGEST_LABEL]:
            yield _label(line.partition(":")[0])


def _label(raw: str) -> str:
    """A label as the table spells it: lower case, bold marks gone, no spaces around a slash."""
    label = " ".join(raw.strip(" \t\r*_:").lower().split())
    return label.replace(" /", "/").replace("/ ", "/") if "/" in label else label


def _json_keys(text: str) -> list[str] | None:
    """The top-level keys when the text is a JSON object, spelled like labels."""
    found = _json_object(text)
    return None if found is None else [_json_label(key) for key in found]


def _json_label(key: str) -> str:
    return _label(key.replace("_", " ").replace("-", " "))


def _json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, if it is one."""
    text = text.removeprefix(_MARK)
    if not text.lstrip().startswith("{"):
        return None
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _lines_outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """Every line that is not fenced code, with its offset; line ends are cut off, a carriage return is not."""
    fence = ""
    start = len(_MARK) if text.startswith(_MARK) else 0
    for line in text[start:].split("\n"):
        if "```" in line or "~~~" in line:
            before, fence = fence, _fence_after(line, fence)
            if not before and not fence:
                yield start, line
        elif not fence:
            yield start, line
        start += len(line) + 1


def _open_fence(text: str) -> str:
    """The mark of the fence that a text opens and does not close, or nothing."""
    fence = ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
    return fence


def _fence_after(line: str, fence: str) -> str:
    """The mark of the fence that is open after a line, or nothing; `fence` is the one that was open before it."""
    mark = _fence_mark(line)
    if not fence:
        return mark
    return "" if mark.startswith(fence) and line.strip() == mark else fence


def _fence_mark(line: str) -> str:
    """The run of backticks or tildes that opens or closes fenced code on this line, or nothing."""
    stripped = line.lstrip(" ")
    if len(line) - len(stripped) > 3 or stripped[:3] not in ("```", "~~~"):
        return ""
    after = stripped.lstrip(stripped[0])
    if stripped[0] == "`" and "`" in after:
        return ""
    return stripped[: len(stripped) - len(after)]


def append_to(text: str, section: Section, content: str) -> tuple[str, bool]:
    """The text with content added to a section, and whether it took the place of a placeholder.

    Every other line stays as it is, blank ones included, and so does the style of line ends.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    addition = content.strip("\r\n").replace("\r\n", "\n").replace("\n", newline)
    before, body, after = text[: section.body_start], text[section.body_start : section.end], text[section.end :]
    if not before.endswith("\n"):
        before += newline
    blank_lines, kept, rest = _split_blank(body)
    if not kept:
        rest = newline + (body or newline) if after else body or (newline if text.endswith("\n") else "")
        return before + addition + rest + after, True
    replaced = kept.strip().lower() in PLACEHOLDERS
    start = blank_lines if replaced else blank_lines + kept + newline * 2
    return before + start + addition + rest + after, replaced


def _split_blank(body: str) -> tuple[str, str, str]:
    """The blank lines at the start, the lines from the first to the last that says something, and what follows."""
    said = body.strip()
    if not said:
        return "", "", body
    first = body.rfind("\n", 0, body.index(said[0])) + 1
    end = body.find("\n", len(body.rstrip()))
    if end < 0:
        end = len(body)
    elif body[end - 1] == "\r":
        end -= 1
    return body[:first], body[first:end], body[end:]


def keep_sections(text: str, wanted: list[str]) -> str | None:
    """Only the wanted sections of a text, in its order; none when it has none of them."""
    kept = [
        text[section.start : section.end].rstrip()
        for section in parse(text)
        if any(same_title(section.title, title) for title in wanted)
    ]
    return "\n\n".join(kept) if kept else None
