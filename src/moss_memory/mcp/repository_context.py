"""The summary of a session: the repository of the process, and the workspaces that changed last."""

from __future__ import annotations

from moss_memory.errors import MossError

from .text_fence import quote_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.store import Store

_NAME_CHARS = 30
"""The maximum length of a name in the instructions."""
_TIMEOUT_S = 2.0
"""A client does not wait longer for its first answer while the server of the store is down."""


def quote_name(name: str) -> str:
    """Return a name, which others chose, in quotes on one line and short."""
    return quote_line(name, _NAME_CHARS)


class SessionSummary:
    """The names that the instructions begin with."""

    __slots__ = ("repository", "workspaces")

    def __init__(self, repository: str, workspaces: list[tuple[str, dict[str, int]]]) -> None:
        self.repository = repository
        self.workspaces = workspaces
        """Each with its counts by kind."""

    def lines(self) -> list[str]:
        """Return the sentences about the repository and the workspaces."""
        from moss_memory.tools.everything.recent_counts import COUNTED

        sentences = [f"You are in the repository {quote_name(self.repository)}."] if self.repository else []
        descriptions = []
        for name, counts in self.workspaces:
            parts = [
                f"{min(count, COUNTED)}{'+' if count > COUNTED else ''} {kind}{'' if count == 1 else 's'}"
                for kind, count in counts.items()
                if count
            ]
            descriptions.append(quote_name(name) + (f" ({', '.join(parts)})" if parts else ""))
        return (
            [*sentences, f"Workspaces, last changed first: {'; '.join(descriptions)}."] if descriptions else sentences
        )


def read_session_summary(store: Callable[[], Store], repository: str) -> SessionSummary | None:
    """Return the summary by one read of the store; without workspaces if the store cannot be read now."""
    from moss_memory.tools.everything.recent_counts import recent_counts

    try:
        workspaces = store().read(recent_counts, what="instructions", snapshot=False, timeout_s=_TIMEOUT_S)
    except MossError:
        workspaces = []  # the first call reports it
    return SessionSummary(repository, workspaces) if repository or workspaces else None
