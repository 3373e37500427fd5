"""Samples, cleanup and on-disk checks for tests of artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.direct_store import DirectStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract.doors import Door

FINDING = {
    "files": [{"path": "src/auth.ts", "relevance": "high", "summary": "signs tokens"}],
    "patterns": ["middleware"],
    "concerns": [],
    "confidence": 0.9,
}
"""Valid data of an explorer-finding."""


@pytest.fixture(autouse=True)
def no_artifacts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Delete all artifacts before and after each test, since one server serves many tests."""
    home = request.getfixturevalue("call").home if "call" in request.fixturenames else ""
    forget_artifacts(home)
    yield
    forget_artifacts(home)


def forget_artifacts(home: str) -> None:
    """Delete every artifact and housekeeping row directly in the database."""
    if home:
        with DirectStore(home) as direct:
            if direct.engine.exists():
                direct.run("delete from artifacts", "delete from upkeep")


def put(call: Door, name: str | None = None, **fields: Any) -> str:
    """Store an artifact and return its id."""
    stored: str = call("artifact_store", **{"kind": "freeform", "data": {"n": 1}, "name": name, **fields})["id"]
    return stored


def listed_names(call: Door, **arguments: Any) -> list[Any]:
    """Return the names of a list, in its order."""
    return call.names("artifact_list", **arguments)


def check_artifacts(home: object) -> None:
    """Assert that file, index and rows agree, and that no active name and no event number is used twice."""
    with DirectStore(home) as direct:
        assert direct.problems() == []
        twice = direct.rows(
            "select workspace_norm, name_norm, count(*) from artifacts "
            "where deleted_at is null and name_norm is not null group by 1, 2 having count(*) > 1"
        )
        assert twice == []
        events = [seq for (seq,) in direct.rows("select seq from events order by seq")]
        assert direct.has_gaps or events == list(range(1, len(events) + 1)), "an event is missing"
