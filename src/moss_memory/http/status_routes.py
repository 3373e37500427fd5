"""The routes for operators and clients: is the process alive, is the store ready, counters, metadata of OAuth."""

from __future__ import annotations

import asyncio
import json
import time

from starlette.types import Scope, Send

from moss_memory.errors import MossError
from moss_memory.mcp.server_context import ServerContext
from moss_memory.search.embedding_queue import count_unembedded

from .connection_limits import LOOPBACK_PEERS
from .mcp_endpoint import Endpoint
from .metrics import KIND, METRICS
from .oauth import METADATA_PATH
from .origin_guard import HEALTH, PROBES, READY, request_origin
from .send_response import JSON, send_response
from .thread_pools import in_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction

METRICS_PATH = "/metrics"
METADATA_PATHS = (METADATA_PATH, f"{METADATA_PATH}/mcp")
"""The second one is the place by RFC 9728 of the metadata of `/mcp`."""
PATHS = (*PROBES, METRICS_PATH, *METADATA_PATHS)
READY_TIMEOUT_S = 2.0
_READY_AGE_S = 0.5
"""The time for which an answer of the store is reused, because any client may send requests."""


class StatusRoutes:
    """Answers these routes; `/metrics` needs a token, or a client on this machine, not behind a proxy."""

    def __init__(self, context: ServerContext, endpoint: Endpoint, *, behind_proxy: bool) -> None:
        self._context = context
        self._endpoint = endpoint
        self._behind_proxy = behind_proxy
        self._check: asyncio.Future[bool] | None = None
        self._answered_s = float("-inf")
        self._is_ready = False

    async def __call__(self, scope: Scope, send: Send) -> None:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            await send_response(send, 405, headers=[(b"allow", b"GET")])
        elif path == HEALTH:
            await send_response(send, 200, "ok")
        elif path == READY:
            ready = await self._ready()
            await send_response(send, 200 if ready else 503, "ok" if ready else "not ready")
        elif path in METADATA_PATHS:
            if self._endpoint.oauth is None:
                await send_response(send, 404, "there is nothing here\n")
            else:
                metadata = self._endpoint.oauth.metadata(request_origin(scope))
                await send_response(send, 200, json.dumps(metadata), kind=JSON)
        elif self._is_local(scope) or await self._endpoint.authorize(scope) is not None:
            await send_response(send, 200, await in_thread(self._metrics), kind=KIND)
        else:
            await self._endpoint.refuse_unauthorized(scope, send)

    def _is_local(self, scope: Scope) -> bool:
        client = scope.get("client")
        return not self._behind_proxy and client is not None and client[0].startswith(LOOPBACK_PEERS)

    async def _ready(self) -> bool:
        """Check the store; requests at the same time share one check, and its result for half a second."""
        if time.monotonic() - self._answered_s < _READY_AGE_S:
            return self._is_ready
        if self._check is None or self._check.done():
            self._check = asyncio.ensure_future(in_thread(self._check_store))
        try:
            self._is_ready = await asyncio.wait_for(asyncio.shield(self._check), READY_TIMEOUT_S)
        except TimeoutError:
            return False
        self._answered_s = time.monotonic()
        return self._is_ready

    def _check_store(self) -> bool:
        try:
            return self._context.store().read(_can_read, what="ready", snapshot=False, timeout_s=0.0)
        except MossError:
            return False

    def _metrics(self) -> str:
        sessions, streams = self._endpoint.counts()
        gauges: list[tuple[str, str, float]] = [
            ("moss_sessions", "Sessions that this process has in memory.", sessions),
            ("moss_streams", "Open event streams.", streams),
        ]
        try:
            store = self._context.store()
            used, waiting = store.connections()
            pending = store.read(count_unembedded, what="metrics", snapshot=False, timeout_s=0.0)
            gauges += [
                ("moss_connections_in_use", "Connections to the store in use.", used),
                ("moss_connections_waiting", "Calls that wait for a connection to the store.", waiting),
                ("moss_vectors_pending", "Texts that wait for their vectors.", pending),
                ("moss_store_bytes", "The size of the store.", store.size_bytes()),
                ("moss_store_up", "Whether the store answers.", 1),
            ]
        except MossError:
            gauges.append(("moss_store_up", "Whether the store answers.", 0))
        return METRICS.text(gauges)


def _can_read(tx: ReadTransaction) -> bool:
    return bool(tx.value("select 1 from (select count(*) from access_keys) as counted") == 1)
