"""The promises of the specifications, each on the tests that check it; `pytest tests --promises` prints them."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

MARKER = "holds"
LISTED = pytest.StashKey[dict[str, set[str]]]()


def holds(*promises: str) -> pytest.MarkDecorator:
    """Mark a test as the check of these promises, each written `document and place: promise`."""
    return pytest.mark.holds(*promises)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that prints the promises."""
    parser.addoption("--promises", action="store_true", help="print the promises with their tests, and run no test")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", f"{MARKER}(*promises): checks these promises of the specifications")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Collect the promises of all tests in place of the tests if they are to be printed."""
    if not config.option.promises:
        return
    listed: dict[str, set[str]] = defaultdict(set)
    config.stash[LISTED] = listed
    for item in items:
        for marker in item.iter_markers(MARKER):
            for promise in marker.args:
                listed[promise].add(item.nodeid.partition("[")[0])
    items.clear()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Count a list of promises as success, although no test ran."""
    if session.config.option.promises:
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print each document, its promises and their tests."""
    document = ""
    listed = config.stash.get(LISTED, {})
    for promise in sorted(listed, key=_place):
        if document != (document := promise.partition(":")[0].partition(" ")[0]):
            terminalreporter.section(document)
        terminalreporter.write_line(promise)
        for test in sorted(listed[promise]):
            terminalreporter.write_line(f"    {test}")


def _place(promise: str) -> list[str]:
    """Return a sort key that puts §10 after §9."""
    return [part.zfill(3) if part.isdigit() else part for part in re.split(r"(\d+)", promise)]
