"""MCP over HTTP: one path, protected by the token."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from moss_memory.errors import MossError, invalid_request
from moss_memory.mcp.background_index import BackgroundIndexer
from moss_memory.mcp.handlers import handle
from moss_memory.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_LINE_BYTES,
    NO_ID,
    Failure,
    InvalidMessage,
    failure,
    parse_line,
)
from moss_memory.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    STATELESS_VERSION,
    VERSION_KEY,
    Cancellation,
    ListenRequest,
    Protocol,
    StoreRequest,
    SubscribeRequest,
    ToolCall,
    client_name,
    tool_failure,
)
from moss_memory.mcp.server_context import ServerContext
from moss_memory.mcp.subscriptions import Subscription, apply_subscription, final_response, listen
from moss_memory.storage.call import clean_actor

from . import stateless_headers
from .call_limits import CallLimits, retry_after_s
from .metrics import METRICS
from .notifier import ChangeNotifier
from .oauth import SCOPES, InsufficientScopeError, OAuth, challenge
from .origin_guard import REQUEST_HEADERS, request_origin
from .request_body import UNREAD, read_body
from .request_log import LOG_TOKEN, LOG_TOOLS
from .send_response import JSON, send_response
from .session_journal import SessionJournal
from .sessions import Session, Sessions
from .sse import Stream, send_stream
from .thread_pools import in_thread
from .timeouts import MARK_AUTHENTICATED
from .token_registry import Access, TokenRegistry
from .tool_responses import ResponseWriter, Runner

BATCH_VERSION = "2025-03-26"
"""The one version in which an array of messages may be sent."""

_SCOPE_MISSING = "moss.scope_missing"
"""Scope key of a request whose JWT has no scope of this server."""

_LARGE_BYTES = 65_536
"""Minimum size of a message that is parsed on a thread, so that the event loop is not blocked."""

_HOW = """\
Moss answers programs that send a token of this store: the one in the file `token` of its home folder, or one that
`moss token add NAME` has printed and that is neither revoked nor expired:

    Authorization: Bearer TOKEN

