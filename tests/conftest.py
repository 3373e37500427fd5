"""What every test may ask for: an empty store with a clock of its own, and the doors into a store."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from contract.doors import Clock, McpDoor, McpServer, StoreDoor, open_test_store
from support.quick_stores import make_stores_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from contract.doors import Door
    from moss_memory.store import Store

MODES = pytest.StashKey[dict[str, str]]()
LEFT_ALONE = (os.devnull, os.path.expanduser("~"), tempfile.gettempdir())
"""What the tests, run by root, could make useless for everybody else."""


ONLY_SQLITE = "sqlite"
"""The mark of what means nothing on a server; it says why."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--engine=postgres` keeps the stores of the tests on a server; `--door=store` passes the MCP client by."""
    parser.addoption("--engine", choices=("sqlite", "postgres"), default="sqlite", help="where test stores are kept")
    parser.addoption("--door", choices=("all", "store"), default="all", help="through which door contracts are tested")


def pytest_configure(config: pytest.Config) -> None:
    """Starts a server where tests run on one, and keeps every store of theirs on it."""
    config.addinivalue_line("markers", f"{ONLY_SQLITE}(reason): means nothing where the store is on a server")
    if config.getoption("--engine") == "postgres":
        from support.postgres import start_for_tests

        start_for_tests(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What tries PostgreSQL itself is left out where there is no server."""
    return True if collection_path.name == "postgres" and config.getoption("--engine") == "sqlite" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what means nothing on this engine, or comes through a door that was not asked for."""
    left_out = [item for item in items if not _is_wanted(config, item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_wanted(config, item)]


def _is_wanted(config: pytest.Config, item: pytest.Item) -> bool:
    if config.getoption("--engine") == "postgres" and item.get_closest_marker(ONLY_SQLITE):
        return False
    if config.getoption("--door") == "all":
        return True
    given = getattr(item, "callspec", None)
    by_client = given is not None and given.params.get("call") == "mcp"
    return not by_client and "mcp_server" not in getattr(item, "fixturenames", ())


@pytest.fixture(autouse=True)
def _databases_taken_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lets the next test have the databases of this one."""
    yield
    if request.config.getoption("--engine") == "postgres":
        from support.postgres import databases

        databases().take_back()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Spares most tests the migrations and the waiting for the disk."""
    make_stores_for(item.path.relative_to(item.config.rootpath))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remembers the modes of what no test may change."""
    session.config.stash[MODES] = modes_left_alone()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the whole run where a mode is another than at its start; with xdist the controller looks, once."""
    before, after = session.config.stash[MODES], modes_left_alone()
    if not hasattr(session.config, "workerinput") and before != after:
        raise pytest.UsageError(f"the tests changed modes of the system: {before} became {after}")


def modes_left_alone() -> dict[str, str]:
    """The mode of each of them that is there."""
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
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def home(tmp_path: Path) -> str:
    """The folder of an empty store."""
    return str(tmp_path / "home")


@pytest.fixture
def clock() -> Clock:
    """A clock that moves only when a test moves it."""
    return Clock()


@pytest.fixture
def store(home: str, clock: Clock) -> Iterator[Store]:
    """An empty store that lives in `home` and believes `clock`."""
    with open_test_store(home, clock) as opened:
        yield opened


@pytest.fixture
def door(store: Store) -> StoreDoor:
    """The door `Store.call` into `store`."""
    return StoreDoor(store)


@pytest.fixture(scope="session")
def mcp_server(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """One server process for the whole session, spoken to by the official client."""
    home = str(tmp_path_factory.mktemp("mcp") / "home")
    server = McpServer(home, url=_url_kept(pytestconfig, home))
    yield server
    server.close()


def _url_kept(config: pytest.Config, home: str) -> str | None:
    """Where the store of this folder is for the whole session, if that is a server."""
    if config.getoption("--engine") == "sqlite":
        return None
    from support.postgres import databases

    return databases().keep(home)


@pytest.fixture(params=["store", "mcp"])
def call(request: pytest.FixtureRequest) -> Iterator[Door]:
    """An empty store, once behind `Store.call` and once behind an MCP server."""
    if request.param == "store":
        yield StoreDoor(request.getfixturevalue("store"))
    else:
        server: McpServer = request.getfixturevalue("mcp_server")
        server.forget()
        yield McpDoor(server)
