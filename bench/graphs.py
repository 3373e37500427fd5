"""What graphs cost: a query of a large one beside a small one, and a batch of changes beside the bare inserts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import apsw

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.storage.sqlite.transaction import SqliteTransaction
from moss_memory.store import Store
from moss_memory.tools.reasoning.graph.node_versions import edge, node

from .in_process import bare_database
from .measure import Line, cached, compared_us, medians_us, read_once, scratch_folder
from .reasoning_tables import NOTE_CHARS, WORKSPACE, Row, Tables, said, tables_of
from .texts import Author

Op = dict[str, Any]

FOUND = 50
OPERATIONS = 1_000


def filters(nodes: int) -> dict[str, dict[str, Any]]:
    """By the words of the table: filters that a tenth of the nodes passes, and others that fifty pass."""
    return {
        "a type of every tenth": {"types": "hypothesis"},
        "a type of fifty": {"types": "risk"},
        "a status of every tenth": {"status": "open"},
        "a status of fifty": {"status": "stuck"},
        "a status that all but fifty have left": {"status": "draft"},
        "a tag of every tenth": {"tags_any": "auth"},
        "a tag of fifty": {"tags_all": "legal"},
        "fifty ids": {"ids": [f"node-{number}" for number in range(0, nodes, nodes // FOUND)]},
    }


def query_line(rounds: int = 150) -> Line:
    """Fifty nodes of a large graph that a filter lets through, against a small graph; the worst filter counts."""
    large_home, small_home = graph_of(100_000), graph_of(1_000)
    ratios: dict[str, tuple[float, float, float]] = {}
    with open_store(large_home) as large, open_store(small_home) as small:
        pairs = zip(filters(100_000).items(), filters(1_000).values(), strict=True)
        for (name, of_large), of_small in pairs:
            sides = _asking(large, of_large), _asking(small, of_small)
            assert [len(side()["nodes"]) for side in sides] == [FOUND, FOUND], name
            one, other = medians_us(*sides, rounds=rounds, warm_up=5)
            ratios[name] = (one / other, one, other)
        used = {_index(large, large_home, chosen) for chosen in filters(100_000).values()}
    worst = max(ratios, key=lambda name: ratios[name][0])
    ratio, one, other = ratios[worst]
    return Line(
        "`branchmind_graph_query` of 50 nodes with a filter among 100,000 : among 1,000",
        ratio, 2, note=f"worst is “{worst}”, {compared_us(one, other)}, by {', '.join(sorted(used))}",
    )  # fmt: skip


def _asking(store: Store, chosen: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    return lambda: store.call("branchmind_graph_query", {"workspace": WORKSPACE, **chosen})


def graph_of(nodes: int) -> str:
    """The home of a store with a graph of so many nodes and as many edges."""
    home = cached(f"graph-{nodes}", lambda folder: _build(folder, nodes))
    read_once(os.path.join(home, DATABASE))
    return home


def _build(home: str, nodes: int) -> None:
    """Every node begins as a draft; all but fifty are then written again as what they are."""
    author = Author(seed=23)
    with open_store(home) as store:
        store.call("branchmind_init", {"workspace": WORKSPACE})
    texts = [(author.prose(40), author.prose(NOTE_CHARS)) for _ in range(nodes)]
    versions = [
        said(node(f"node-{number}", f"kind-{number % 7}", title=title, text=text, status="draft"))
        for number, (title, text) in enumerate(texts)
    ]
    tags: list[tuple[int, str]] = []
    replaced: dict[int, int] = {}
    rare = nodes // FOUND
    for number, (title, text) in enumerate(texts):
        kind, status, tag = _traits(number, rare)
        if number % rare != 7:
            replaced[number] = len(versions)
            tags += [(len(versions), tag)] if tag else []
            known = {"title": title, "text": text, "status": status}
            versions.append(said(node(f"node-{number}", kind, tags=[tag] if tag else [], **known)))
        versions.append(said(edge(f"node-{number}", "follows", f"node-{max(number - 10, 0)}")))
    with tables_of(home) as tables:
        tables.add_versions(tables.branch("main"), versions, tags, replaced=replaced)


def _traits(number: int, rare: int) -> tuple[str, str, str]:
    """Type, status and tag of a node: a tenth of all nodes has each common one, fifty have each rare one."""
    kind = "risk" if number % rare == 1 else "hypothesis" if number % 10 == 2 else f"kind-{number % 7}"
    status = "stuck" if number % rare == 3 else "open" if number % 10 == 4 else f"status-{number % 7}"
    tag = "legal" if number % rare == 5 else "auth" if number % 10 == 6 else ""
    return kind, status, tag


def _index(store: Store, home: str, chosen: dict[str, Any]) -> str:
    """The index, or the table's own order, by which a query finds its nodes; a scan is an error."""
    sql, parameters = next(
        heard for heard in _statements(store, {"workspace": WORKSPACE, **chosen}) if "v.deleted" in heard[0]
    )
    connection = apsw.Connection(os.path.join(home, DATABASE))
    prepare(connection)
    steps = [row[3] for row in connection.execute(f"explain query plan {sql}", parameters)]
    connection.close()
    if steps[0].startswith("SCAN wanted "):  # the ids asked for lead, each found by its key
        steps = [step for step in steps[1:] if "TEMP B-TREE" not in step]
    assert steps[0].startswith("SEARCH "), f"the query reads more than its index says: {steps}"
    found = str(steps[0]).removeprefix("SEARCH ").partition(" (")[0]
    return "graph_tags" if found.startswith("o ") else found.split()[-1]


