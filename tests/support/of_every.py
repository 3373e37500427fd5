"""One test for a rule on many values: reporting a thousand test items would take longer than checking them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def of_every(things: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Turn a rule into one test that lists all values that break it; a tuple is several arguments."""

    def decorate(rule: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            broken = [said for thing in things if (said := _broken(rule, thing)) is not None]
            assert not broken, "\n".join(broken)

        test.__name__, test.__doc__, test.__module__ = rule.__name__, rule.__doc__, rule.__module__
        return test

    return decorate


def _broken(rule: Callable[..., None], thing: Any) -> str | None:
    try:
        rule(*thing) if isinstance(thing, tuple) else rule(thing)
    except AssertionError as error:
        return f"{getattr(thing, 'name', thing)}: {error}"
    return None
