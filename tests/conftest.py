"""Fixtures of all tests: an empty store with its own clock, and the interfaces of a store."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import signal
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from contract.doors import Clock, McpDoor, McpServer, StoreDoor, open_test_store
from support.quick_stores import make_stores_for
from support.thorough import ALIKE_ON_POSTGRES, CONTRACT, MARKER, MOVING, REACHING_ENGINE_SQL, set_thorough

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from contract.doors import Door
    from moss_memory.store import Store

MODES = pytest.StashKey[dict[str, str]]()
LEFT_ALONE = (os.devnull, os.path.expanduser("~"), tempfile.gettempdir())
"""Files and folders of the system that tests run by root could damage."""


ONLY_SQLITE = "sqlite"
"""The marker of tests without a meaning on a server, with the reason."""


UNMEASURED = "unmeasured"
"""The marker of tests of times, imports or signals, which a tracer changes: `make coverage` leaves them out."""


MCP_SHARE = 10
"""One in this many contract tests runs through MCP too unless `--door=all`."""


pytest_plugins = ("pytester", "support.promises")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose the engine, the interfaces of the contract and the amount of tests."""
    parser.addoption("--engine", choices=("sqlite", "postgres"), default="sqlite", help="where test stores are kept")
    parser.addoption(
        "--door",
        choices=("some", "all", "store"),
        help="interfaces of contract tests: Store.call and a random tenth by MCP (default), all, or Store.call alone",
    )
    parser.addoption("--thorough", action="store_true", help="run complete matrices, all examples and --door=all")
    parser.addoption("--mcp-seed", type=int, help="the seed that chooses the tenth of contract tests run by MCP")


