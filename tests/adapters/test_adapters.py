"""The adapters give the same answers to the same calls as the frameworks' own implementations."""

# ruff: noqa: E402 - what is an extra may be missing
from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

for name in ("agents", "anthropic", "langgraph"):
    pytest.importorskip(name, reason=f"{name} is an extra that is not installed; `make test` installs it")

from agents import SQLiteSession
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from moss_memory import MossError, open_store
from moss_memory.adapters.anthropic import AsyncMossMemoryTool, MossMemoryTool
from moss_memory.adapters.langgraph import MossStore
from moss_memory.adapters.openai_agents import MossSession
from moss_memory.config import load_config
from moss_memory.store import Store

FEW = settings(max_examples=25, deadline=None)

words = st.sampled_from(["a", "A", "b", "a b", "ä", "x/y", "0"])
paths = st.lists(st.sampled_from(["u", "U", "v"]), min_size=1, max_size=3).map(tuple)
values = st.dictionaries(
    st.sampled_from(["n", "t", "l"]),
    st.one_of(st.integers(0, 3), st.text("ab ", max_size=3), st.lists(st.integers(0, 2), max_size=2), st.booleans()),
)
filters = st.sampled_from(
    [None, {"n": 1}, {"n": {"$ne": 2}}, {"t": {"$eq": "a"}}, {"t": "b", "n": 0}, {"l": [1]}, {"l": {"x": 1}}]
)
conditions = st.lists(
    st.builds(
        MatchCondition,
        st.sampled_from(["prefix", "suffix"]),
        st.lists(st.sampled_from(["u", "U", "v", "*"]), min_size=1, max_size=2).map(tuple),
    ),
    max_size=2,
).map(tuple)
indexes = st.sampled_from([None, False, ["t"], ["n", "t"]])
operations = st.one_of(
    st.builds(PutOp, paths, words, st.one_of(st.none(), values), indexes, st.sampled_from([None, 60.0, 1e300])),
    st.builds(GetOp, paths, words),
    st.builds(SearchOp, st.one_of(st.just(()), paths), filters, st.just(100), st.just(0)),
    st.builds(SearchOp, paths, filters, st.just(100), st.just(0), st.sampled_from(["a", "b a", "aab"])),
    st.builds(
        ListNamespacesOp, conditions, st.sampled_from([None, 1, 2]), st.sampled_from([1, 2, 100]), st.integers(0, 2)
    ),
)
batches = st.lists(st.lists(operations, min_size=1, max_size=4), max_size=8)


def letters(texts: Sequence[str]) -> list[list[float]]:
    """Embed each text as the frequencies of its letters."""
    return [[1.0, *(float(text.count(letter)) for letter in "ab ")] for text in texts]


OWN_MODEL: IndexConfig = {"dims": 4, "embed": letters, "fields": ["t"]}


def normalized(result: Any) -> Any:
    """Return an answer without its times, and search hits as a set, because the order of equal hits differs."""
    if isinstance(result, list) and result and isinstance(result[0], SearchItem):
        found = [(one.namespace, one.key, str(one.value), one.score and round(one.score, 4)) for one in result]
        return sorted(found, key=str)
    return result and (result if isinstance(result, list) else (result.namespace, result.key, result.value))


def answer_of(store: Any, call: tuple[Any, ...]) -> Any:
    kind, namespace, *more = call
    if kind == "search":
        found = store.search(namespace, filter=more[0], limit=100)
        return sorted((item.namespace, item.key, str(item.value)) for item in found)
    if kind == "list_namespaces":
        return store.list_namespaces(prefix=namespace, max_depth=more[0])
    answer = getattr(store, kind)(namespace, *more)
    return answer and (answer.namespace, answer.key, answer.value)


SEEDED: list[tuple[Any, ...]] = [
    ("put", ("u",), "a", {"n": 0, "t": "b"}), ("put", ("u",), "A", {"n": 1, "t": "a"}),
    ("put", ("u", "v"), "b", {"n": 2}), ("put", ("u", "v", "U"), "0", {"n": 3, "t": "a"}), ("put", ("U",), "a", {}),
]  # fmt: skip
"""Rows written before the random calls."""
NUMBERS: list[Any] = [{"n": {operator: 1}} for operator in ("$gt", "$gte", "$lt", "$lte")]
OTHERS: list[Any] = [{"n": {"$ne": 2}}, {"t": {"$eq": "a"}}, {"n": 1}, {"t": "b", "n": 0}, {"t": None}]
ASKED: list[tuple[Any, ...]] = [
    *[("search", ("u",), one) for one in NUMBERS],
    *[("search", (), one) for one in OTHERS],
    *[("list_namespaces", path, depth) for path in (("u",), ("*", "v")) for depth in (None, 1, 2)],
]


