"""Version lists of capsules and artifacts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .page_context import PageContext

_DIGITS = 9


def number_of(given: str | None) -> int:
    """Return the version in a query or a form; 0 if there is none."""
    return int(given) if given and given.isascii() and given.isdigit() and len(given) <= _DIGITS else 0


def versions_of(context: PageContext, family: str, key: str, most: int, offset: int = 0) -> dict[str, Any]:
    """Return the versions of a capsule or artifact, newest first."""
    return context.call("moss_history", type=family, id=key, limit=most, offset=offset or None)
