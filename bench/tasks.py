"""What plans and tasks cost: looking up where work stands in a large workspace, and a change beside its bare writes."""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from moss_memory import open_store
from moss_memory.storage.sqlite import DATABASE
from moss_memory.storage.sqlite_transaction import SqliteWrite
from moss_memory.store import Store

from .in_process import durable
from .measure import Line, compared_us, medians_us, scratch_folder
from .reasoning_tables import NOTE_CHARS, WORKSPACE
from .task_stores import PLAN, gathered_work_of, step_of, task_id, work_of
from .texts import Author

Call = dict[str, Any]
Statement = tuple[str, Any]

MANY, FEW = 1_000, 10
LOOKS = ("tasks_radar", "branchmind_context_pack", "branchmind_think_next")
CHANGED = 40
"""Tasks in which every step is changed once, to measure a change."""
STEPS = 10


def look_lines(rounds: int = 600) -> list[Line]:
    """Where work stands, of tasks all over a large workspace and of their plan, against a small workspace."""
    with open_store(work_of(MANY)) as large, open_store(work_of(FEW)) as small:
        return [_look_line(tool, large, small, rounds) for tool in LOOKS]


def _look_line(tool: str, large: Store, small: Store, rounds: int) -> Line:
    sides = {
        "a task": (_looking(tool, large, _tasks(MANY)), _looking(tool, small, _tasks(FEW))),
        "their plan": (_looking(tool, large, [PLAN]), _looking(tool, small, [PLAN])),
    }
    ratios: dict[str, tuple[float, float, float]] = {}
    for name, pair in sides.items():
        assert pair[0]().keys() == pair[1]().keys(), "both sides answer the same"
        one, other = medians_us(*pair, rounds=rounds)
        ratios[name] = (one / other, one, other)
    worst = max(ratios, key=lambda name: ratios[name][0])
    ratio, one, other = ratios[worst]
    return Line(
        f"`{tool}` among 1,000 tasks, 10,000 cards and 100,000 trace entries : among 10, 100 and 1,000",
        ratio, 3, note=f"worst is “{worst}”, {compared_us(one, other)}",
    )  # fmt: skip


def _looking(tool: str, store: Store, targets: list[str]) -> Callable[[], Call]:
    chosen = itertools.cycle(targets)
    return lambda: store.call(tool, {"workspace": WORKSPACE, "target": next(chosen)})


def _tasks(count: int) -> list[str]:
    """All tasks in an order that no cache foresees."""
    ids = [task_id(number) for number in range(count)]
    random.Random(32).shuffle(ids)  # noqa: S311
    return ids


def gathered_line(rounds: int = 60) -> Line:
    """The same with every card in the graph of `main` and every entry in its trace: nothing is promised of it."""
    ratios: dict[str, tuple[float, float, float]] = {}
    with open_store(gathered_work_of(MANY)) as large, open_store(gathered_work_of(FEW)) as small:
        for tool in LOOKS[1:]:
            one, other = medians_us(*(_looking_at_main(tool, store) for store in (large, small)), rounds=rounds)
            ratios[tool] = (one / other, one, other)
    worst = max(ratios, key=lambda tool: ratios[tool][0])
    told = ", ".join(f"`{tool}` {compared_us(one, other)}" for tool, (_, one, other) in ratios.items())
    return Line(
        "the last two with all 10,000 cards in one graph and all entries in one trace : 100 cards and 1,000 entries",
        ratios[worst][0], None, note=told,
    )  # fmt: skip


def _looking_at_main(tool: str, store: Store) -> Callable[[], Call]:
    return lambda: store.call(tool, {"workspace": WORKSPACE})