@pytest.mark.parametrize("call", ASKED, ids=str)
def test_every_filter_of_a_store_answers_like_langgraphs_own(tmp_path: Path, call: tuple[Any, ...]) -> None:
    own, moss = InMemoryStore(), MossStore(home=str(tmp_path))
    for seed in SEEDED:
        if call[0] == "list_namespaces" or "n" in seed[3]:  # LangGraph's own store does not compare missing numbers
            answer_of(own, seed)
            answer_of(moss, seed)
    assert answer_of(moss, call) == answer_of(own, call)


@FEW
@given(batches, st.booleans())
def test_a_store_answers_like_langgraphs_own(asked: list[list[Any]], asynchronously: bool) -> None:
    latest = {(namespace, key): PutOp(namespace, key, value) for _, namespace, key, value in SEEDED}
    with tempfile.TemporaryDirectory() as home:
        moss = MossStore(home=home, index=OWN_MODEL)
        moss.batch(latest.values())
        for ops in asked:
            # Its own is made anew, as it forgets no namespace and no vector of what was deleted or written again; and
            # put by put, as it cannot embed the same text twice in a batch.
            own = InMemoryStore(index=OWN_MODEL)
            for op in latest.values():
                own.batch([op] if op.value is not None else [])
            expected = [None if isinstance(op, PutOp) else own.batch([op])[0] for op in ops]
            answers = asyncio.run(moss.abatch(ops)) if asynchronously else moss.batch(ops)
            assert [normalized(one) for one in answers] == [normalized(one) for one in expected], ops
            latest |= {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        moss.close()


def test_a_store_finds_by_meaning_within_a_namespace(tmp_path: Path) -> None:
    store = MossStore(home=str(tmp_path))
    store.put(("u", "1"), "food", {"text": "She is allergic to peanuts"})
    store.put(("u", "1"), "car", {"text": "He drives an old van"})
    store.put(("u", "2"), "food", {"text": "Peanuts are fine"})
    store.put(("u", "1"), "hidden", {"text": "peanuts"}, index=False)
    found = store.search(("u", "1"), query="peanuts")
    assert [(item.key, item.score is not None) for item in found[:1]] == [("food", True)]
    assert {item.key: item.score for item in found}["hidden"] is None
    assert [item.key for item in store.search(("u", "1"), query="peanuts", limit=1)] == ["food"]


def test_a_filter_compares_texts_and_skips_values_of_other_types(tmp_path: Path) -> None:
    store = MossStore(home=str(tmp_path))
    store.put(("n",), "old", {"day": "2024-01-31", "by": {"name": "Ada"}})
    store.put(("n",), "new", {"day": "2025-01-31"})
    store.put(("n",), "none", {"day": None})
    assert [one.key for one in store.search(("n",), filter={"day": {"$gte": "2025"}})] == ["new"]
    assert [one.key for one in store.search(("n",), filter={"by.name": "Ada"})] == ["old"]
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("n",), filter={"day": {"$like": "2"}})


def test_a_missing_key_is_not_searched_elsewhere(tmp_path: Path) -> None:
    with open_store(str(tmp_path)) as opened:
        store = MossStore(store=opened)
        store.put(("n",), "k", {"v": 1})
        name = opened.call("artifact_list", {})["items"][0]["name"]
        with pytest.raises(MossError) as advised:
            opened.call("artifact_fetch", {"workspace": "elsewhere", "name": name})
        with pytest.raises(MossError) as plain:
            opened.call("artifact_fetch", {"workspace": "elsewhere", "name": name}, suggest=False)
        assert store.get(("n",), "other") is None
    assert advised.value.details is not None
    assert plain.value.details is None


def test_namespaces_and_keys_that_look_alike_are_distinct(tmp_path: Path) -> None:
    addresses = [(("a", "b"), "c"), (("a",), "b, c"), (("a",), "b  c"), (("a, b",), "c"), (("a",), 'b", "c')]
    with MossStore(home=str(tmp_path)) as store:
        for number, (namespace, key) in enumerate(addresses):
            store.put(namespace, key, {"number": number})
        found = [store.get(namespace, key) for namespace, key in addresses]
    assert [item.value["number"] for item in found if item is not None] == list(range(len(addresses)))


def test_a_batch_reads_first_and_the_last_put_of_a_key_wins(tmp_path: Path) -> None:
    store = MossStore(home=str(tmp_path))
    results = store.batch([PutOp(("n",), "k", {"v": 1}), GetOp(("n",), "k"), PutOp(("n",), "k", {"v": 2})])
    assert results == [None, None, None]
    item = asyncio.run(store.aget(("n",), "k"))
    assert item is not None
    assert item.value == {"v": 2}
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])