def pytest_configure(config: pytest.Config) -> None:
    """Set the amount of tests, and start a PostgreSQL server if they run on one."""
    config.addinivalue_line("markers", f"{ONLY_SQLITE}(reason): means nothing where the store is on a server")
    config.addinivalue_line("markers", f"{MARKER}: runs only with --thorough, in `make test-all`")
    config.addinivalue_line(
        "markers", f"{UNMEASURED}: not run by `make coverage`, whose tracer would change the result"
    )
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # children of `nohup make test` would ignore it
    set_thorough(config.option.thorough)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if config.option.thorough else "quick"))
    config.option.door = config.option.door or ("all" if config.option.thorough else "some")
    if config.option.mcp_seed is None:
        given = getattr(config, "workerinput", {})
        config.option.mcp_seed = given.get("mcp_seed", random.randrange(10**6))  # noqa: S311
    if config.getoption("--engine") == "postgres":
        from support.postgres import start_for_tests

        start_for_tests(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return three workers for two cores, because tests wait for disks and servers for about a third of their time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + cores // 2


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the seed to a worker of xdist, because all workers must collect the same tests."""
    node.workerinput["mcp_seed"] = node.config.option.mcp_seed


def pytest_report_header(config: pytest.Config) -> str:
    """Return the seed with which this choice of tests can be repeated."""
    return f"contract through MCP: {config.option.door} (--mcp-seed={config.option.mcp_seed})"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the seed after the failures, because a quiet run has no header."""
    if config.option.door == "some":
        terminalreporter.write_line(
            f"a tenth of the contract ran through MCP, chosen by --mcp-seed={config.option.mcp_seed}"
        )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of PostgreSQL itself if there is no server."""
    return True if collection_path.name == "postgres" and config.getoption("--engine") == "sqlite" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests without a meaning on this engine, and those of interfaces that were not requested."""
    left_out = [item for item in items if not _is_wanted(config, item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_wanted(config, item)]


def _is_wanted(config: pytest.Config, item: pytest.Item) -> bool:
    if item.get_closest_marker(MARKER) and not config.option.thorough:
        return False
    if item.get_closest_marker(UNMEASURED) and _coverage() is not None:
        return False
    if config.getoption("--engine") == "postgres" and not _runs_on_postgres(config, item):
        return False
    return config.option.door == "all" or _runs_through(config.option.door, item)


def _coverage() -> Any:
    """Return the running measurement of coverage, None if there is none."""
    coverage = sys.modules.get("coverage")
    return None if coverage is None else coverage.Coverage.current()


def _runs_on_postgres(config: pytest.Config, item: pytest.Item) -> bool:
    """Return whether a test has a meaning on PostgreSQL and, if reduced, reaches SQL of its own."""
    if item.get_closest_marker(ONLY_SQLITE):
        return False
    if config.option.thorough:
        return True
    if item.path.is_relative_to(CONTRACT):
        return item.path.stem in REACHING_ENGINE_SQL
    return not item.path.is_relative_to(MOVING) or item.path.stem not in ALIKE_ON_POSTGRES


def _runs_through(door: str, item: pytest.Item) -> bool:
    """Return whether a test runs if not all of the contract goes through MCP."""
    given = getattr(item, "callspec", None)
    if given is not None and given.params.get("call") == "mcp":
        seed = item.config.option.mcp_seed
        chosen = hashlib.blake2b(f"{seed} {item.nodeid}".encode()).digest()
        return door == "some" and chosen[0] * 256 + chosen[1] < 65536 // MCP_SHARE
    return door == "some" or "mcp_server" not in getattr(item, "fixturenames", ())


@pytest.fixture(autouse=True)
def _log_reset() -> Iterator[None]:
    """Undo the logging that `--verbose` of a command in this process configured."""
    yield
    logger = logging.getLogger("moss_memory")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


@pytest.fixture(autouse=True)
def _databases_taken_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the next test use the databases of this one."""
    yield
    if request.config.getoption("--engine") == "postgres":
        from support.postgres import databases

        databases().take_back()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let most tests skip the migrations and the syncs."""
    make_stores_for(item.path.relative_to(item.config.rootpath))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Record the modes of files that no test may change."""
    session.config.stash[MODES] = modes_left_alone()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the whole run if such a mode has changed; with xdist only the controller checks."""
    before, after = session.config.stash[MODES], modes_left_alone()
    if not hasattr(session.config, "workerinput") and before != after:
        raise pytest.UsageError(f"the tests changed modes of the system: {before} became {after}")
    if (measured := _coverage()) is not None:
        measured.save()  # xdist kills a worker that takes more than 10 s to end, as one with open servers does


def modes_left_alone() -> dict[str, str]:
    """Return the mode of each of these files that exists."""
    return {path: oct(os.stat(path).st_mode) for path in LEFT_ALONE if os.path.exists(path)}


os.environ.pop("MOSS_WORKSPACE", None)  # that of whoever runs the tests

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    stateful_step_count=30,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
settings.register_profile("thorough", parent=settings.get_profile("ci"), derandomize=False, max_examples=2000)
settings.register_profile("quick", parent=settings.get_profile("ci"), max_examples=20)


@pytest.fixture
def home(tmp_path: Path) -> str:
    """Return the folder of an empty store."""
    return str(tmp_path / "home")


@pytest.fixture
def clock() -> Clock:
    """Return a clock that moves only when a test moves it."""
    return Clock()


@pytest.fixture
def store(home: str, clock: Clock) -> Iterator[Store]:
    """Return an empty store in `home` that uses `clock`."""
    with open_test_store(home, clock) as opened:
        yield opened


@pytest.fixture
def door(store: Store) -> StoreDoor:
    """Return `Store.call` of `store`."""
    return StoreDoor(store)


@pytest.fixture(scope="session")
def mcp_server(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """Start one server process for the whole session, called by the official client."""
    home = str(tmp_path_factory.mktemp("mcp") / "home")
    server = McpServer(home, url=_url_kept(pytestconfig, home))
    yield server
    server.close()


def _url_kept(config: pytest.Config, home: str) -> str | None:
    """Return the URL of this folder's store for the whole session, None if it is not on a server."""
    if config.getoption("--engine") == "sqlite":
        return None
    from support.postgres import databases

    return databases().keep(home)


@pytest.fixture(params=["store", "mcp"])
def call(request: pytest.FixtureRequest) -> Iterator[Door]:
    """Return an interface of an empty store: once `Store.call`, once an MCP server."""
    if request.param == "store":
        yield StoreDoor(request.getfixturevalue("store"))
    else:
        server: McpServer = request.getfixturevalue("mcp_server")
        server.forget()
        yield McpDoor(server)
