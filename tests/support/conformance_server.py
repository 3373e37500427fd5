"""`moss serve` as the conformance suite requires it: without a token, and with the suite's tools, prompts, resources.

The suite sends no token and knows its fixtures by name. They go the way of Moss's own: through `Protocol`, the pool and
the store's door.
"""

from __future__ import annotations

import re
import sys
import time
from typing import Any

from moss_memory.cli.main import main
from moss_memory.errors import MossError
from moss_memory.http.mcp_endpoint import Endpoint
from moss_memory.mcp import completion, prompts, resources, tool_list
from moss_memory.mcp.messages import encode
from moss_memory.registry import catalog
from moss_memory.registry.operation import Operation, operation
from moss_memory.tools.everything.tool_descriptions import describe_tool


@operation(answers={}, example="")
def test_simple_text(tx: Any) -> dict[str, Any]:
    """Return a text."""
    return {"text": "This is a simple text response for testing."}


@operation(answers={}, example="")
def test_error_handling(tx: Any) -> dict[str, Any]:
    """Fail."""
    raise MossError("INVALID_REQUEST", "This tool intentionally returns an error for testing")


@operation(slow=True, answers={}, example="")
def test_tool_with_progress(tx: Any) -> dict[str, Any]:
    """Report progress, slowly enough for a client to receive it."""
    for done in (0, 50, 100):
        tx.progress(done, 100)
        time.sleep(0.15)
    return {"text": "done"}


def add_tools(*tools: Operation) -> None:
    """Add the tools to Moss's list and to its lookup."""
    lines = [(tool.name, encode(describe_tool(tool))) for tool in tools]
    own = tool_list.tool_lines
    tool_list.tool_lines = lambda: [*own(), *lines]
    for tool in tools:
        catalog._loaded[tool.name] = tool


SHOWN = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "Watched resource content",
}
TEMPLATE = "test://template/{id}/data"
_PARSE_URI, _READ, _TEMPLATES = resources.parse_uri, resources.read_resource, resources.templates


def parse_uri(uri: Any) -> Any:
    return None if isinstance(uri, str) and uri.startswith("test://") else _PARSE_URI(uri)


def read(call: Any, tools: Any, uri: Any) -> str:
    filled = re.fullmatch(r"test://template/([^/]+)/data", uri) if isinstance(uri, str) else None
    text = SHOWN.get(uri) if isinstance(uri, str) else None
    if filled is not None:
        text = encode({"id": filled[1], "templateTest": True, "data": f"Data for ID: {filled[1]}"})
    if text is None:
        return _READ(call, tools, uri)
    return encode([{"uri": uri, "mimeType": "text/plain" if filled is None else "application/json", "text": text}])


def add_prompts() -> None:
    """Add prompts that contain their arguments."""

    def said(text: str) -> Any:
        return {"role": "user", "content": {"type": "text", "text": text}}

    def embedded(arguments: dict[str, str]) -> Any:
        resource = {"uri": arguments["resourceUri"], "mimeType": "text/plain", "text": "Embedded resource content"}
        return {"role": "user", "content": {"type": "resource", "resource": resource}}

    prompts._ALL = (  # type: ignore[assignment]
        *prompts._ALL,
        prompts.Prompt(
            "test_simple_prompt", "Says one thing", "capsule_store", (), lambda *_: [said("A simple prompt.")]
        ),
        prompts.Prompt(
            "test_prompt_with_arguments",
            "Says what it was told",
            "capsule_store",
            (("arg1", "the first"), ("arg2", "the second")),
            lambda _, given, limit: [said(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")],
        ),
        prompts.Prompt(
            "test_prompt_with_embedded_resource",
            "Brings a resource along",
            "capsule_store",
            (("resourceUri", "its address"),),
            lambda _, given, limit: [embedded(given), said("Please process the embedded resource above.")],
        ),
    )


def serve() -> int:
    """Serve Moss and the fixtures to any client."""

    async def authorize(self: Endpoint, scope: Any) -> Any:
        return self.tokens.owner

    Endpoint.authorize = authorize  # type: ignore[method-assign]
    add_tools(test_simple_text, test_error_handling, test_tool_with_progress)
    add_prompts()
    resources.parse_uri, resources.read_resource = parse_uri, read
    resources.templates = lambda tools: _TEMPLATES(tools)[:-1] + "," + encode(
        {"uriTemplate": TEMPLATE, "name": "template", "mimeType": "application/json"}
    ) + "]"  # fmt: skip
    own = completion._list_values
    completion._list_values = lambda call, kind_name, name, workspace: (
        ["paris", "park", "party"] if name in ("arg1", "arg2") else own(call, kind_name, name, workspace)
    )
    return main()


if __name__ == "__main__":
    sys.exit(serve())
