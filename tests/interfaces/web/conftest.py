"""Fixtures of the page tests: a store with demonstration data, its pages on a port, and a browser tab."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from moss_memory.config import load_config
from moss_memory.demo import fill
from moss_memory.store import Store
from support.browser import Chromium, Tab
from support.pages_server import PagesServer
from support.real_store import home as home  # of a server in a process of its own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


CHROMIUM = Chromium()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop the browser after the last consecutive test of this folder."""
    yield
    if nextitem is None or nextitem.path.parent != item.path.parent:
        CHROMIUM.stop()


@pytest.fixture
def browser() -> Browser:
    """Start one browser for all consecutive tests."""
    return CHROMIUM.running()


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with the demonstration's project, filled once; a test that changes it takes a copy."""
    home = tmp_path_factory.mktemp("demonstration")
    with Store(load_config(str(home), cwd=str(home))) as opened:
        fill(opened)
    return home


@pytest.fixture(scope="module")
def store(
    pytestconfig: pytest.Config, demonstration: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """Open a store with the demonstration's project, shared by the tests of a module."""
    home = str(tmp_path_factory.mktemp("shown") / "home")
    try:
        shutil.copytree(demonstration, home)
    except shutil.Error:  # the last connection removed the database's log during the copy
        shutil.rmtree(home)
        shutil.copytree(demonstration, home)
    if pytestconfig.getoption("--engine") == "postgres":
        from support.postgres import databases

        databases().settle(Path(home))  # the health check reads database settings
    with Store(load_config(home, cwd=home)) as opened:
        if not opened.call("capsule_inventory", {"limit": 1})["items"]:
            fill(opened)  # a store on a server is not copied with its home
        yield opened


@pytest.fixture(scope="module")
def server(store: Store) -> Iterator[PagesServer]:
    """Serve the pages of the store on a port."""
    with PagesServer(store) as running:
        yield running


@pytest.fixture
def tab(browser: Browser, server: PagesServer) -> Iterator[Tab]:
    """Open a new tab; any error in it fails the test."""
    opened = Tab(browser, server.origin, server.address)
    yield opened
    opened.close()
    assert opened.troubles == []


@pytest.fixture
def empty_store(tmp_path: Path) -> Iterator[Store]:
    """Open an empty store."""
    with Store(load_config(str(tmp_path / "home"), cwd=str(tmp_path))) as opened:
        yield opened
