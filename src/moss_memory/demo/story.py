"""One line of the story: a call and how long ago it was made."""

from __future__ import annotations

from moss_memory.rows.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHOP = "atlas-checkout"
ADMIN = "atlas-admin"
PLATFORM = "platform"


class Line:
    """A call of the story: so many hours ago this tool was called with these arguments."""

    __slots__ = ("arguments", "hours_ago", "tool")

    def __init__(self, hours_ago: float, tool: str, /, **arguments: Any) -> None:
        self.hours_ago = hours_ago
        self.tool = tool
        self.arguments = arguments

    def told(self, at_ms: int, begun_ms: int) -> dict[str, Any]:
        """The arguments as they were sent then: `NOW` is the time of the call, `BEGUN` that of the first one."""
        times = {NOW: format_time(at_ms), BEGUN: format_time(begun_ms)}
        return {("from" if name == "from_" else name): _dated(value, times) for name, value in self.arguments.items()}


NOW, BEGUN = "(now)", "(begun)"


def _dated(value: Any, times: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _dated(part, times) for name, part in value.items()}
    return times.get(value, value) if isinstance(value, str) else value