def test_a_time_to_live_in_minutes_is_refreshed_by_reading(tmp_path: Path) -> None:
    with open_store(str(tmp_path)) as opened:
        store = MossStore(store=opened, ttl={"default_ttl": 10})
        store.put(("n",), "k", {"v": 1})
        store.get(("n",), "k")
        (row,) = opened.call("artifact_list", {"workspace": "langgraph"})["items"]
        assert row["ttl_seconds"] in (600, 601)


def test_reading_extends_the_time_to_live_by_default(tmp_path: Path) -> None:
    now_ms = 1_800_000_000_000

    def after(seconds: int) -> None:
        nonlocal now_ms
        now_ms += seconds * 1000

    with Store(load_config(str(tmp_path)), clock_ms=lambda: now_ms) as opened:
        store = MossStore(store=opened)
        store.put(("n",), "k", {"v": 1}, ttl=1)
        after(40)
        assert store.get(("n",), "k") is not None
        after(40)
        assert store.search(("n",), refresh_ttl=True)
        after(40)
        assert store.get(("n",), "k", refresh_ttl=False) is not None
        after(40)
        assert store.get(("n",), "k") is None
        assert store.search(("n",)) == []
        assert store.list_namespaces() == []


def test_a_suspected_credential_is_refused_unless_allowed(tmp_path: Path) -> None:
    secret = {"text": "AKIA" + "IOSFODNN7EXAMPLQ"}
    with pytest.raises(MossError, match="looks like a credential"):
        MossStore(home=str(tmp_path)).put(("n",), "k", secret)
    store = MossStore(home=str(tmp_path), allow_secrets=True)
    store.put(("n",), "k", secret)
    item = store.get(("n",), "k")
    assert item is not None
    assert item.value == secret


items = st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text("abc", max_size=4)}), max_size=4)
session_calls = st.lists(
    st.one_of(
        st.tuples(st.just("add_items"), items),
        st.tuples(st.just("pop_item")),
        st.tuples(st.just("clear_session")),
        st.tuples(st.just("get_items"), st.sampled_from([None, 0, 1, 3])),
    ),
    max_size=15,
)


@FEW
@given(st.lists(st.tuples(st.sampled_from(["s", "S"]), session_calls), max_size=3))
def test_a_session_answers_like_the_sdks_own(script: list[tuple[str, list[tuple[Any, ...]]]]) -> None:
    async def play(home: str) -> None:
        own = {name: SQLiteSession(name, f"{home}/own.db") for name in ("s", "S")}
        moss = {name: MossSession(name, home=home) for name in ("s", "S")}
        for name, calls in script:
            for kind, *arguments in calls:
                told = await getattr(own[name], kind)(*arguments)
                assert await getattr(moss[name], kind)(*arguments) == told, (kind, arguments)
        for name in own:
            own[name].close()
            moss[name].close()

    with tempfile.TemporaryDirectory() as home:
        asyncio.run(play(home))


def test_concurrent_sessions_lose_no_item_and_pop_none_twice(tmp_path: Path) -> None:
    def work(number: int) -> list[Any]:
        session = MossSession("shared", home=str(tmp_path))
        said = [cast("Any", {"role": "user", "content": f"{number}-{place}"}) for place in range(5)]
        asyncio.run(session.add_items(said))
        taken = [asyncio.run(session.pop_item()) for _ in range(2)]
        session.close()
        return taken

    with ThreadPoolExecutor(4) as pool:
        popped = [one["content"] for taken in pool.map(work, range(4)) for one in taken]
    left = asyncio.run(MossSession("shared", home=str(tmp_path)).get_items())
    contents = [cast("Any", item)["content"] for item in left]
    assert sorted([*popped, *contents]) == sorted(f"{number}-{place}" for number in range(4) for place in range(5))


files = st.sampled_from(
    ["/memories", "/memories/a.md", "/memories/d", "/memories/d/b.md", "/memories/d/e/c.md", "/memories/d/../a.md",
     "/memories/.hidden", "/memories/../out", "/elsewhere", "/memories//a.md", "/memories/d/"]
)  # fmt: skip
texts = st.text("ab\n", max_size=8)
file_calls = st.lists(
    st.one_of(
        st.fixed_dictionaries({"command": st.just("view"), "path": files}),
        st.fixed_dictionaries({"command": st.just("view"), "path": files, "view_range": st.just([1, 2])}),
        st.fixed_dictionaries({"command": st.just("create"), "path": files, "file_text": texts}),
        st.fixed_dictionaries(
            {"command": st.just("str_replace"), "path": files, "old_str": st.sampled_from(["a", "ab", "b\n"]),
             "new_str": texts}
        ),
        st.fixed_dictionaries(
            {"command": st.just("insert"), "path": files, "insert_line": st.integers(-1, 3), "insert_text": texts}
        ),
        st.fixed_dictionaries({"command": st.just("delete"), "path": files}),
        st.fixed_dictionaries({"command": st.just("rename"), "old_path": files, "new_path": files}),
    ),
    max_size=20,
)  # fmt: skip
FOLDER_SIZE = re.compile(r"^[0-9.]+[BKMG]\t(?=\S*(?:/|/memories|/d)$)", re.MULTILINE)


