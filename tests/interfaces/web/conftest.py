"""A store with the demonstration in it, its pages on a port, and a tab of a real browser to look at them."""

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
    """Stops the browser after the last test of this folder in a row."""
    yield
    if nextitem is None or nextitem.path.parent != item.path.parent:
        CHROMIUM.stop()


@pytest.fixture
def browser() -> Browser:
    """The browser, started once for all tests that follow each other."""
    return CHROMIUM.running()


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the demonstration's project, filled once; who wants to change it takes a copy."""
    home = tmp_path_factory.mktemp("demonstration")
    with Store(load_config(str(home), cwd=str(home))) as opened:
        fill(opened)
    return home


@pytest.fixture(scope="module")
def store(
    pytestconfig: pytest.Config, demonstration: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A store in which the demonstration's project is; the tests of a module share it."""
    home = str(tmp_path_factory.mktemp("shown") / "home")
    try:
        shutil.copytree(demonstration, home)
    except shutil.Error:  # the log of the database was removed meanwhile, by the last of its connections
        shutil.rmtree(home)
        shutil.copytree(demonstration, home)
    if pytestconfig.getoption("--engine") == "postgres":
        from support.postgres import databases

        databases().settle(Path(home))  # the health check reads the settings
    with Store(load_config(home, cwd=home)) as opened:
        if not opened.call("capsule_inventory", {"limit": 1})["items"]:
            fill(opened)  # a copied home has no copy of a store on a server
        yield opened


@pytest.fixture(scope="module")
def server(store: Store) -> Iterator[PagesServer]:
    """The pages of that store on a port."""
    with PagesServer(store) as running:
        yield running


@pytest.fixture
def tab(browser: Browser, server: PagesServer) -> Iterator[Tab]:
    """A new tab; whatever goes wrong in it fails the test."""
    opened = Tab(browser, server.origin, server.address)
    yield opened
    opened.close()
    assert opened.troubles == []


@pytest.fixture
def empty_store(tmp_path: Path) -> Iterator[Store]:
    """A store in which nothing is."""
    with Store(load_config(str(tmp_path / "home"), cwd=str(tmp_path))) as opened:
        yield opened
