"""The template environment, and filters for numbers and times."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from moss_memory.http.browser_cookie import public_id
from moss_memory.http.sign_in import ACTOR
from moss_memory.rows.times import format_time
from moss_memory.rows.token_estimate import tokens_about

_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$")
_TIME_IN_TEXT = re.compile(
    r"\b20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z"
)
_STEP_PATH = re.compile(r"\bs:[0-9]{1,9}(?:\.s:[0-9]{1,9})*\b")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from typing import Any

    from .page_context import PageRequest

FOLDER = Path(__file__).parent
NODE_TYPES = ("question", "hypothesis", "evidence", "decision", "test", "update", "frame", "note", "task", "step")
"""Node types with a colour; the rest has the colour of the text."""
_AGES = (("year", 31_536_000), ("month", 2_592_000), ("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60))
_MARK = re.compile(r"`([^`]*)`")
_WAYS = ("cli", "python")
"""Actors that name an interface, not an author."""
_OF_PAGE = ("offset", "notice", "id")
"""Parameters that belong to one page of a list."""
_OF_WORKSPACE = (*_OF_PAGE, "workspace", "branch", "compare", "doc", "node", "entry", "cursor", "part", "parent")
"""Parameters that mean nothing in another workspace."""


def make_environment(base: str) -> Environment:
    templates = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters |= {
        "ago": ago, "clock": clock, "credit": credit, "compact": compact, "iso": iso, "number": format_number,
        "plain_steps": plain_steps, "pretty": pretty,
        "flash": flash, "seconds": seconds_of, "sentence": sentence,
        "size": format_size, "step_number": step_number, "format_day": format_day,
        "tokens_about": tokens_about, "when": when, "who": who,
    }  # fmt: skip
    templates.tests["iso_time"] = lambda text: _ISO_TIME.match(text) is not None
    templates.tests["match_work"] = lambda name: name.startswith(("task/", "plan/"))
    templates.globals |= {
        "known_types": NODE_TYPES,
        "base": base,
        "pages_id": public_id(base),
        "link": make_link(base),
        "with_query": with_query,
        "unfiltered": unfiltered,
        "kept_filters": kept_filters,
        "day_of": day_of,
    }
    return templates


def format_size(size_bytes: int) -> str:
    """Return a number of bytes in the largest fitting unit."""
    size, units = float(size_bytes), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.0f} {units[0]}" if units[0] == "bytes" or size >= 100 else f"{size:.1f} {units[0]}"


def step_number(path: str) -> str:
    """Return the path of a step as a number: s:0.s:2 is 1.3."""
    return ".".join(str(int(part.removeprefix("s:")) + 1) for part in path.split("."))


def plain_steps(text: str) -> str:
    """Return a text for agents with the paths of steps as numbers, and times for people."""
    plain = _STEP_PATH.sub(lambda match: f"step {step_number(match[0])}", text)
    return _TIME_IN_TEXT.sub(lambda match: when(datetime.fromisoformat(match[0]).timestamp()), plain)


def make_link(base: str) -> Callable[..., str]:
    def link(path: str, **query: Any) -> str:
        return base + path + query_of(**query)

    return link


def with_query(request: PageRequest, **changes: Any) -> str:
    """Return the query of this page with some values changed and without the offset."""
    values = {name: value for name, value in request.query.items() if name not in _OF_PAGE}
    return query_of(**{**values, **changes}) or "?"


def kept_filters(request: PageRequest, path: str) -> dict[str, str]:
    """Return the filters of a list that are valid in other workspaces; branches and tasks belong to one workspace."""
    if request.full_path != path:
        return {}
    return {name: value for name, value in request.query.items() if name not in _OF_WORKSPACE}


def unfiltered(request: PageRequest) -> str:
    """Return the query of this page without filters except the workspace."""
    return query_of(workspace=request.query.get("workspace")) or "?"


def query_of(**values: Any) -> str:
    parameters = {name: value for name, value in values.items() if value not in (None, "", False)}
    return f"?{urlencode(parameters)}" if parameters else ""


def ago(seconds: float, now: float) -> str:
    passed = now - seconds
    if passed < 0:
        return f"in {_duration(-passed)}"
    return "just now" if passed < 60 else f"{_duration(passed)} ago"


def _duration(seconds: float) -> str:
    for unit, size in _AGES:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "less than a minute"


def when(seconds: float) -> str:
    """Return a time for people in UTC; the browser shows it in its own time zone."""
    return time.strftime("%-d %b %Y, %H:%M UTC", time.gmtime(seconds))


def clock(seconds: float) -> str:
    return time.strftime("%H:%M UTC", time.gmtime(seconds))


def iso(seconds: float) -> str:
    return format_time(int(seconds * 1000))


def day_of(seconds: float, zone: tzinfo) -> str:
    return datetime.fromtimestamp(seconds, zone).strftime("%-d %b %Y")


def format_day(written: str) -> str:
    try:
        return time.strftime("%-d %b %Y", time.strptime(written[:10], "%Y-%m-%d"))
    except ValueError:
        return written[:10]


def seconds_of(written: str) -> float | None:
    """Return an ISO time in seconds; None if it is a day without a time, which has no time zone."""
    if written[10:19] in ("", "T00:00:00"):
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def who(actor: str) -> str:
    return "you" if actor == ACTOR else actor


def author_of(actor: str | None, source: str | None) -> str:
    """Return the author of a version: its actor, or its source if the actor is an interface such as `cli`."""
    return source if source and (not actor or actor in _WAYS) else who(actor or "")


def credit(actor: str | None, source: str | None) -> str:
    author = author_of(actor, source)
    return author if not source or source == author else f"{author}, source {source}"


def format_number(value: int) -> str:
    """Return a number with thin spaces between its thousands."""
    return f"{value:,}".replace(",", "\u202f")


def flash(message: str) -> Markup:
    """Return a message as HTML with backticked words as code."""
    return Markup(_MARK.sub(r"<code>\1</code>", str(escape(message))))  # noqa: S704 - escaped just here


def sentence(message: str) -> Markup:
    """Return a message as a sentence; a name or an address at its beginning is not capitalized."""
    is_word = message.partition(" ")[0].strip(",.:;").isalpha()
    text = message[:1].upper() + message[1:] if is_word else message
    return flash(text if text.endswith((".", "!", "?")) else f"{text}.")


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
