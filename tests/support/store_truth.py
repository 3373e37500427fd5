"""Checks of a store on disk that must pass after any writer, however it ended."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any

from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.store import Store
from support.direct_store import DirectStore, rows

SECTIONS = (
    "Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions",
)  # fmt: skip
CHANGES_PER_EVENT = 1 << 24


def capsule(content: str = "plain words") -> str:
    """Return a capsule text that passes the lint and contains `content` in every section."""
    return "\n\n".join(f"## {section}\n{content}" for section in SECTIONS) + "\n"


def open_at(home: object, *, clock_ms: Callable[[], int] | None = None, **settings: Any) -> Store:
    """Return a store in that home, unaffected by any configuration outside it."""
    config = load_config(home=str(home), cwd="/")
    if settings:
        config = config.replace(**settings)
    return Store(config) if clock_ms is None else Store(config, clock_ms=clock_ms)


def refusal(call: Callable[..., object], *arguments: Any, **named: Any) -> MossError:
    """Return the typed error that a call raises."""
    try:
        answer = call(*arguments, **named)
    except MossError as error:
        return error
    raise AssertionError(f"not refused: {answer}")


def check_truth(home: object) -> None:
    """Assert that file, index, rows and events agree with each other."""
    with DirectStore(home) as direct:
        assert direct.problems() == []
        _check_names(direct)
        _check_events(direct)


def _check_names(direct: DirectStore) -> None:
    twice = direct.rows(
        "select workspace_norm, name_norm, count(*) from capsules "
        "where deleted_at is null and name_norm is not null group by 1, 2 having count(*) > 1"
    )
    assert twice == []


def _check_events(direct: DirectStore) -> None:
    events = direct.rows("select seq, event_id, tool, address from events order by seq")
    assert direct.has_gaps or [seq for seq, *_ in events] == list(range(1, len(events) + 1)), "an event is missing"
    assert len({event_id for _, event_id, *_ in events}) == len(events), "an event is there twice"
    by_seq = {seq: (tool, address) for seq, _, tool, address in events}
    last = {address: seq for seq, _, _, address in events if address is not None}
    capsules = dict(direct.rows(f"select id, change_seq / {CHANGES_PER_EVENT} from capsules"))
    for capsule_id, changed_by in capsules.items():
        assert changed_by in by_seq, f"{capsule_id} was changed by a call that left no event"
        assert by_seq[changed_by][1] in (capsule_id, None)
        assert last.get(capsule_id, 0) <= changed_by, f"an event of {capsule_id} has no trace in its row"
    purged = any(tool == "capsule_purge" for tool, _ in by_seq.values())
    assert purged or last.keys() <= capsules.keys(), "an event speaks of a capsule that is not there"


def events(home: object) -> list[tuple[Any, ...]]:
    """Return every event as (tool, address), in order."""
    return rows(home, "select tool, address from events order by seq")


def contents(home: object) -> list[tuple[Any, ...]]:
    """Return every column of every capsule and event, none of which a refused call may change."""
    return rows(home, "select * from capsules order by row_id") + rows(home, "select * from events order by seq")


def modes(home: object) -> dict[str, int]:
    """Return the permission bits of the home and of everything in it, by relative path."""
    found = {".": stat.S_IMODE(os.lstat(str(home)).st_mode)}
    for folder, folders, files in os.walk(str(home)):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, str(home))] = stat.S_IMODE(os.lstat(path).st_mode)
    return found
