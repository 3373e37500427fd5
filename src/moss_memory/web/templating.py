"""Templates and the words in which they say numbers and times."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from moss_memory.rows.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .page_context import PageRequest

FOLDER = Path(__file__).parent
NODE_TYPES = ("question", "hypothesis", "evidence", "decision", "test", "update", "frame", "note", "task", "step")
"""The types of nodes that have a colour; others are shown in the colour of the text."""
_AGES = (("year", 31_536_000), ("month", 2_592_000), ("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60))
_MARK = re.compile(r"`([^`]*)`")


def environment(base: str) -> Environment:
    """The templates of pages that live under an address; whatever they fill in is escaped."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "ago": ago, "clock": clock, "compact": compact, "iso": iso, "number": number,
        "pretty": pretty, "said": flash, "sentence": sentence, "spelled": format_date, "spelled_day": format_day,
        "when": when,
    }  # fmt: skip
    made.tests["match_work"] = lambda name: name.startswith(("task/", "plan/"))
    made.globals |= {
        "known_types": NODE_TYPES,
        "base": base,
        "link": linked_to(base),
        "turned": with_query,
        "unfiltered": unfiltered,
        "day_of": day_of,
    }
    return made


def linked_to(base: str) -> Callable[..., str]:
    """A function that gives the address of a page, with the query that it is asked with."""

    def link(path: str, **query: Any) -> str:
        return base + path + query_of(**query)

    return link


def with_query(visit: PageRequest, **changes: Any) -> str:
    """The query of this page with some of its values changed; another filter begins again at the first page."""
    kept = {name: value for name, value in visit.query.items() if name not in ("offset", "said", "id")}
    return query_of(**{**kept, **changes}) or "?"


def unfiltered(visit: PageRequest) -> str:
    """The query of this page without any filter but the workspace."""
    return query_of(workspace=visit.query.get("workspace")) or "?"


def query_of(**values: Any) -> str:
    """A query string of the values that are there."""
    given = {name: value for name, value in values.items() if value not in (None, "", False)}
    return f"?{urlencode(given)}" if given else ""


def ago(seconds: float, now: float) -> str:
    """How long ago a time was, in the largest unit that fits."""
    passed = now - seconds
    if passed < 0:
        return f"in {_counted(-passed)}"
    return "just now" if passed < 60 else f"{_counted(passed)} ago"


def _counted(seconds: float) -> str:
    for unit, size in _AGES:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "less than a minute"


def when(seconds: float) -> str:
    """A time as people write it, in the time zone of this machine."""
    return time.strftime("%-d %b %Y, %H:%M", time.localtime(seconds))


def clock(seconds: float) -> str:
    """The time of the day, in the time zone of this machine."""
    return time.strftime("%H:%M", time.localtime(seconds))


def iso(seconds: float) -> str:
    """A time as programs read it."""
    return format_time(int(seconds * 1000))


def day_of(seconds: float) -> str:
    """The day of a time, in the time zone of this machine."""
    return time.strftime("%-d %b %Y", time.localtime(seconds))


def format_day(written: str) -> str:
    """The day of a time that was written as programs do, as people write it."""
    try:
        return time.strftime("%-d %b %Y", time.strptime(written[:10], "%Y-%m-%d"))
    except ValueError:
        return written[:10]


def format_date(written: str) -> str:
    """A time that was written as programs do, as people write it; the time of the day is left as it is."""
    return f"{format_day(written)}, {written[11:16]}"


def number(value: int) -> str:
    """A number with thin spaces between its thousands."""
    return f"{value:,}".replace(",", "\u202f")


def flash(message: str) -> Markup:
    """A message of Moss with what it marks by backticks set as code."""
    return Markup(_MARK.sub(r"<code>\1</code>", str(escape(message))))  # noqa: S704 - escaped just here


def sentence(message: str) -> Markup:
    """A message of Moss as a sentence of its own; a name or an address at its beginning stays as it is."""
    is_word = message.partition(" ")[0].strip(",.:;").isalpha()
    text = message[:1].upper() + message[1:] if is_word else message
    return flash(text if text.endswith((".", "!", "?")) else f"{text}.")


def compact(value: Any) -> str:
    """A JSON value on one line."""
    return json.dumps(value, ensure_ascii=False)


def pretty(value: Any) -> str:
    """A JSON value over several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)
