"""A capsule as a Markdown file: its columns as front matter, one `key: JSON` a line, then its text as it is."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .export_schema import Line

_FENCE = "---"
_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_MARK = "\ufeff"


def encode_markdown(line: Line, text: str) -> bytes:
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in line.items()]
    return f"{_FENCE}\n{''.join(lines)}{_FENCE}\n{text}".encode()


def parse_markdown(content: str) -> tuple[dict[str, Any], str]:
    """Return fields and text of a file; without valid front matter everything is text.

    A handwritten value need not be JSON: invalid JSON is read as text, and `- item` lines as a list.
    """
    content = content.removeprefix(_MARK)
    end = content.find("\n")
    if end < 0 or content[:end].rstrip() != _FENCE:
        return {}, content
    fields: dict[str, Any] = {}
    key = ""
    while end >= 0:
        start = end + 1
        end = content.find("\n", start)
        line = content[start : end if end >= 0 else None].rstrip()
        if line == _FENCE:
            return fields, content[end + 1 :] if end >= 0 else ""
        if pair := _KEY.fullmatch(line):
            key = pair[1]
            fields[key] = _value(pair[2] or "null")
        elif (item := _ITEM.fullmatch(line)) and key and isinstance(fields[key] or [], list):
            fields[key] = fields[key] or []
            fields[key].append(_value(item[1]))
        elif line and not line.lstrip().startswith("#"):
            break
    return {}, content


def _value(raw: str) -> Any:
    text = raw.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text.startswith("[") and text.endswith("]"):
        return [_plain(part) for part in text[1:-1].split(",") if part.strip()]
    return _plain(text)


def _plain(raw: str) -> str:
    """Return a handwritten scalar without its quotes."""
    text = raw.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    return text
