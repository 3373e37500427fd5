"""The result type of health checks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.errors import MossError

SOUND, DAMAGED, MENDED, PENDING, UNCHECKED, FAILED = "sound", "damaged", "mended", "pending", "unchecked", "failed"


class CheckResult:
    """The result of one check: subject, state and facts; a failed check has a `problem`.

    Subjects are `schema`, `journal`, `index`, `pages`, `rows`, `consistency`, `erasures`, `leftovers`, `replaced` and
    `meaning`, of a server also `server`, `host`, `durability` and `connections`; interfaces choose the words for them.
    """

    __slots__ = ("facts", "problem", "state", "subject")

    def __init__(self, subject: str, state: str, *, problem: MossError | None = None, **facts: Any) -> None:
        self.subject = subject
        self.state = state
        self.problem = problem
        self.facts = facts
