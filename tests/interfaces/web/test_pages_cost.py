"""CPU cost of the pages: no page takes more than a second, and long texts are shown in parts."""

from __future__ import annotations

import json
import random
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from starlette.requests import Request

from contract.records.archive import SAMPLES
from moss_memory.config import load_config
from moss_memory.store import Store, open_store
from moss_memory.tools.artifact import artifact_tools
from moss_memory.web import changes_page, palette_page
from moss_memory.web.app import PAGES
from moss_memory.web.line_diff import difference
from moss_memory.web.long_texts import PART_CHARS, TREE_VALUES, JsonNode, JsonTree, Part
from moss_memory.web.markdown import MarkdownDocument
from moss_memory.web.page_context import PageContext, PageRequest
from support.measured import cpu_s
from support.pages_server import PagesServer
from support.thorough import complete_or

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.responses import Response

    from moss_memory.registry.operation import Operation

pytestmark = pytest.mark.unmeasured

MOST_CPU_S = 1.0
CHARS = complete_or(800_000, 150_000)
"""More characters than a tool accepts; an import accepts them."""

UNITS = (
    "[", "![", "[a][", "[[a]", "*", "**a ", "> ", "`a", "- x\n", "- - a\n", "# h\n", "<", "&amp;", "~~a", "|a", "x",
    "word ", "a\n", "[a](", "1. x\n", "    a\n", "```\n", "\\", "[x]: /y\n", "\u05d0 ",
)  # fmt: skip
HIDDEN = "\u202e\u200b"
TABLES = ("|a" * 100 + "|\n" + "|-" * 100 + "|\n" + "|\n" * 10_000, "|a" * 5_000 + "|\n" + "|-" * 5_000 + "|\n")
NESTED = (
    "".join("  " * depth + "- x\n" for depth in range(900)),
    "".join(">" * depth + " x\n" for depth in range(1200)),
)