def said(tool: Any, call: dict[str, Any]) -> str:
    """Return the answer or the refusal, without the sizes of folders, which depend on the system."""
    try:
        return FOLDER_SIZE.sub("-\t", str(tool.call(call)))
    except ToolError as error:
        return f"refused: {error}"
    except OSError:
        return "refused by the system"


FILLED: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/a.md", "file_text": "a\nb\nab\n"},
    {"command": "create", "path": "/memories/d/b.md", "file_text": "b"},
    {"command": "create", "path": "/memories/d/e/c.md", "file_text": "x" * 2000},
    {"command": "create", "path": "/memories/.hidden", "file_text": ""},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/d"},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, -1]},
]  # fmt: skip
"""The commands before the random ones."""


REFUSED: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/a.md", "file_text": "again"},
    {"command": "create", "path": "/memories/a.md/below", "file_text": "a file is no folder"},
    {"command": "create", "path": "/elsewhere/a.md", "file_text": "outside"},
    {"command": "create", "path": "/memories/../a.md", "file_text": "outside"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "zzz", "new_str": ""},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "b", "new_str": ""},
    {"command": "str_replace", "path": "/memories/d", "old_str": "b", "new_str": ""},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 9, "insert_text": "far"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/none"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/.hidden"},
    {"command": "rename", "old_path": "/memories/none", "new_path": "/memories/x"},
    {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/inside"},
    {"command": "view", "path": "/memories/none"},
]
"""Commands that both tools refuse."""


def test_memory_files_refuse_like_the_sdks_own() -> None:
    assert_equal_answers(REFUSED)


@FEW
@given(file_calls)
def test_memory_files_answer_like_the_sdks_own(calls: list[dict[str, Any]]) -> None:
    assert_equal_answers(calls)


def assert_equal_answers(calls: list[dict[str, Any]]) -> None:
    """Run the calls with both tools and assert equal answers."""
    with tempfile.TemporaryDirectory() as folder:
        own = BetaLocalFilesystemMemoryTool(f"{folder}/own")
        moss = MossMemoryTool(home=f"{folder}/home")
        for call in [*FILLED, *calls]:
            told, answered = said(own, call), said(moss, call)
            if told == "refused by the system":
                assert answered.startswith("refused: "), call
            else:
                assert answered == told, call
        moss.close()


def test_the_asynchronous_memory_tool_writes_the_same_files(tmp_path: Path) -> None:
    async def play() -> str:
        tool = AsyncMossMemoryTool(home=str(tmp_path))
        await tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one\n"})
        await tool.call({"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "two"})
        await tool.call({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"})
        shown = str(await tool.call({"command": "view", "path": "/memories/b.md"}))
        edit = {"command": "str_replace", "path": "/memories/b.md", "old_str": "two", "new_str": "2"}
        assert "2" in str(await tool.call(edit))
        await tool.call({"command": "delete", "path": "/memories/b.md"})
        assert await tool.clear_all_memory() == "All memory cleared"
        tool.close()
        return shown

    assert asyncio.run(play()).splitlines()[1:] == ["     1\tone", "     2\ttwo", "     3\t"]
    others = [path.name for path in tmp_path.iterdir() if not path.name.startswith("moss.")]
    assert others == [], "nothing is on the disk but the store"


def test_a_file_above_the_size_limit_is_refused(tmp_path: Path) -> None:
    tool = MossMemoryTool(home=str(tmp_path))
    with pytest.raises(ToolError, match="was not written"):
        tool.call({"command": "create", "path": "/memories/a.md", "file_text": "x" * 60_000})


def test_a_store_is_closed_at_the_end_of_a_with_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Store] = []
    home = str(tmp_path)
    monkeypatch.setattr(Store, "close", lambda store: closed.append(store))
    with MossStore(home=home) as store, MossSession("s", home=home), MossMemoryTool(home=home):
        store.put(("u",), "k", {"n": 1})
        assert closed == []
    monkeypatch.undo()
    for one in closed:
        one.close()
    assert len(closed) == 3
    with MossStore(home=str(tmp_path)) as again:
        found = again.get(("u",), "k")
    assert found is not None
    assert found.value == {"n": 1}
