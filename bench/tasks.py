"""What plans and tasks cost: looking up where work stands in a large workspace, and a change beside its bare writes."""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable

from moss_memory import open_store
from moss_memory.store import Store

from .bare_writes import CallContext, change_us
from .measure import Line, compared_us, medians_us, scratch_folder
from .reasoning_tables import NOTE_CHARS, WORKSPACE
from .task_stores import PLAN, gathered_work_of, ready_work_of, step_of, task_id, work_of
from .texts import Author

MANY, FEW = 1_000, 10
LOOKS = ("tasks_radar", "branchmind_context_pack", "branchmind_think_next")
CHANGED = 40
"""Tasks in which every step is changed once, to measure a change."""
STEPS = 10
READY = (10_000, 100)
CLAIMS = 80
"""Of the few ready tasks most, so that the claimed ones that are passed over count too."""


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


def _looking(tool: str, store: Store, targets: list[str]) -> Callable[[], CallContext]:
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


def _looking_at_main(tool: str, store: Store) -> Callable[[], CallContext]:
    return lambda: store.call(tool, {"workspace": WORKSPACE})


def change_line() -> Line:
    """A step closed, or a note written, against everything that it writes, run bare; the worse one counts."""
    author = Author(seed=33)
    changes: dict[str, list[CallContext]] = {
        "tasks_done": [{**step, "checkpoints": {"criteria": True, "tests": True}} for step in _steps()],
        "tasks_note": [{**step, "note": author.prose(NOTE_CHARS)} for step in _steps()],
    }
    ratios: dict[str, tuple[float, float, float]] = {}
    with scratch_folder() as folder:
        plan = os.path.join(folder, "plan")
        _plan(plan, author)
        for tool, calls in changes.items():
            # at least state, event, number, trace entry and its document
            one, other = change_us(plan, tool, tool, calls, at_least=6)
            ratios[tool] = (one / other, one, other)
    worst = max(ratios, key=lambda tool: ratios[tool][0])
    ratio, one, other = ratios[worst]
    return Line(
        "`tasks_done` or `tasks_note`, in process : its bare writes (state, event, trace, graph) and commit",
        ratio, 3, note=f"worst is `{worst}`, {compared_us(one, other)}",
    )  # fmt: skip


def claim_lines() -> list[Line]:
    """The best ready task, taken: against everything that writes, run bare, and among many against among few."""
    claims = [{"workspace": WORKSPACE, "agent": f"agent {number}"} for number in range(CLAIMS)]
    with scratch_folder() as folder:
        homes = [shutil.copytree(ready_work_of(count), os.path.join(folder, str(count))) for count in READY]
        one, other = change_us(homes[1], "claim", "tasks_claim", claims, at_least=6)
        with open_store(homes[0]) as large, open_store(homes[1]) as small:
            calls = [iter(claims), iter(claims)]
            many, few = medians_us(
                lambda: large.call("tasks_claim", next(calls[0])),
                lambda: small.call("tasks_claim", next(calls[1])),
                rounds=CLAIMS - 4,
            )
    return [
        Line("`tasks_claim` of the best ready task, in process : its bare writes and commit",
             one / other, 2, note=compared_us(one, other)),
        Line("`tasks_claim` among 10,000 ready tasks : among 100", many / few, 1.5, note=compared_us(many, few)),
    ]  # fmt: skip


def _steps() -> list[CallContext]:
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


def lines() -> list[Line]:
    """Every line about plans and tasks."""
    return [*look_lines(), gathered_line(), change_line(), *claim_lines()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
