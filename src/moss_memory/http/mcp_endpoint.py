"""MCP over HTTP: one path to which programs that know the token send messages."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl

from moss_memory.errors import MossError, invalid_request
from moss_memory.mcp.handlers import handle
from moss_memory.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_LINE_BYTES,
    NO_ID,
    Failure,
    InvalidMessage,
    failure,
    read,
)
from moss_memory.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    STATELESS_VERSION,
    VERSION_KEY,
    Cancellation,
    Listening,
    Protocol,
    StoreRequest,
    SubscribeRequest,
    ToolCall,
)
from moss_memory.mcp.subscriptions import Subscription, ended, listen, subscribed

from . import stateless
from .exchange import ResponseWriter, Runner
from .notifier import ChangeNotifier
from .origin_guard import HEADERS
from .pool import in_thread
from .replies import JSON, reply
from .request_body import UNREAD, read_body
from .sessions import MOST, Sessions
from .sse import Stream, pump
from .timeouts import PROVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.types import Receive, Scope, Send

    from moss_memory.mcp.server_context import ServerContext

    from .sessions import Session

BATCH_VERSION = "2025-03-26"
"""The one version in which an array of messages may be sent."""

_LARGE_BYTES = 65_536
"""A longer message is read on a thread, lest everybody waits for it."""

_HOW = """\
Moss answers programs that send the token of this store, which stands in the file `token` of its home folder:

    Authorization: Bearer TOKEN

