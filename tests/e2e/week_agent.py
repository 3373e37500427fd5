"""An agent that knows only its list of tools and follows answers; it counts the calls and characters.

It makes the simplest first guess, sends `recovery` and `next` unchanged with `(fill in: …)` replaced, confirms the
checkpoints that a proposed call names, and asks `moss_tools` for tools that are not listed.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.mcp_server import McpServer

    Call = tuple[str, dict[str, Any]]
    Right = Callable[[dict[str, Any]], bool]
    Again = Callable[[dict[str, Any]], Call | None]

CHECKPOINTS = ("criteria", "tests", "security", "perf", "docs")
MOST_STEPS = 4


class Tally:
    """The costs of a week, of all its agents."""

    def __init__(self) -> None:
        self.calls = 0
        self.failed = 0
        self.mistakes = 0
        """Refused calls that a careful agent does not make, such as misspelt names."""
        self.chars = 0
        self.discovery_chars = 0
        self.dead_ends: list[str] = []
        self.detours: list[str] = []
        """Tasks that two steps after the first guess did not complete."""
        self.refused: list[str] = []

    def __str__(self) -> str:
        numbers = f"{self.calls} calls, {self.failed} failed, {self.mistakes} mistakes refused, "
        numbers += f"{self.chars} characters ({self.discovery_chars} of them"
        lists = "".join(
            f"\n{name}:\n  " + "\n  ".join(getattr(self, name)) for name in ("dead_ends", "detours", "refused")
        )
        return f"{numbers} moss_tools), {len(self.dead_ends)} dead ends, {len(self.detours)} detours{lists}"


class Agent:
    """A client with its own server."""

    def __init__(self, server: McpServer, tally: Tally) -> None:
        self._server = server
        self._tally = tally
        self._known = {tool["name"]: set(tool["inputSchema"]["properties"]) for tool in server.tools()}
        self._listed = set(self._known)

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Make a call and return its answer or its error."""
        if tool not in self._listed:
            arguments, tool = {"tool": tool, "arguments": arguments}, "moss_call"
        answer = self._server.call(tool, arguments)
        tally, size = self._tally, len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
        tally.calls += 1
        tally.chars += size
        tally.discovery_chars += size if tool == "moss_tools" else 0
        if "error" in answer:
            tally.failed += 1
            shown = json.dumps(arguments, ensure_ascii=False)[:120]
            tally.refused.append(f"{tool} {shown}: {answer['error']['code']} {answer['error']['message'][:100]}")
        return answer

    def find(self, question: str, tool: str) -> bool:
        """Look up an unlisted tool by a question; return True if the answer names it."""
        if tool in self._known:
            return True
        found = self.ask("moss_tools", query=question)
        best = [found["best"]] if found.get("best") else []
        self._learn([*found["tools"], *best])
        if tool not in self._known and any(one["name"] == tool for one in found["tools"]):
            self._learn(self.ask("moss_tools", names=[tool])["tools"])
        return tool in self._known

    def _learn(self, tools: list[dict[str, Any]]) -> None:
        for one in tools:
            if "inputSchema" in one:
                self._known[one["name"]] = set(one["inputSchema"]["properties"])

    def accepts(self, tool: str, argument: str) -> bool:
        """Return whether the schema of a known tool has an argument."""
        return argument in self._known.get(tool, ())

    def complete(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        right: Right | None = None,
        again: Again | None = None,
        detour: Callable[[], dict[str, Any]] | None = None,
        mistake: bool = False,
    ) -> dict[str, Any]:
        """Make a first guess and follow the proposed calls until the answer is right.

        The refusal of a `mistake` is counted separately: it is made on purpose to follow its recovery.

        `again` receives an answer that is neither an error nor right, a list for example, and returns the next call.
        `detour` is another way, taken if the proposals end.
        """
        errand = f"{tool} {json.dumps(arguments, ensure_ascii=False)[:100]}"
        call: Call | None = (tool, arguments)
        steps = -1
        answer: dict[str, Any] = {}
        while call is not None and steps < MOST_STEPS:
            answer = self.ask(call[0], **call[1])
            steps += 1
            if mistake and steps == 0 and "error" in answer:
                self._tally.failed -= 1
                self._tally.mistakes += 1
            if "error" not in answer and (right is None or right(answer)):
                if steps > 2:
                    self._tally.detours.append(f"{errand} ({steps} steps)")
                return answer
            call = self._recovery(answer) if "error" in answer else again and again(answer)
        if detour is None:
            self._tally.dead_ends.append(errand)
            return answer
        self._tally.detours.append(errand)
        return detour()

    def _recovery(self, answer: dict[str, Any]) -> Call | None:
        proposed = answer["error"].get("recovery")
        return None if proposed is None else self.proposed(proposed)

    def proposed(self, call: dict[str, Any]) -> Call:
        """Return a proposed call ready to send: unwrapped, filled in, with its checkpoints confirmed."""
        tool, arguments = call["tool"], filled_in(call["arguments"])
        if tool == "moss_call":
            tool, arguments = arguments["tool"], arguments["arguments"]
            self._known.setdefault(tool, set(arguments))
        if tool in ("tasks_done", "tasks_verify"):
            reason = re.findall(r"\w+", call.get("reason", ""))
            asked = {*arguments.get("checkpoints", {}), *(one for one in CHECKPOINTS if one in reason)}
            arguments = {**arguments, "checkpoints": dict.fromkeys(sorted(asked), True)} if asked else arguments
        return tool, arguments

    def follow(self, call: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Make the proposed next call."""
        return self.complete(*self.proposed(call), **more)


def filled_in(value: Any) -> Any:
    """Return a proposed value with every `(fill in: …)` replaced."""
    if isinstance(value, str):
        return re.sub(r"\(fill in: ([^)]*)\)", r"here it is: \1", value)
    if isinstance(value, list):
        return [filled_in(item) for item in value]
    if isinstance(value, dict):
        return {name: filled_in(item) for name, item in value.items()}
    return value