def filled(unit: str) -> str:
    return unit * (CHARS // len(unit)) + "."


@pytest.mark.parametrize("text", [*(filled(unit)[: PART_CHARS + 2_000] for unit in UNITS), *TABLES, *NESTED])
def test_a_part_of_any_text_is_rendered_fast(text: str) -> None:
    assert cpu_s(lambda: MarkdownDocument(text)) < MOST_CPU_S


WIDE = {f"field{number}": number for number in range(CHARS // 16)}
LISTS = [[0] * 200 for _ in range(CHARS // 400)]
LINES = random.Random(1)  # noqa: S311 - lines of texts


def some_lines(kinds: str) -> str:
    return "\n".join(LINES.choice(kinds) for _ in range(CHARS // 4))


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PagesServer, dict[str, str]]]:
    """Return the paths of the pages of a store with the largest and slowest texts, by content."""
    home = str(tmp_path_factory.mktemp("worst") / "home")
    config = load_config(home, cwd=str(tmp_path_factory.getbasetemp()))
    limits = {"text_max_chars": 10**9, "capsule_max_chars": 10**9, "allow_secrets": True}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(artifact_tools, "DATA_MAX_CHARS", 10**9)
        patched.setattr(artifact_tools, "TEXT_MAX_CHARS", 10**9)
        with Store(config.replace(**limits)) as store:
            found = {**capsules(store), **artifacts(store), **reasoning(store), **records(store), **tasks(store)}
    with Store(config) as store, PagesServer(store) as server:
        yield (
            server,
            found
            | {
                "overview": "/overview",
                "agent": "/agent",
                "map": "/map",
                "dots": "/map/data",
                "changes": "/?since=week",
                "search": "/search?q=word&mode=keyword",
            },
        )


def capsules(store: Store) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, unit in enumerate(("![", "# h\n", "word ")):
        key = store.call("capsule_store", {"capsule_text": filled(unit), "allow_thin": True})["id"]
        found |= {f"capsule {number}": f"/capsules/{key}", f"its last part {number}": f"/capsules/{key}?part=40"}
    for _ in range(6):
        store.call("capsule_store", {"capsule_text": filled("word "), "allow_thin": True})
    for text in (some_lines("abcdef"), some_lines("abcdef"), filled("x"), TABLES[0]):
        store.call("capsule_update", {"id": key, "capsule_text": text, "allow_thin": True})
    for version in (2, 3, 4, 5):
        found[f"difference {version}"] = f"/capsules/{key}/history?from={version - 1}&to={version}"
    return found | {"capsules": "/capsules", "edit": f"/capsules/{key}/edit", "table": f"/capsules/{key}"}


def artifacts(store: Store) -> dict[str, str]:
    found = {"artifacts": "/artifacts"}
    for name, data in {"wide": WIDE, "lists": {"l": LISTS}, "text": {"t": filled("![")}}.items():
        key = store.call("artifact_store", {"kind": "k", "data": data, "text": filled("![")})["id"]
        found |= {name: f"/artifacts/{key}", f"{name} as text": f"/artifacts/{key}?whole=1&part=3"}
    return found


def reasoning(store: Store) -> dict[str, str]:
    place = {"workspace": "w"}
    for unit in UNITS[:8]:
        note = {"content": filled(unit), "meta": {"m": ["x"] * (CHARS // 4)}}
        seq = store.call("branchmind_notes_commit", {**place, **note})["entry"]["seq"]
    for _ in range(50):
        store.call("branchmind_notes_commit", {"workspace": "many", "content": "![" * 6_000})
    for first in range(0, 200, 40):
        nodes = [node(number, "word " * 8_000) for number in range(first, first + 40)]
        store.call("branchmind_graph_apply", {**place, "ops": nodes})
    store.call("branchmind_graph_apply", {**place, "ops": [node(900, filled("!["))]})
    store.call("branchmind_branch_create", {**place, "name": "other"})
    for branch in ("other", "main"):
        nodes = [node(number, f"{branch} " * 100_000) for number in (1, 2)]
        store.call("branchmind_graph_apply", {**place, "branch": branch, "ops": nodes})
    merged = store.call("branchmind_graph_merge", {**place, "from": "other", "into": "main"})
    return {
        "log": "/reasoning/log?workspace=w", "long log": "/reasoning/log?workspace=many",
        "one note": f"/reasoning/log?workspace=w&entry={seq}&part=7", "graph": "/reasoning?workspace=w",
        "node": "/reasoning/node?workspace=w&branch=main&id=n900&part=3",
        "compared": "/reasoning?workspace=w&branch=other&compare=main",
        "conflict": f"/reasoning/conflicts/{merged['conflict_ids'][0]}?workspace=w",
    }  # fmt: skip


def node(number: int, text: str) -> dict[str, Any]:
    return {"op": "node_upsert", "id": f"n{number}", "type": "note", "title": "t" * 9_000, "text": text}


def records(store: Store) -> dict[str, str]:
    found = {"records": "/records", "timeline": "/records/timeline"}
    bodies: dict[str, dict[str, Any]] = {
        "agent_decision": {"rationale": filled(HIDDEN)},
        "validation_result": {"details": {"lists": LISTS}},
        "agent_session": {"actions": [WIDE]},
    }
    for kind, body in bodies.items():
        payload = {"capability_id": f"neotoma:store_{kind}:v1", "body": {**SAMPLES[kind], **body}}
        answer = store.call("submit_payload", payload)
        record, entity = f"/records/{answer['payload_id']}", f"/records/entities/{answer['entity_id']}"
        found |= {f"record {kind}": record, f"entity {kind}": entity, f"{kind} as text": f"{record}?whole=1&part=2"}
    return found


def tasks(store: Store) -> dict[str, str]:
    place = {"workspace": "w"}
    store.call("tasks_create", {**place, "kind": "plan", "title": "P", "description": filled(HIDDEN)})
    store.call("tasks_edit", {**place, "target": "PLAN-001", "contract": {"lists": LISTS, **WIDE}})
    store.call("tasks_create", {**place, "kind": "task", "title": "T", "parent": "PLAN-001"})
    steps = [{"title": f"s{number}", "success_criteria": ["c"] * 20, "tests": ["t"] * 20} for number in range(200)]
    for _ in range(5):
        store.call("tasks_decompose", {**place, "target": "TASK-001", "steps": steps})
    for _ in range(5):
        store.call("tasks_note", {**place, "target": "TASK-001", "path": "s:0", "note": filled("![")})
    found = {
        "plan": "/tasks/PLAN-001",
        "contract": "/tasks/PLAN-001?whole=1&",
        "task": "/tasks/TASK-001",
        "board": "/tasks",
    }
    return {name: f"{path}{'' if path.endswith('&') else '?'}workspace=w" for name, path in found.items()}


def test_no_page_takes_a_second_whatever_is_stored(
    paths: tuple[PagesServer, dict[str, str]], subtests: pytest.Subtests
) -> None:
    server, found = paths
    assert len(found) > 35

    def load(path: str) -> None:
        with urllib.request.urlopen(server.address + path, timeout=600) as answer:  # noqa: S310 - of this machine
            assert answer.status == 200
            assert len(answer.read()) < 3_000_000

    load("/")
    for name, path in found.items():
        with subtests.test(page=name):
            assert cpu_s(lambda path=path: load(path)) < MOST_CPU_S  # type: ignore[misc]


@pytest.mark.parametrize(
    "text", ["", "x", "word " * 30_000, "line\n" * 30_000, "x" * 20_000, ("x" * 30 + "\n") * 1_301]
)
def test_the_parts_of_a_text_add_up_to_the_whole(text: str) -> None:
    first = Part(text, 1)
    read = [Part(text, number) for number in range(1, first.count + 1)]
    assert "".join(part.text for part in read) == text
    assert all(len(part.text) <= PART_CHARS + 2_000 for part in read)
    assert Part(text, 10**8).text == read[-1].text
    assert Part(text, 0).text == first.text
    assert [part.text.endswith("\n") for part in read[:-1]] == ["\n" in text] * (first.count - 1)


def test_a_tree_shows_the_beginning_of_a_large_value_and_its_size() -> None:
    small = JsonTree({"a": [1, None, True, 1.5], "b": {}, "c": "text"})
    assert small.is_whole
    assert [(one.name, one.kind, one.text, one.count) for one in small.root.nodes[0].nodes] == [
        (0, "value", "1", 0), (1, "mark", "null", 0), (2, "value", "true", 0), (3, "value", "1.5", 0),
    ]  # fmt: skip
    large = JsonTree({"lists": LISTS, "text": "x" * 10_000})
    assert not large.is_whole
    assert large.root.nodes[0].count == len(LISTS)
    assert counted(large.root) <= TREE_VALUES + 1
    assert not JsonTree({"text": "x" * 10_000}).is_whole


def counted(shown: JsonNode) -> int:
    return 1 + sum(counted(one) for one in shown.nodes)


@pytest.mark.parametrize("kinds", ["a", "ab", "abcdef"])
def test_applying_a_difference_to_one_text_gives_the_other(kinds: str) -> None:
    chance = random.Random(7)  # noqa: S311 - lines of texts
    for _ in range(300):
        old, new = ([chance.choice(kinds) for _ in range(chance.randrange(6))] for _ in range(2))
        lines = difference("\n".join(old), "\n".join(new))
        if old == new:
            assert lines == []
        else:
            kept = [line for line in lines if line["kind"] != "skipped"]
            unchanged = [one["text"] for one in kept if one["kind"] == "same"]
            assert len(kept) - len(unchanged) <= len(old) + len(new)
            if len(kept) == len(lines):
                assert [one["text"] for one in kept if one["kind"] != "added"] == old
                assert [one["text"] for one in kept if one["kind"] != "removed"] == new


def test_very_different_texts_are_shown_one_after_the_other() -> None:
    old, new = ("\n".join(f"{name} {number}" for number in range(5_000)) for name in ("old", "new"))
    shown = difference(old, new)
    assert "too different" in shown[0]["text"]
    assert [shown[1]["text"], shown[1]["kind"]] == ["old 0", "removed"]
    assert {"kind": "skipped", "sign": "…", "text": "4000 more lines removed"} in shown
    assert ("new 0", "added") in [(line["text"], line["kind"]) for line in shown]


def test_the_parts_of_a_capsule_can_be_paged_without_scripts(
    paths: tuple[PagesServer, dict[str, str]],
) -> None:
    server, found = paths
    with urllib.request.urlopen(server.address + found["capsule 2"]) as answer:  # noqa: S310 - of this machine
        page = answer.read().decode()
    assert "part 1 of " in page
    assert 'rel="next"' in page
    assert "?part=2" in page


def test_a_page_reads_changes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    with open_store(str(tmp_path / "home")) as store:
        original = store.call

        def call(tool: Operation, arguments: dict[str, Any], **named: Any) -> dict[str, Any]:
            calls.append(tool.name)
            return original(tool, arguments, **named)

        monkeypatch.setattr(store, "call", call)
        context = PageContext(store, base="", form_token=str, read_only=False)
        for path in ("/", "/overview", "/tasks"):
            calls.clear()
            assert paged(context, path).status_code == 200
            assert calls.count("moss_changes") == 1, path


def paged(context: PageContext, path: str, query: str = "") -> Response:
    scope = {"type": "http", "path": path, "query_string": query.encode(), "path_params": {}, "headers": []}
    handler = PAGES[path]
    answer: Response = handler(context, PageRequest(Request({**scope, "server": ("a", 1)})))
    return answer


def palette_titles(context: PageContext, typed: str) -> list[str]:
    body = bytes(paged(context, "/palette", f"q={typed}").body)
    return [item["title"] for item in json.loads(body)["items"]]


def test_the_palette_searches_only_if_recently_changed_names_do_not_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(palette_page, "_NAMES", 3)
    searched: list[str] = []
    with open_store(str(tmp_path / "home")) as store:
        for number in range(20):
            title = f"Zebra {number}" if number else "Okapi"
            store.call("capsule_store", {"title": title, "capsule_text": "A stripe.", "allow_thin": True})
        context = PageContext(store, base="", form_token=str, read_only=False)
        original = context.call

        def call(tool: str, **arguments: Any) -> dict[str, Any]:
            if tool == "moss_search":
                searched.append(arguments["query"])
            return original(tool, **arguments)

        monkeypatch.setattr(context, "call", call)
        assert palette_titles(context, "okap") == ["Okapi"]
        assert searched == ["okap*"]
        found = palette_titles(context, "zebra")
        assert len(found) == len(set(found)) == 12
        assert found[:3] == ["Zebra 19", "Zebra 18", "Zebra 17"]
        searched.clear()
        assert palette_titles(context, "ze") == ["Zebra 19", "Zebra 18", "Zebra 17"]
        monkeypatch.setattr(palette_page, "_NAMES", 100)
        context.clear_cache()
        assert len(palette_titles(context, "zebra")) == 12
        assert searched == []


def test_changes_are_read_once_until_the_store_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(str(tmp_path / "home")) as store:
        store.call("capsule_store", {"title": "First", "capsule_text": "One.", "allow_thin": True})
        context = PageContext(store, base="", form_token=str, read_only=False)
        first = bytes(paged(context, "/", "since=today").body)
        monkeypatch.setattr(changes_page, "changes_in_period", lambda *_, **__: pytest.fail("read again"))
        assert b"First" in bytes(paged(context, "/", "since=today").body)
        assert b"Second" not in first
        monkeypatch.undo()
        store.call("capsule_store", {"title": "Second", "capsule_text": "Two.", "allow_thin": True})
        assert b"Second" in bytes(paged(context, "/", "since=today").body)