def _statements(store: Store, call: dict[str, Any]) -> list[tuple[str, Any]]:
    """What a graph query asks the database, in order."""
    heard: list[tuple[str, Any]] = []
    rows = SqliteTransaction.rows

    def overhear(self: SqliteTransaction, sql: str, parameters: Any = None) -> Any:
        heard.append((sql, parameters))
        return rows(self, sql, parameters)

    SqliteTransaction.rows = SqliteTransaction.stream = overhear  # type: ignore[method-assign]
    try:
        store.call("branchmind_graph_query", call)
    finally:
        SqliteTransaction.rows = SqliteTransaction.stream = rows  # type: ignore[method-assign]
    return heard


def apply_line(rounds: int = 60) -> Line:
    """A batch of new nodes and edges, against the bare inserts of the same rows."""
    author = Author(seed=25)
    batches = [_batch(author, number) for number in range(rounds + 3)]
    ready = [_as_rows(batch) for batch in batches]
    with scratch_folder() as folder, open_store(os.path.join(folder, "moss")) as store:
        store.call("branchmind_init", {"workspace": WORKSPACE})
        bare = Tables(bare_database(os.path.join(folder, "bare.db")))
        ours, theirs = iter(batches), iter(ready)

        def moss_apply() -> None:
            store.call("branchmind_graph_apply", {"workspace": WORKSPACE, "ops": next(ours)})

        def bare_apply() -> None:
            with bare.connection:
                bare.add_versions(1, *next(theirs))
                bare.add_event("branchmind_graph_apply")

        applied = medians_us(moss_apply, bare_apply, rounds=rounds)
        counted = store.call("branchmind_graph_validate", {"workspace": WORKSPACE})
        assert counted["stats"] == {"nodes": (rounds + 3) * 500, "edges": (rounds + 3) * 500}
        bare.connection.close()
    return Line(
        "`branchmind_graph_apply` of 500 nodes and 500 edges : bare inserts, index, event and commit",
        applied[0] / applied[1], 3, note=compared_us(*applied),
    )  # fmt: skip


def _batch(author: Author, number: int) -> list[Op]:
    """Hypotheses with two tags each, and an edge from each to the one before it."""
    ids = [f"node-{number}-{place}" for place in range(OPERATIONS // 2)]
    ops: list[Op] = []
    for before, made in itertools.pairwise([ids[0], *ids]):
        known = {"title": author.prose(40), "text": author.prose(NOTE_CHARS), "status": "open", "tags": ["auth", "v2"]}
        ops.append({"op": "node_upsert", "id": made, "type": "hypothesis", **known})
        ops.append({"op": "edge_upsert", "from": made, "rel": "follows", "to": before})
    return ops


def _as_rows(batch: list[Op]) -> tuple[list[Row], list[tuple[int, str]]]:
    """What the batch leaves in the tables: its versions, and its tags by their place."""
    versions = [
        said(node(op["id"], op["type"], title=op["title"], text=op["text"], status=op["status"], tags=op["tags"]))
        if op["op"] == "node_upsert"
        else said(edge(op["from"], op["rel"], op["to"]))
        for op in batch
    ]
    return versions, [(place, tag) for place, op in enumerate(batch) for tag in op.get("tags", ())]


def lines() -> list[Line]:
    """Every line about graphs."""
    return [query_line(), apply_line()]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
