"""MCP over HTTP: one path to which programs that know the token send messages."""

from __future__ import annotations

import hmac

from ..mcp.calls import outcome_of
from ..mcp.indexing import Indexing
from ..mcp.messages import INVALID_REQUEST, MAX_LINE_BYTES, NO_ID, failure, read
from ..mcp.protocol import Cancellation, Protocol, ToolCall
from .bodies import read_body
from .guard import HEADERS
from .pool import POOL
from .replies import JSON, reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.types import Receive, Scope, Send

    from ..mcp.desk import Desk

_HOW = """\
Moss answers programs that send the token of this store, which stands in the file `token` of its home folder:

    Authorization: Bearer TOKEN

For example: claude mcp add --transport http moss ADDRESS/mcp --header "Authorization: Bearer $(cat ~/.moss/token)"
"""


class Endpoint:
    """Takes messages in, has them answered, and sends the answers back."""

    def __init__(self, desk: Desk, token: str) -> None:
        self._desk = desk
        self._token = token.encode()
        self._protocol = Protocol(desk.offer)
        self._indexing = Indexing(desk.store)
        self._stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        headers = scope[HEADERS]
        if not self.knows(headers):
            await self.ask_for_token(send)
        elif scope["method"] == "POST":
            await self._post(headers, receive, send)
        else:
            await reply(send, 405, headers=[(b"allow", b"POST")])

    def knows(self, headers: dict[bytes, bytes]) -> bool:
        """Whether the sender of a request has shown the token."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        return hmac.compare_digest(token.strip(), self._token) and scheme.lower() == b"bearer"

    async def ask_for_token(self, send: Send) -> None:
        """Refuses who has not shown the token, saying where it is."""
        await reply(send, 401, _HOW, headers=[(b"www-authenticate", b"Bearer")])

    def cancel_calls(self) -> None:
        """Asks the calls under way to come to an end; what they have not committed is undone."""
        self._stopping = True

    def rest(self, within_s: float) -> bool:
        """Ends the idle work; says whether it came to rest in time."""
        return self._indexing.stop(within_s)

    async def _post(self, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != JSON:
            await reply(send, 415, "messages are sent as application/json\n")
            return
        body = await read_body(receive, headers, MAX_LINE_BYTES)
        if body is None:
            close = [(b"connection", b"close")]
            await reply(send, 413, f"a message has at most {MAX_LINE_BYTES} bytes\n", headers=close)
            return
        message = read(body)
        if isinstance(message, list):
            refused = failure(NO_ID, INVALID_REQUEST, "Invalid request: one message at a time")
            await reply(send, 400, refused, kind=JSON)
            return
        answer = await self._answer(message)
        await reply(send, 202) if answer is None else await reply(send, 200, answer, kind=JSON)

    async def _answer(self, message: Any) -> bytes | None:
        outcome = self._protocol.answer(message)
        if isinstance(outcome, ToolCall):
            call = outcome
            self._indexing.note_call()
            return await POOL.run(lambda: self._run(call), long=call.operation.takes_long(call.arguments))
        return None if isinstance(outcome, Cancellation) else outcome

    def _run(self, call: ToolCall) -> bytes:
        return outcome_of(
            call,
            self._desk.store,
            send=lambda message: None,
            is_stopping=lambda: self._stopping,
            indexing=self._indexing,
        )
