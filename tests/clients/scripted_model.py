"""A scripted model API: it requests a tool search, then records the client's answer."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ScriptedModel:
    """An HTTP server that answers as a model that searches for tools and then ends its turn."""

    def __init__(self, query: str) -> None:
        self.requests: list[dict[str, Any]] = []
        searched = {"type": "tool_use", "id": "toolu_1", "name": "ToolSearch", "input": {"query": query}}
        said = {"type": "text", "text": "done"}
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.requests.append(body)
                first = not any("tool_result" in json.dumps(one) for one in body["messages"])
                parts = _events(searched if first else said, "tool_use" if first else "end_turn")
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for part in parts:
                    self.wfile.write(f"event: {part['type']}\ndata: {json.dumps(part)}\n\n".encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def offered(self) -> set[str]:
        """Return the tools that the first request of the client offers."""
        return {tool["name"] for tool in self.requests[0]["tools"]}

    def found(self) -> list[str]:
        """Return the tools that the client found, best first."""
        results = [part for one in self.requests[-1]["messages"] for part in _parts(one)]
        listed = [part["content"] for part in results if part.get("type") == "tool_result"]
        return [one["tool_name"] for content in listed for one in content if one.get("type") == "tool_reference"]


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []


def _events(block: dict[str, Any], reason: str) -> list[dict[str, Any]]:
    """Return one answer of the model as a stream of events."""
    is_text = block["type"] == "text"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    usage = {"input_tokens": 1, "output_tokens": 1}
    opened = {**block, "text": ""} if is_text else {**block, "input": {}}
    delta = (
        {"type": "text_delta", "text": block["text"]}
        if is_text
        else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    )
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