For example: claude mcp add --transport http moss ADDRESS/mcp --header "Authorization: Bearer $(cat ~/.moss/token)"
"""


class Endpoint:
    """Takes messages in, has them answered, and sends the answers back."""

    def __init__(self, context: ServerContext, token: str) -> None:
        self._context = context
        self._token = token.encode()
        self._protocol = Protocol(context.tools)
        self._runner = Runner(context)
        self._sessions = Sessions()
        self._newsroom = ChangeNotifier(context)
        self._listening: dict[Stream, Listening] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        headers = scope[HEADERS]
        method = scope["method"]
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
        if not self.knows(scope):
            await self.ask_for_token(send)
        elif method == "POST":
            await self._post(scope, receive, send, version)
        elif method not in ("GET", "DELETE") or version == STATELESS_VERSION:
            allowed = b"POST" if version == STATELESS_VERSION else b"GET, POST, DELETE"
            await reply(send, 405, headers=[(b"allow", allowed)])
        else:
            await self._of_session(method, version, headers, receive, send)

    def knows(self, scope: Scope) -> bool:
        """Whether the sender of a request has shown the token; its connection counts as proven from then on."""
        scheme, _, token = scope[HEADERS].get(b"authorization", b"").partition(b" ")
        known = hmac.compare_digest(token.strip(), self._token) and scheme.lower() == b"bearer"
        if known:
            scope[PROVE]()
        return known

    async def ask_for_token(self, send: Send) -> None:
        """Refuses who has not shown the token, saying where it is."""
        await reply(send, 401, _HOW, headers=[(b"www-authenticate", b"Bearer")])

    def close_streams(self) -> None:
        """Ends what would never end by itself."""
        for session in self._sessions.all():
            if session.stream is not None:
                session.stream.close()
        for stream in list(self._listening):
            self._end_stream(stream)

    def cancel_calls(self) -> None:
        """Asks the calls under way to come to an end; what they have not committed is undone."""
        self._runner.is_stopping = True

    def wait_idle(self, within_s: float) -> bool:
        """Ends the idle work; says whether it came to rest in time."""
        return self._runner.indexing.stop(within_s)

    async def _of_session(
        self, method: str, version: str, headers: dict[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        """A client listens to what happens in its session, or ends it."""
        session = self._session(version, headers)
        if isinstance(session, tuple):
            await _refuse(send, *session)
        elif method == "DELETE":
            self._sessions.end(session)
            await reply(send, 200)
        elif not _accepts(headers, b"text/event-stream"):
            await _refuse(send, 406, "Not acceptable: the client must accept text/event-stream")
        else:
            stream = Stream()
            session.listen(stream)
            if session.watch is not None:
                self._newsroom.subscribe(session.watch, stream)
            await pump(stream, receive, send)

    def _session(self, version: str, headers: dict[bytes, bytes]) -> Session | tuple[int, str]:
        """The session that a request belongs to, or why there is none."""
        if version and version not in HANDSHAKE_VERSIONS:
            return 400, f"Unsupported protocol version: {version[:100]}; known: {', '.join(HANDSHAKE_VERSIONS)}"
        given = headers.get(b"mcp-session-id")
        if given is None:
            return 400, "Bad request: the header Mcp-Session-Id is missing; initialize opens a session"
        session = self._sessions.find(given.decode("latin-1"))
        return session or (404, "Not found: this session has ended; initialize opens another")

    async def _post(self, scope: Scope, receive: Receive, send: Send, version: str) -> None:
        headers = scope[HEADERS]
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != JSON:
            await _refuse(send, 415, "Unsupported media type: messages are sent as application/json")
            return
        if not _accepts(headers, JSON):
            await _refuse(send, 406, "Not acceptable: the client must accept application/json")
            return
        body = await read_body(scope, receive, headers, MAX_LINE_BYTES)
        if isinstance(body, tuple):
            await _refuse(send, *body)
            return
        message = read(body) if len(body) < _LARGE_BYTES else await in_thread(read, body)
        try:
            protocol = self._protocol_of(scope["query_string"])
        except MossError as error:
            await _refuse(send, 400, error.message)
            return
        exchange = ResponseWriter(receive, send, streams=_accepts(headers, b"text/event-stream"))
        if (version and version not in HANDSHAKE_VERSIONS) or _names_version(message):
            await self._stateless(message, headers, version, protocol, exchange)
        else:
            await self._handshake(message, headers, version, protocol, exchange)

    def _protocol_of(self, query: bytes) -> Protocol:
        """What answers: `/mcp?workspace=shop&toolsets=core` sets the connection's default workspace and its tools."""
        if not query:
            return self._protocol
        try:
            fields = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=10, errors="strict")
        except ValueError:
            raise invalid_request("the address takes `?workspace=` and `?toolsets=`, with names in UTF-8") from None
        named = [(name, value) for name, value in fields if name in ("workspace", "toolsets")]
        if not named:
            return self._protocol
        asked = dict(named)
        if len(asked) < len(named):
            raise invalid_request("the address names `workspace` or `toolsets` twice; a connection has one of each")
        tools = self._context.tools_for(asked.get("workspace"), asked.get("toolsets"))
        return Protocol(lambda: tools)

    async def _handshake(
        self, message: Any, headers: dict[bytes, bytes], version: str, protocol: Protocol, exchange: ResponseWriter
    ) -> None:
        """Answers what belongs to a session, or opens one."""
        if isinstance(message, dict) and message.get("method") == "initialize" and b"mcp-session-id" not in headers:
            await self._open(message, protocol, exchange)
            return
        session = self._session(version, headers)
        if isinstance(session, tuple):
            await exchange.answer(failure(NO_ID, INVALID_REQUEST, session[1]), status=session[0])
        elif isinstance(message, list):
            await self._batch(message, session, protocol, exchange)
        else:
            await self._one(message, session, protocol, exchange)

    async def _open(self, message: dict[str, Any], protocol: Protocol, exchange: ResponseWriter) -> None:
        answer = protocol.answer(message)
        assert answer is None or isinstance(answer, bytes)
        if answer is None or isinstance(answer, Failure):
            await exchange.answer(answer, status=400)
            return
        asked = message.get("params")
        version = asked.get("protocolVersion") if isinstance(asked, dict) else None
        known = version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        opened = self._sessions.open(str(known))
        await exchange.answer(answer, headers=[(b"mcp-session-id", opened.id.encode())])

    async def _one(self, message: Any, session: Session, protocol: Protocol, exchange: ResponseWriter) -> None:
        outcome = protocol.answer(message)
        if isinstance(outcome, ToolCall):
            session.begin(outcome)
            try:
                await exchange.run(self._runner, outcome)
            finally:
                session.finish(outcome)
        elif isinstance(outcome, Cancellation):
            session.cancel(outcome.key)
            await exchange.answer(None)
        elif isinstance(outcome, (StoreRequest, SubscribeRequest)):
            await exchange.answer(await self._asked(outcome, session))
        elif isinstance(outcome, Listening):
            raise AssertionError("the handshake era has no such request")
        else:
            malformed = isinstance(outcome, Failure) and not isinstance(message, dict)
            await exchange.answer(outcome, status=400 if malformed else 200)

    async def _asked(self, asked: StoreRequest | SubscribeRequest, session: Session) -> bytes:
        """The answer to what asks the store without a tool; who saw the list or an address may hear of changes."""
        if isinstance(asked, StoreRequest):
            answer = await in_thread(handle, asked, self._context.store)
            if asked.request.method == "resources/list" and session.watch is None:
                session.watch = Subscription(asked.tools)
            if asked.request.method == "resources/list" and session.watch is not None:
                watch = session.watch
                await in_thread(lambda: watch.add_list(self._context.store()))
        else:
            session.watch = session.watch or Subscription(asked.tools)
            answer = await in_thread(subscribed, session.watch, asked, self._context.store)
        if session.watch is not None and session.stream is not None:
            self._newsroom.subscribe(session.watch, session.stream)
        return answer

    async def _batch(self, messages: list[Any], session: Session, protocol: Protocol, exchange: ResponseWriter) -> None:
        """Answers an array of messages, one after the other, with an array."""
        if session.version != BATCH_VERSION or not messages:
            why = "the batch is empty" if not messages else f"batches belong to version {BATCH_VERSION}"
            await exchange.answer(failure(NO_ID, INVALID_REQUEST, f"Invalid request: {why}"), status=400)
            return
        answers = []
        for message in messages:
            outcome = protocol.answer(message)
            if isinstance(outcome, ToolCall):
                call = outcome
                session.begin(call)
                try:
                    outcome = await self._runner.run(call)
                finally:
                    session.finish(call)
            elif isinstance(outcome, (StoreRequest, SubscribeRequest)):
                outcome = await self._asked(outcome, session)
            elif isinstance(outcome, Cancellation):
                session.cancel(outcome.key)
            if isinstance(outcome, bytes):
                answers.append(outcome)
        await exchange.answer(b"[" + b",".join(answers) + b"]" if answers else None)

    async def _stateless(
        self, message: Any, headers: dict[bytes, bytes], version: str, protocol: Protocol, exchange: ResponseWriter
    ) -> None:
        """Answers a request that says everything about itself."""
        if isinstance(message, InvalidMessage):
            message.stateless = True
            refusal = protocol.answer(message)
            assert isinstance(refusal, bytes)
            await exchange.answer(refusal, status=stateless.status_of(refusal))
            return
        if not isinstance(message, dict):
            why = "Invalid request: one message at a time"
            await exchange.answer(failure(NO_ID, INVALID_REQUEST, why), status=400)
            return
        if "id" not in message:
            known = version == STATELESS_VERSION
            await exchange.answer(None if known else stateless.unsupported(version), status=202 if known else 400)
            return
        refused = stateless.refusal(message, headers)
        outcome = refused or protocol.answer(message)
        if isinstance(outcome, ToolCall):
            await exchange.run(self._runner, outcome)
            return
        if isinstance(outcome, Listening):
            outcome = await self._listen(outcome, exchange)
            if outcome is None:
                return
        if isinstance(outcome, StoreRequest):
            outcome = await in_thread(handle, outcome, self._context.store)
        if isinstance(outcome, bytes):
            await exchange.answer(outcome, status=stateless.status_of(outcome))
        else:
            await exchange.answer(failure(NO_ID, INVALID_REQUEST, "Invalid request: no answer is due"), status=400)

    async def _listen(self, listening: Listening, exchange: ResponseWriter) -> bytes | None:
        """Answers a request to listen with a stream that lasts; the refusal where it cannot."""
        if not exchange.streams:
            return failure(listening.request.id, INVALID_REQUEST, "Not acceptable: the answer is text/event-stream")
        try:
            watch, acknowledged = await in_thread(lambda: listen(self._context.store(), listening))
        except MossError as error:
            return failure(listening.request.id, INVALID_PARAMS, error.message, error.payload())
        if len(self._listening) >= MOST:
            self._end_stream(next(iter(self._listening)))
        stream = Stream()
        self._listening[stream] = listening
        stream.put(acknowledged)
        self._newsroom.subscribe(watch, stream)
        try:
            await exchange.pump(stream)
        finally:
            self._newsroom.forget(watch)
            self._listening.pop(stream, None)
        return None

    def _end_stream(self, stream: Stream) -> None:
        """Ends a stream as its request promised: with an answer."""
        listening = self._listening.pop(stream)
        stream.put(ended(listening.request))
        stream.close()


def _names_version(message: Any) -> bool:
    """Whether a message says in its `_meta` that it is of the stateless era; `initialize` never does."""
    params = message.get("params") if isinstance(message, dict) and message.get("method") != "initialize" else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION_KEY in meta


def _accepts(headers: dict[bytes, bytes], kind: bytes) -> bool:
    """Whether the client takes answers of a type; who says nothing takes any."""
    given = headers.get(b"accept")
    if given is None:
        return True
    wanted = (kind, kind.partition(b"/")[0] + b"/*", b"*/*")
    return any(part.partition(b";")[0].strip().lower() in wanted for part in given.split(b","))


async def _refuse(send: Send, status: int, message: str) -> None:
    """Refuses a request whose message was not looked at."""
    await reply(send, status, failure(NO_ID, INVALID_REQUEST, message), kind=JSON, headers=UNREAD.get(status, ()))