def change_line() -> Line:
    """A step closed, or a note written, against everything that it writes, run bare; the worse one counts."""
    author = Author(seed=33)
    changes: dict[str, list[Call]] = {
        "tasks_done": [{**step, "checkpoints": {"criteria": True, "tests": True}} for step in _steps()],
        "tasks_note": [{**step, "note": author.prose(NOTE_CHARS)} for step in _steps()],
    }
    ratios: dict[str, tuple[float, float, float]] = {}
    with scratch_folder() as folder:
        _plan(os.path.join(folder, "plan"), author)
        for tool, calls in changes.items():
            one, other = _change_us(folder, tool, calls)
            ratios[tool] = (one / other, one, other)
    worst = max(ratios, key=lambda tool: ratios[tool][0])
    ratio, one, other = ratios[worst]
    return Line(
        "`tasks_done` or `tasks_note`, in process : its bare writes (state, event, trace, graph) and commit",
        ratio, 3, note=f"worst is `{worst}`, {compared_us(one, other)}",
    )  # fmt: skip


def _steps() -> list[Call]:
    return [
        {"workspace": WORKSPACE, "target": task_id(number), "path": f"s:{place}"}
        for place in range(STEPS)
        for number in range(CHANGED)
    ]


def _plan(home: str, author: Author) -> None:
    with open_store(home) as store:
        store.call("tasks_create", {"workspace": WORKSPACE, "kind": "plan", "title": author.prose(40)})
        for _ in range(CHANGED):
            steps = [step_of(author) for _ in range(STEPS)]
            call = {"workspace": WORKSPACE, "kind": "task", "parent": PLAN, "title": author.prose(40), "steps": steps}
            store.call("tasks_create", call)


def _change_us(folder: str, tool: str, calls: list[Call]) -> tuple[float, float]:
    """The microseconds of a change by Moss and of its bare writes, made in turn to two copies of the same store."""
    heard = _writes(_copy(folder, f"heard-{tool}"), tool, calls)
    connection = durable(os.path.join(_copy(folder, f"bare-{tool}"), DATABASE))
    ours, theirs = iter(calls), iter(heard)
    with open_store(_copy(folder, f"moss-{tool}")) as store:

        def moss_change() -> None:
            store.call(tool, next(ours))

        def bare_change() -> None:
            connection.execute("begin immediate")
            for sql, parameters in next(theirs):
                connection.execute(sql, parameters).fetchall()
            connection.execute("commit")

        taken = medians_us(moss_change, bare_change, rounds=len(calls) - 3)
    ((events,),) = connection.execute("select count(*) from events where tool = ?", (tool,)).fetchall()
    assert events == len(calls), "a side that wrote less would look fast"
    connection.close()
    return taken[0], taken[1]


def _copy(folder: str, name: str) -> str:
    return str(shutil.copytree(os.path.join(folder, "plan"), os.path.join(folder, name)))


def _writes(home: str, tool: str, calls: list[Call]) -> list[list[Statement]]:
    """For each call the statements with which it changes the store, as SQLite gets them."""
    with open_store(home) as store, _listening() as heard:
        found = []
        for call in calls:
            heard.clear()
            store.call(tool, call)
            found.append([one for one in heard if one[0].lstrip().startswith(("insert", "update", "delete"))])
    assert all(len(statements) >= 6 for statements in found), "state, event, number, trace entry and its document"
    return found


@contextmanager
def _listening() -> Iterator[list[Statement]]:
    """Every statement of the writing transactions that begin in this block."""
    heard: list[Statement] = []
    begin = SqliteWrite.__init__

    def listen(cursor: apsw.Cursor, sql: str, parameters: Any) -> bool:
        heard.append((sql, parameters))
        return True

    def begin_and_listen(self: SqliteWrite, engine: Any, connection: apsw.Connection, call: Any) -> None:
        begin(self, engine, connection, call)
        connection.exec_trace = listen

    SqliteWrite.__init__ = begin_and_listen  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        SqliteWrite.__init__ = begin  # type: ignore[method-assign]


def lines() -> list[Line]:
    """Every line about plans and tasks."""
    return [*look_lines(), gathered_line(), change_line()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
