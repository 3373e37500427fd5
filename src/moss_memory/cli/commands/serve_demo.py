"""`moss serve --demo`: a server on a temporary store with demonstration data."""

from __future__ import annotations

import os
import signal
import tempfile

from moss_memory.cli.render.output import STDIN, is_terminal, say, show, show_paragraph
from moss_memory.config import load_config, resolve_home
from moss_memory.connect.moss_command import moss_for_people
from moss_memory.errors import MossError
from moss_memory.storage.files.demonstration import BANNER, PREFIX
from moss_memory.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.http.bind import BindConfig
    from moss_memory.http.server import MossServer

TIMEOUT_S = 30


def serve_demo(own_home: str | None, bind: BindConfig, *, port: int, read_only: bool, log_all: bool) -> int:
    """Serve the demonstration until Ctrl-C; without a terminal check that it answers, and stop.

    The port may differ from the default: no client is connected to a temporary store.
    """
    from moss_memory.demo import fill
    from moss_memory.demo.project_repository import REPOSITORY, make_repository
    from moss_memory.http.server import MossServer

    own_folder = resolve_home(own_home)
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):  # until the server handles them
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # `nohup` ignores it
            signal.signal(number, lambda number, _: stopped.append(number))
    with tempfile.TemporaryDirectory(prefix=PREFIX) as home:
        show_paragraph("Filling a temporary store with an example project; your own store is not touched.")
        folder = os.path.join(home, REPOSITORY)
        try:
            states = make_repository(folder)
            with Store(load_config(home, cwd=home)) as store:
                fill(store, states)
        except Exception:
            if not stopped:  # Ctrl-C also ends the programs that the process has started
                raise
        if stopped:
            return 128 + stopped[0]
        os.chdir(folder)  # capsules are compared with the repository of the current folder
        server = MossServer(
            home,
            bind,
            port=port,
            or_next_port=True,
            read_only=read_only,
            log_all=log_all,
            own_home=own_folder,
        )
        if not is_terminal(STDIN):
            return _check_pages(server)
        return server.run(
            # Repeat a signal that came while the server started.
            on_ready=lambda: os.kill(os.getpid(), stopped[0]) if stopped else _announce(server),
            on_line=lambda: show(server.new_link()),
        )


def _announce(server: MossServer) -> None:
    """Print the address of the pages and the sign-in link; agents connect to the user's own store."""
    show("")
    show_paragraph(f"{BANNER}: {server.address}{', read-only,' if server.read_only else ''} until Ctrl-C.")
    show("")
    show_paragraph("Open this link in a browser. It works once, within five minutes; Enter prints a new one:")
    show(f"  {server.new_link()}\n")
    show(f"Your own store is served by: {moss_for_people()} serve")


def _check_pages(server: MossServer) -> int:
    """Request the pages as a browser does, print the result and stop the server; return 0 if all succeeded."""
    import threading

    failed: list[Exception] = []

    def ask() -> None:
        try:
            show(f"Pages at {server.address} answer: {_page_title(server)}")
        except Exception as error:
            failed.append(error)
        os.kill(os.getpid(), signal.SIGTERM)

    server.run(on_ready=lambda: threading.Thread(target=ask, daemon=True).start())
    if failed:
        raise MossError("INTERNAL", "the server does not respond correctly") from failed[0]
    show("")
    show_paragraph(
        f"There is no terminal, so the server has stopped. To keep it running: {moss_for_people()} serve --demo"
    )
    show(f"Your own store is served by: {moss_for_people()} serve")
    return 0


def _page_title(server: MossServer) -> str:
    """Sign in by the link as a browser does, and return the first page's title."""
    import re
    from http.cookiejar import CookieJar
    from urllib.request import HTTPCookieProcessor, Request, build_opener

    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    spend = Request(server.new_link(), b"", {"Origin": server.address})  # noqa: S310 - our own address
    page = browser.open(spend, timeout=TIMEOUT_S).read().decode()
    match = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    if match is None:
        say(page[:500])
        raise ValueError("the first page has no title")
    return match[1].strip()