For example: claude mcp add --transport http moss ADDRESS/mcp --header "Authorization: Bearer $(cat ~/.moss/token)"
"""


class Endpoint:
    """The ASGI application for `/mcp`."""

    def __init__(self, context: ServerContext, token: str, oauth: OAuth | None = None) -> None:
        self._context = context
        self.oauth = oauth
        config = context.config()
        self.tokens = TokenRegistry(context.store, token, oauth)
        self.tokens.holders = self.tokens_in_use
        self.tokens.on_revoke = self.revoke_token
        self._limits = CallLimits(config.token_calls_per_minute, config.token_calls_at_once)
        self._protocol = Protocol(context.tools, context.session_summary)
        self._runner = Runner(context)
        self._sessions = Sessions(SessionJournal(context.store))
        self._notifier = ChangeNotifier(context)
        self._listening: dict[Stream, tuple[ListenRequest, Access]] = {}
        self._running: dict[ToolCall, str] = {}
        """The running calls with the hashes of their tokens."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope[REQUEST_HEADERS]
        method = scope["method"]
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
        try:
            access = await self.authorize(scope)
            if access is None:
                await self.refuse_unauthorized(scope, send)
            elif method == "POST":
                await self._handle_post(scope, receive, send, version, access)
            elif method not in ("GET", "DELETE") or version == STATELESS_VERSION:
                allowed = b"POST" if version == STATELESS_VERSION else b"GET, POST, DELETE"
                await send_response(send, 405, headers=[(b"allow", allowed)])
            else:
                await self._handle_session(method, version, headers, access, receive, send)
        except MossError as error:  # the store of the named tokens and session keys is unreachable
            refusal = failure(NO_ID, INTERNAL_ERROR, error.message, error.payload())
            await send_response(send, 503, refusal, kind=JSON, headers=[(b"retry-after", b"1")])

    async def authorize(self, scope: Scope) -> Access | None:
        """Return the access of a request with an accepted token, and mark its connection as authenticated."""
        scheme, _, token = scope[REQUEST_HEADERS].get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        try:
            access = await self.tokens.find(token.strip())
        except InsufficientScopeError:
            scope[_SCOPE_MISSING] = True
            return None
        if access is not None:
            scope[MARK_AUTHENTICATED]()
            scope[LOG_TOKEN] = access.name
        return access

    def tokens_in_use(self) -> set[str]:
        """Return the tokens that have an open stream or a running call."""
        tokens = {session.token for session in self._sessions.all() if session.is_in_use}
        return tokens | {access.key for _, access in self._listening.values()} | set(self._running.values())

    def revoke_token(self, token: str) -> None:
        """End the sessions, streams and running calls of a token."""
        self._sessions.revoke_token(token)
        for stream in [stream for stream, (_, access) in self._listening.items() if access.key == token]:
            self._end_stream(stream)
        for call, key in self._running.items():
            call.cancelled = call.cancelled or key == token

    def counts(self) -> tuple[int, int]:
        sessions = self._sessions.all()
        return len(sessions), sum([session.is_listening for session in sessions]) + len(self._listening)

    async def refuse_unauthorized(self, scope: Scope, send: Send) -> None:
        """Refuse a request without an accepted token; the response explains how to get one."""
        if self.oauth is None:
            await send_response(send, 401, _HOW, headers=[(b"www-authenticate", b"Bearer")])
            return
        insufficient = scope.get(_SCOPE_MISSING, False)
        header = challenge(
            request_origin(scope), presented=b"authorization" in scope[REQUEST_HEADERS], insufficient=insufficient
        )
        why = f"the token has none of the scopes {' and '.join(SCOPES)}\n" if insufficient else _HOW
        await send_response(send, 403 if insufficient else 401, why, headers=[(b"www-authenticate", header)])

    def close_streams(self) -> None:
        for session in self._sessions.all():
            if session.stream is not None:
                session.stream.close()
        for stream in list(self._listening):
            self._end_stream(stream)

    def cancel_calls(self) -> None:
        self._runner.is_stopping = True

    @property
    def indexing(self) -> BackgroundIndexer:
        return self._runner.indexing

    async def _handle_session(
        self, method: str, version: str, headers: dict[bytes, bytes], access: Access, receive: Receive, send: Send
    ) -> None:
        """Open the event stream of a session (GET) or end the session (DELETE)."""
        session = await self._session(version, headers, access)
        if isinstance(session, tuple):
            await _refuse(send, *session)
        elif method == "DELETE":
            await self._sessions.end(session)
            await send_response(send, 200)
        elif not _accepts(headers, b"text/event-stream"):
            await _refuse(send, 406, "Not acceptable: the client must accept text/event-stream")
        else:
            stream = Stream()
            session.set_stream(stream)
            if session.subscription is not None:
                self._notifier.subscribe(session.subscription, stream)
            await send_stream(stream, receive, send)

    async def _session(self, version: str, headers: dict[bytes, bytes], access: Access) -> Session | tuple[int, str]:
        """Return the session of a request, or status and reason of the refusal."""
        if version and version not in HANDSHAKE_VERSIONS:
            return 400, f"Unsupported protocol version: {version[:100]}; known: {', '.join(HANDSHAKE_VERSIONS)}"
        session_id = headers.get(b"mcp-session-id")
        if session_id is None:
            return 400, "Bad request: the header Mcp-Session-Id is missing; initialize opens a session"
        session = await self._sessions.find(session_id.decode("latin-1"), access.key)
        return session or (404, "Not found: this session has ended; initialize opens another")

    async def _handle_post(self, scope: Scope, receive: Receive, send: Send, version: str, access: Access) -> None:
        headers = scope[REQUEST_HEADERS]
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
        message = parse_line(body) if len(body) < _LARGE_BYTES else await in_thread(parse_line, body)
        try:
            protocol = self._protocol_for(scope["query_string"], access)
        except MossError as error:
            await _refuse(send, 400, error.message)
            return
        response = ResponseWriter(scope, receive, send, access, streams=_accepts(headers, b"text/event-stream"))
        if (version and version not in HANDSHAKE_VERSIONS) or _is_stateless(message):
            await self._handle_stateless(message, headers, version, protocol, response)
        else:
            await self._handle_handshake(message, headers, version, protocol, response)

    def _protocol_for(self, query: bytes, access: Access) -> Protocol:
        """Return the protocol with the workspace and tools of a query such as `?workspace=shop&toolsets=core`."""
        if not query and not access.read_only:
            return self._protocol
        try:
            fields = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=10, errors="strict")
        except ValueError:
            raise invalid_request("the address takes `?workspace=` and `?toolsets=`, with names in UTF-8") from None
        settings = [(name, value) for name, value in fields if name in ("workspace", "toolsets")]
        if not settings and not access.read_only:
            return self._protocol
        values = dict(settings)
        if len(values) < len(settings):
            raise invalid_request("the address names `workspace` or `toolsets` twice; a connection has one of each")
        tools = self._context.tools_for(values.get("workspace"), values.get("toolsets"), read_only=access.read_only)
        return Protocol(lambda: tools, self._context.session_summary)

    async def _handle_handshake(
        self, message: Any, headers: dict[bytes, bytes], version: str, protocol: Protocol, response: ResponseWriter
    ) -> None:
        if isinstance(message, dict) and message.get("method") == "initialize" and b"mcp-session-id" not in headers:
            await self._open_session(message, protocol, response)
            return
        session = await self._session(version, headers, response.access)
        if isinstance(session, tuple):
            await response.answer(failure(NO_ID, INVALID_REQUEST, session[1]), status=session[0])
        elif isinstance(message, list):
            await self._handle_batch(message, session, protocol, response)
        else:
            await self._handle_message(message, session, protocol, response)

    async def _open_session(self, message: dict[str, Any], protocol: Protocol, response: ResponseWriter) -> None:
        answer = await in_thread(protocol.answer, message)  # the instructions read the store
        assert answer is None or isinstance(answer, bytes)
        if answer is None or isinstance(answer, Failure):
            await response.answer(answer, status=400)
            return
        params = message.get("params")
        version = params.get("protocolVersion") if isinstance(params, dict) else None
        client = client_name(params.get("clientInfo")) if isinstance(params, dict) else ""
        supported_version = version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        opened = await self._sessions.open(str(supported_version), client, response.access.key)
        await response.answer(answer, headers=[(b"mcp-session-id", opened.id.encode())])

    async def _handle_message(
        self, message: Any, session: Session, protocol: Protocol, response: ResponseWriter
    ) -> None:
        outcome = protocol.answer(message)
        if isinstance(outcome, ToolCall):
            await self._run_tool(outcome, response, session)
        elif isinstance(outcome, Cancellation):
            session.cancel(outcome.key)
            await response.answer(None)
        elif isinstance(outcome, (StoreRequest, SubscribeRequest)):
            store_request = outcome
            answer, refused = await self._limited(
                response.access, store_request, lambda: self._run_store_request(store_request, session)
            )
            await self._send(response, answer, refused)
        elif isinstance(outcome, ListenRequest):
            raise AssertionError("protocol versions with a handshake have no such request")
        else:
            malformed = isinstance(outcome, Failure) and not isinstance(message, dict)
            await response.answer(outcome, status=400 if malformed else 200)

    async def _run_tool(self, call: ToolCall, response: ResponseWriter, session: Session | None = None) -> None:
        """Run a tool call and send its response, or status 429 if its token makes too many calls."""
        with self._registered(call, response, session) as refused:
            if refused is None:
                await response.run(self._runner, call)
                return
        await self._send(response, tool_failure(call, refused), refused)

    async def _run_in_batch(self, call: ToolCall, response: ResponseWriter, session: Session) -> bytes:
        with self._registered(call, response, session) as refused:
            return tool_failure(call, refused) if refused is not None else await self._runner.run(call)

    @contextlib.contextmanager
    def _registered(
        self, call: ToolCall, response: ResponseWriter, session: Session | None
    ) -> Iterator[MossError | None]:
        """Set the actor of a call and register it while it runs; yield the refusal if its token makes too many."""
        client = call.actor or (session.client if session is not None else "")
        call.actor = clean_actor(response.access.name, client)
        response.scope.setdefault(LOG_TOOLS, []).append(call.tool)
        refused = self._limits.enter(response.access.key)
        if refused is not None:
            METRICS.observe(call.tool, refused.code, 0.0)
            yield refused
            return
        self._running[call] = response.access.key
        if session is not None:
            session.begin(call)
        try:
            yield None
        finally:
            self._limits.leave(response.access.key)
            del self._running[call]
            if session is not None:
                session.finish(call)

    async def _limited(
        self, access: Access, store_request: StoreRequest | SubscribeRequest, run: Callable[[], Awaitable[bytes]]
    ) -> tuple[bytes, MossError | None]:
        """Run a request without a tool within the limits of its token; return the answer and the refusal."""
        refused = self._limits.enter(access.key)
        if refused is not None:
            return failure(store_request.request.id, INTERNAL_ERROR, refused.message, refused.payload()), refused
        try:
            return await run(), None
        finally:
            self._limits.leave(access.key)

    async def _send(
        self, response: ResponseWriter, answer: bytes, refused: MossError | None, status: int = 200
    ) -> None:
        if refused is None:
            await response.answer(answer, status=status)
        else:
            wait = str(retry_after_s(refused)).encode()
            await response.answer(answer, status=refused.status, headers=[(b"retry-after", wait)])

    async def _run_store_request(self, store_request: StoreRequest | SubscribeRequest, session: Session) -> bytes:
        """Run a request that is not a tool call; update the session's subscriptions."""
        if isinstance(store_request, StoreRequest):
            answer = await in_thread(handle, store_request, self._context.store)
            if store_request.request.method == "resources/list" and session.subscription is None:
                session.subscription = Subscription(store_request.tools)
            if store_request.request.method == "resources/list" and session.subscription is not None:
                subscription = session.subscription
                await in_thread(lambda: subscription.add_list(self._context.store()))
        else:
            session.subscription = session.subscription or Subscription(store_request.tools)
            answer = await in_thread(apply_subscription, session.subscription, store_request, self._context.store)
        if session.subscription is not None and session.stream is not None:
            self._notifier.subscribe(session.subscription, session.stream)
        return answer

    async def _handle_batch(
        self, messages: list[Any], session: Session, protocol: Protocol, response: ResponseWriter
    ) -> None:
        if session.version != BATCH_VERSION or not messages:
            why = "the batch is empty" if not messages else f"batches belong to version {BATCH_VERSION}"
            await response.answer(failure(NO_ID, INVALID_REQUEST, f"Invalid request: {why}"), status=400)
            return
        answers = []
        for message in messages:
            outcome = protocol.answer(message)
            if isinstance(outcome, ToolCall):
                outcome = await self._run_in_batch(outcome, response, session)
            elif isinstance(outcome, (StoreRequest, SubscribeRequest)):
                store_request = outcome
                run = functools.partial(self._run_store_request, store_request, session)
                outcome, _ = await self._limited(response.access, store_request, run)
            elif isinstance(outcome, Cancellation):
                session.cancel(outcome.key)
            if isinstance(outcome, bytes):
                answers.append(outcome)
        await response.answer(b"[" + b",".join(answers) + b"]" if answers else None)

    async def _handle_stateless(
        self, message: Any, headers: dict[bytes, bytes], version: str, protocol: Protocol, response: ResponseWriter
    ) -> None:
        if isinstance(message, InvalidMessage):
            message.stateless = True
            refusal = protocol.answer(message)
            assert isinstance(refusal, bytes)
            await response.answer(refusal, status=stateless_headers.http_status(refusal))
            return
        if not isinstance(message, dict):
            why = "Invalid request: one message at a time"
            await response.answer(failure(NO_ID, INVALID_REQUEST, why), status=400)
            return
        if "id" not in message:
            is_supported = version == STATELESS_VERSION
            await response.answer(
                None if is_supported else stateless_headers.unsupported_version(version),
                status=202 if is_supported else 400,
            )
            return
        refused = stateless_headers.header_mismatch(message, headers)
        outcome: Any = refused
        if refused is None:  # the instructions of `server/discover` read the store
            discovers = message.get("method") == "server/discover"
            outcome = await in_thread(protocol.answer, message) if discovers else protocol.answer(message)
        if isinstance(outcome, ToolCall):
            await self._run_tool(outcome, response)
            return
        if isinstance(outcome, ListenRequest):
            outcome = await self._listen(outcome, response)
            if outcome is None:
                return
        limited = None
        if isinstance(outcome, StoreRequest):
            store_request = outcome
            outcome, limited = await self._limited(
                response.access, store_request, lambda: in_thread(handle, store_request, self._context.store)
            )
        if isinstance(outcome, bytes):
            await self._send(response, outcome, limited, stateless_headers.http_status(outcome))
        else:
            await response.answer(failure(NO_ID, INVALID_REQUEST, "Invalid request: no answer is due"), status=400)

    async def _listen(self, listening: ListenRequest, response: ResponseWriter) -> bytes | None:
        """Open a stream of notifications and send it until its end; return the refusal if the request is invalid."""
        if not response.streams:
            return failure(listening.request.id, INVALID_REQUEST, "Not acceptable: the answer is text/event-stream")
        try:
            subscription, acknowledged = await in_thread(lambda: listen(self._context.store(), listening))
        except MossError as error:
            return failure(listening.request.id, INVALID_PARAMS, error.message, error.payload())
        stream = Stream()
        self._listening[stream] = listening, response.access
        stream.put(acknowledged)
        self._notifier.subscribe(subscription, stream)
        try:
            await send_stream(stream, response.receive, response.send)
        finally:
            self._notifier.unsubscribe(subscription)
            self._listening.pop(stream, None)
        return None

    def _end_stream(self, stream: Stream) -> None:
        listening, _ = self._listening.pop(stream)
        stream.put(final_response(listening.request))
        stream.close()


def _is_stateless(message: Any) -> bool:
    """Return True if a message names a protocol version in its `_meta`; `initialize` never does."""
    params = message.get("params") if isinstance(message, dict) and message.get("method") != "initialize" else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION_KEY in meta


def _accepts(headers: dict[bytes, bytes], kind: bytes) -> bool:
    """Return True if the client accepts a media type; without the header it accepts any."""
    header = headers.get(b"accept")
    if header is None:
        return True
    media_ranges = (kind, kind.partition(b"/")[0] + b"/*", b"*/*")
    return any(part.partition(b";")[0].strip().lower() in media_ranges for part in header.split(b","))


async def _refuse(send: Send, status: int, message: str) -> None:
    body = failure(NO_ID, INVALID_REQUEST, message)
    await send_response(send, status, body, kind=JSON, headers=UNREAD.get(status, ()))
