"""A process that serves a store over HTTP: MCP for programs, pages for people."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from moss_memory.config import resolve_home
from moss_memory.errors import invalid_request
from moss_memory.log import LogStyle
from moss_memory.mcp.protocol import ExceptionLog
from moss_memory.mcp.server_context import ServerContext
from moss_memory.storage.files.demonstration import refuse_demonstration
from moss_memory.storage.postgres.url import without_password

from .bind import BindConfig
from .browser_cookie import BrowserKey
from .connection_limits import ACCEPTS_PER_ITERATION, quiet_accept_errors, raise_limits
from .listener import BACKLOG, open_listener
from .mcp_endpoint import Endpoint
from .oauth import OAuth
from .origin_guard import OriginGuard
from .router import Router, current_form_token
from .send_response import NOSNIFF
from .sign_in import ACTOR as BROWSER_ACTOR
from .sign_in import SIGN_IN, SignIn
from .signed_out import FILE as SIGNED_OUT
from .status_routes import StatusRoutes
from .thread_pools import POOL
from .timeouts import Connection, TlsConnection
from .token_file import load_token, token_path
from .token_registry import Access

FINISH_S = 1.0
"""Time for running calls after a stop signal; the process exits within two seconds."""

CANCELLED_S = 0.2
"""Time for cancelled calls to send their response."""

EXIT_AFTER_SIGNAL_S = 1.8
STOP_WORKERS_S = 0.2
KEEP_ALIVE_S = 75
FILE_TOOLS = ("capsule_import", "capsule_export")
"""Tools that use files of this machine: disabled for remote clients."""


class MossServer:
    """The HTTP server of a store."""

    def __init__(
        self,
        home: str | None,
        bind: BindConfig,
        *,
        port: int,
        or_next_port: bool = False,
        read_only: bool = False,
        log_all: bool = False,
        log_json: bool = False,
        own_home: str = "",
        oauth: OAuth | None = None,
    ) -> None:
        """Bind the port and read the token; `own_home` is the user's home and makes this a demonstration."""
        LogStyle.is_json = log_json
        self.home = resolve_home(home)
        if not own_home:
            refuse_demonstration(self.home)
        self._socket = open_listener(bind.host, port, or_next=or_next_port)
        self._context = ServerContext(
            home,
            read_only=read_only,
            without=FILE_TOOLS if bind.is_remote else (),
            demonstration=bool(own_home),
            actor=BROWSER_ACTOR,
            records_work_tree=False,
            compares_work_tree=not bind.is_remote,
        )
        self._bind = bind
        self.read_only = read_only
        self._own_home = own_home
        self.token_path = token_path(self.home)
        bound_port = self._socket.getsockname()[1]
        self.address = bind.address(bound_port)
        token = load_token(self.home)
        self._endpoint = Endpoint(self._context, token, oauth)
        key = BrowserKey(token)
        self._base = key.base
        self._sign_in = SignIn(key, secure=bind.secure, signed_out=os.path.join(self.home, SIGNED_OUT))
        tokens = self._endpoint.tokens
        tokens.holders = lambda: self._endpoint.tokens_in_use() | self._sign_in.tokens()
        tokens.on_revoke = self._revoke_token
        self._router = Router(
            endpoint=self._endpoint,
            sign_in=self._sign_in,
            status=StatusRoutes(self._context, self._endpoint, behind_proxy=bind.behind_proxy),
            base=self._base,
            new_link=self.new_link,
            pages=self._pages,
            demonstration=bool(own_home),
        )
        self._app = OriginGuard(self._router, origins=bind.origins(bound_port), log_all=log_all or log_json)

    @property
    def served_store(self) -> str:
        """Return the database that is served, without its password, or the home folder."""
        url = self._context.config().url
        return without_password(url) if url else self.home

    def new_link(self, access: Access | None = None) -> str:
        """Return a link that signs in one browser, once, within five minutes; `access` is its token."""
        return f"{self.address}{SIGN_IN}/{self._sign_in.new_link_code(access)}"

    def _revoke_token(self, token: str) -> None:
        self._endpoint.revoke_token(token)
        self._sign_in.revoke_token(token)

    def run(self, *, on_ready: Callable[[], object], on_line: Callable[[], object] | None = None) -> int:
        """Serve until a signal arrives, then for at most two seconds more; return the exit code.

        `on_line` is called for every line typed on stdin.
        """
        self._context.tools()  # reports an invalid configuration now, and no request has to read files
        ExceptionLog.includes_message = False
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        config = self._config()
        try:
            config.load()
        except OSError as error:
            raise invalid_request(f"the files of `tls_cert` and `tls_key` cannot be used ({error})") from None
        limits = raise_limits()
        if config.ssl is None:
            config.http_protocol_class = functools.partial(Connection, limits=limits)  # type: ignore[assignment]
        else:
            protocol = functools.partial(TlsConnection, limits=limits, context=config.ssl)
            config.http_protocol_class, config.ssl = protocol, None  # type: ignore[assignment]
        server = _Uvicorn(config, stop=self._stop, on_ready=on_ready, on_line=on_line)
        asyncio.run(server.serve(sockets=[self._socket]))
        if not (self._endpoint.indexing.stop(STOP_WORKERS_S) and POOL.wait_idle(STOP_WORKERS_S)):
            os._exit(0)  # uncommitted changes of a running call are rolled back
        self._context.close()
        return 0

    def _config(self) -> uvicorn.Config:
        return uvicorn.Config(
            self._app,
            http=Connection,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            backlog=ACCEPTS_PER_ITERATION,
            server_header=False,
            proxy_headers=False,
            headers=[(NOSNIFF[0].decode(), NOSNIFF[1].decode())],
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=FINISH_S + CANCELLED_S,  # type: ignore[arg-type]
            ssl_certfile=self._bind.tls_cert,
            ssl_keyfile=self._bind.tls_key,
        )

    def _stop(self) -> None:
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, EXIT_AFTER_SIGNAL_S)
        self._endpoint.close_streams()
        self._router.end()
        asyncio.get_running_loop().call_later(FINISH_S, self._endpoint.cancel_calls)

    def _pages(self) -> tuple[ASGIApp, frozenset[str]]:
        """Return the pages and the names of pages that may be logged."""
        from starlette.routing import Mount, Router

        from moss_memory.web.app import routes

        page_routes = routes(
            self._context.store(),
            base=self._base,
            form_token=current_form_token,
            read_only=self.read_only,
            own_home=self._own_home,
            indexing=None if self.read_only else self._endpoint.indexing,
        )
        names = frozenset(getattr(route, "path", "").strip("/").partition("/")[0] for route in page_routes)
        return Router([Mount(self._base, routes=page_routes)]), names


class _Uvicorn(uvicorn.Server):
    """uvicorn with its own shutdown: without raising the signal again, and with endless streams closed."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        stop: Callable[[], None],
        on_ready: Callable[[], object],
        on_line: Callable[[], object] | None,
    ) -> None:
        super().__init__(config)
        self._stop = stop
        self._on_ready = on_ready
        self._on_line = on_line

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install signal handlers for the whole process; handlers of the event loop would end with it."""
        loop = asyncio.get_running_loop()

        def handle(*_: object) -> None:
            if not self.should_exit:  # a second signal has nothing to add: the process ends within two seconds
                self.should_exit = True
                loop.call_soon_threadsafe(self._stop)

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # `nohup` ignores it
                signal.signal(number, handle)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(quiet_accept_errors())
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)  # uvicorn has set the backlog to its number of accepts per iteration
        if self._on_line is not None:
            asyncio.get_running_loop().add_reader(0, self._read_stdin)
        self._on_ready()

    def _read_stdin(self) -> None:
        try:
            typed = os.read(0, 1000)
        except OSError:  # the terminal is gone
            typed = b""
        if not typed:
            asyncio.get_running_loop().remove_reader(0)
        elif self._on_line is not None:
            self._on_line()
