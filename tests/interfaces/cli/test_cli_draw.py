"""`moss graph draw`: its output file, the content of the picture, and failures."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from moss_memory import open_store
from moss_memory.cli.graph_image import draw, graph_layout
from moss_memory.cli.graph_image.graph_reader import read_graph

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli, Outcome

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script> & \"q\" 'a' ]]> <!-- \x1b[31m \u202e \ufffe \u200b"


def node(id: str, type: str = "question", **more: Any) -> dict[str, Any]:
    return {"op": "node_upsert", "id": id, "type": type, **more}


def edge(tail: str, rel: str, head: str) -> dict[str, Any]:
    return {"op": "edge_upsert", "from": tail, "rel": rel, "to": head}


def fill(cli: Cli, *ops: dict[str, Any], workspace: str = "shop") -> None:
    with open_store(cli.home) as store:
        store.call("branchmind_graph_apply", {"workspace": workspace, "ops": list(ops)})


def drawn(cli: Cli, *words: str) -> ET.Element:
    """Draw the workspace `shop` and return the parsed picture."""
    answer = cli("graph", "draw", "-w", "shop", "-o", "graph.svg", *words).json
    assert answer["path"] == os.path.abspath("graph.svg")
    return ET.parse("graph.svg").getroot()  # noqa: S314 - this test has just written it


def texts(picture: ET.Element) -> list[str]:
    return [one.text or "" for one in picture.iter(f"{SVG}text")]


def cards(picture: ET.Element) -> list[ET.Element]:
    """Return the groups of nodes, which have a title of their own."""
    return [one for one in picture.iter(f"{SVG}g") if one.find(f"{SVG}title") is not None]


def frames(picture: ET.Element) -> list[tuple[float, ...]]:
    rects = [card.find(f"{SVG}rect") for card in cards(picture)]
    return [tuple(float(one.attrib[key]) for key in ("x", "y", "width", "height")) for one in rects if one is not None]


def test_nodes_edges_labels_and_a_legend_are_drawn(cli: Cli) -> None:
    fill(
        cli,
        node("q1", title="Redis or in the process?", status="open"),
        node("h1", "hypothesis", title="Redis survives a restart", status="rejected"),
        node("t1", "load test", text="Restart it under load"),
        edge("h1", "answers", "q1"),
        edge("t1", "tests", "h1"),
    )
    picture = drawn(cli)
    said = texts(picture)
    for expected in (
        "shop · main · graph", "3 nodes, 2 edges", "question · q1", "Redis or in the process?", "open", "rejected",
        "Restart it under load", "answers", "tests", "hypothesis (1)", "load test (1)", "question (1)",
        "faint: rejected",
    ):  # fmt: skip
        assert expected in said
    assert len(cards(picture)) == 3
    arrows = [one for one in picture.iter(f"{SVG}path") if "marker-end" in one.attrib]
    assert len(arrows) == 2


def test_types_have_colours_and_finished_nodes_are_faint(cli: Cli) -> None:
    statuses = ("open", "closed", "resolved", "Rejected", "", "in review")
    fill(cli, *(node(f"n{at}", f"type{at}", status=one) for at, one in enumerate(statuses)))
    looks = {card[0].text: card[1].attrib for card in cards(drawn(cli))}
    assert len({look["fill"] for look in looks.values()}) == len(statuses)
    faint = {str(name).split()[0] for name, look in looks.items() if "stroke-opacity" in look}
    assert faint == {"n1", "n2", "n3"}


def test_hostile_text_is_drawn_as_text(cli: Cli) -> None:
    fill(
        cli,
        node("a<b>&\"'", "</g><a href='x'>", title=HOSTILE, status="<i>", text=HOSTILE, tags=["<x>"]),
        node("b", title="{}%s\\n"),
        edge("a<b>&\"'", "<rel attr='&'>", "b"),
    )
    picture = drawn(cli)
    tags = {one.tag.removeprefix(SVG) for one in picture.iter()}
    assert tags == {"svg", "title", "defs", "marker", "path", "rect", "g", "text"}
    attributes = {name for one in picture.iter() for name in one.attrib}
    assert not [name for name in attributes if "href" in name or name.startswith("on") or name == "style"]
    said = "".join(picture.itertext())
    assert "<script>alert(1)</script>" in said
    assert not {"\x1b", "\u202e", "\ufffe", "\u200b"} & set(said)
    assert "<rel attr='&'>" in texts(picture)


@pytest.mark.parametrize(
    ("ops", "nodes", "edges"),
    [
        ([node("only")], 1, 0),
        ([node(f"n{at}", title="word " * at) for at in range(17)], 17, 0),
        (
            [node("a"), node("b"), *(edge(*one) for one in ("axb", "bya", "aza", "awb"))],
            2, 4,
        ),
        (
            [node("a", title="x" * 5000), node("b" * 256, "t" * 128, title="so many words " * 500),
             edge("a", "r" * 128, "b" * 256)],
            2, 1,
        ),
        (
            [node("東京", title="どこにセッションを保存しますか" * 9), node("e", title="👩‍💻 é ñ"),
             edge("e", "支持", "東京")],
            2, 1,
        ),
        ([node(f"n{at}") for at in range(12)] + [edge(f"n{at}", "to", f"n{at // 3}") for at in range(1, 12)], 12, 11),
    ],
    ids=["one", "no-edges", "cycles", "long", "unicode", "tree"],
)  # fmt: skip
def test_cards_never_overlap_and_are_inside_the_picture(
    cli: Cli, ops: list[dict[str, Any]], nodes: int, edges: int
) -> None:
    fill(cli, *ops)
    picture = drawn(cli)
    places = frames(picture)
    assert len(places) == nodes
    assert len([one for one in picture.iter(f"{SVG}path") if "marker-end" in one.attrib]) == edges
    wide, high = float(picture.attrib["width"]), float(picture.attrib["height"])
    for at, (x, y, width, height) in enumerate(places):
        assert -1 <= x <= x + width <= wide
        assert -1 <= y <= y + height <= high
        for other_x, other_y, other_width, other_height in places[:at]:
            beside = x + width <= other_x + 1 or other_x + other_width <= x + 1
            assert beside or y + height <= other_y + 1 or other_y + other_height <= y + 1
    assert max(width for _, _, width, _ in places) < 260


def test_an_empty_graph_is_drawn(cli: Cli) -> None:
    cli("branch", "init", "-w", "shop").json  # noqa: B018
    assert texts(drawn(cli)) == ["shop · main · graph", "0 nodes, 0 edges"]


def test_an_edge_to_a_missing_node_is_drawn_to_a_dashed_card(cli: Cli) -> None:
    fill(cli, node("a"), node("b", "note"), edge("a", "needs", "ghost"), edge("x", "and", "y"), edge("a", "to", "b"))
    answer = cli("graph", "draw", "-w", "shop", "-o", "graph.svg").json
    assert (answer["nodes"], answer["edges"], answer["missing"]) == (2, 3, 3)
    dashed = [card[0].text for card in cards(drawn(cli)) if "stroke-dasharray" in card[1].attrib]
    assert dashed == ["ghost (missing)", "x (missing)", "y (missing)"]
    filtered = drawn(cli, "--types", "question")
    assert [card[0].text for card in cards(filtered)] == ["a (question)", "ghost (missing)"]


def test_branch_document_filters_and_limit_select_the_drawn_nodes(cli: Cli) -> None:
    fill(cli, node("a", status="open", tags=["x"]), node("b", "note", title="Find me"), edge("a", "to", "b"))
    cli("branch", "create", "what-if", "-w", "shop").json  # noqa: B018
    cli("graph", "apply", json.dumps([node("c")]), "-w", "shop", "--branch", "what-if").json  # noqa: B018
    cli("graph", "apply", json.dumps([node("d")]), "-w", "shop", "--doc", "plan").json  # noqa: B018
    for words, ids in (
        (["what-if"], "cba"), (["--branch", "what-if"], "cba"), (["--ref", "what-if"], "cba"), (["--doc", "plan"], "d"),
        (["--types", "note,other"], "b"), (["--status", "open"], "a"), (["--tags-any", "x"], "a"),
        (["--text", "find"], "b"), (["--ids", "a,b"], "ba"), (["--limit", "1"], "b"),
    ):  # fmt: skip
        assert [str(card[0].text)[0] for card in cards(drawn(cli, *words))] == list(ids), words
    shown = cli("graph", "draw", "-w", "shop", "-o", "graph.svg", "--limit", "1").json
    assert shown["truncated"] is True
    assert "1 node, 0 edges; only the 1 last changed of more" in texts(drawn(cli, "--limit", "1"))


@pytest.mark.parametrize(("nodes", "step"), [(450, 7), (45, 1)], ids=["many pages", "many edges"])
def test_edges_across_pages_are_drawn(cli: Cli, nodes: int, step: int) -> None:
    ids = [f"n{at}" for at in range(nodes)]
    pairs = {(one, other) for one in ids[:: step * 3] for other in ids[::step] if one != other}
    pairs |= {(one, other) for one in ids for other in ids if one != other} if step == 1 else set()
    ops = [edge(one, "to", other) for one, other in sorted(pairs)]
    fill(cli, *(node(one) for one in ids), *ops)
    with open_store(cli.home) as store:
        graph = read_graph(store, {"workspace": "shop"}, limit=1000)
    assert len(graph.nodes) == nodes
    assert {(tail, head) for tail, _, head in graph.edges} == pairs
    assert len(graph.edges) == len(pairs)


def test_graphviz_gets_no_text_of_the_graph_or_the_folder(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cli, node("secret", title="Secret"), node("b"), edge("secret", "secretly", "b"))
    for name in ("pygraphviz", "json", "moss_memory"):
        with open(f"{name}.py", "w", encoding="utf-8") as file:
            file.write("raise SystemExit('imported from the current folder')")
    sent = []
    run = subprocess.run

    def watched(*arguments: Any, **options: Any) -> Any:
        sent.append(options["input"])
        return run(*arguments, **options)

    monkeypatch.setattr(subprocess, "run", watched)
    assert len(cards(drawn(cli))) == 2
    assert len(sent) == 1
    assert "ecret" not in sent[0]


def test_a_tangled_graph_is_drawn_with_straight_lines(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cli, node("a"), node("b"), edge("a", "to", "b"))
    run = subprocess.run

    def slow(*arguments: Any, **options: Any) -> Any:
        if '"curved": true' in options["input"]:
            raise subprocess.TimeoutExpired("graphviz", 30)
        return run(*arguments, **options)

    monkeypatch.setattr(subprocess, "run", slow)
    assert "to" in texts(drawn(cli))


def refused(cli: Cli, *words: str) -> Outcome:
    """Assert that drawing fails and leaves no file, and return its outcome."""
    before = sorted(os.listdir())
    outcome = cli("graph", "draw", "-w", "shop", *words)
    assert outcome.code != 0
    assert outcome.out == ""
    assert sorted(os.listdir()) == before
    return outcome


@pytest.mark.parametrize(
    ("raised", "says", "code"),
    [
        (subprocess.TimeoutExpired("graphviz", 30), "[INVALID_REQUEST] the graph takes longer than a minute", 1),
        (KeyboardInterrupt(), "[CANCELLED] ", 130),
    ],
    ids=["time", "ctrl-c"],
)
def test_an_unfinished_picture_leaves_no_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, raised: BaseException, says: str, code: int
) -> None:
    fill(cli, node("a"), node("b"), edge("a", "to", "b"))

    def failing(*_: Any, **__: Any) -> Any:
        raise raised

    monkeypatch.setattr(subprocess, "run", failing)
    outcome = refused(cli, "-o", "g.svg")
    assert outcome.err.startswith(says)
    assert outcome.code == code


def test_a_failure_of_graphviz_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cli, node("a"), node("b"), edge("a", "to", "b"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], -11, stdout="", stderr=""))
    assert refused(cli, "-o", "g.svg").err == "[INTERNAL] Graphviz cannot lay this graph out: it ended with -11\n"
    assert graph_layout.TIMEOUT_S <= 60


@pytest.mark.parametrize(
    ("absent", "output"),
    [(["pygraphviz"], "g.svg"), (["resvg_py"], "g.png"), (["pygraphviz", "resvg_py"], "g.png")],
)
def test_without_the_extra_the_package_to_install_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, absent: list[str], output: str
) -> None:
    from importlib import util

    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name in absent else find(name))
    fill(cli, node("a"))
    said = refused(cli, "-o", output).err
    assert said.startswith(f"[INVALID_REQUEST] drawing needs {' and '.join(absent)}")
    assert "-m pip install " in said
    assert "[draw]" in said


def test_the_picture_is_private_for_any_umask_and_replaces_an_earlier_one(cli: Cli) -> None:
    fill(cli, node("a"))
    with open("graph.svg", "w", encoding="utf-8") as file:
        file.write("an earlier picture")
    os.chmod("graph.svg", 0o644)
    before = os.umask(0)
    try:
        drawn(cli)
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("graph.svg").st_mode) == 0o600
    assert os.listdir() == ["graph.svg"]


def test_only_a_regular_file_is_replaced(cli: Cli, tmp_path: Path) -> None:
    fill(cli, node("a"))
    precious = tmp_path / "precious.svg"
    precious.write_text("precious")
    os.symlink(precious, "link.svg")
    os.symlink(tmp_path / "nowhere.svg", "loose.svg")
    os.link(precious, "hard.svg")
    os.mkdir("folder.svg")
    os.mkfifo("pipe.svg")
    for name in ("link.svg", "loose.svg", "hard.svg", "folder.svg", "pipe.svg"):
        assert "is not a plain file with a single link" in refused(cli, "-o", name).err
    assert precious.read_text() == "precious"
    assert not (tmp_path / "nowhere.svg").exists()


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("graph.pdf", "[INVALID_REQUEST] graph.pdf should end in .svg or .png"),
        ("graph", "[INVALID_REQUEST] graph should end in .svg or .png"),
        ("nowhere/graph.svg", "[NOT_FOUND] the folder "),
        ("x" * 300 + ".svg", "[INVALID_REQUEST] "),
    ],
    ids=["pdf", "none", "folder", "long"],
)
def test_an_invalid_output_file_is_refused_before_reading(cli: Cli, output: str, says: str) -> None:
    assert refused(cli, "-o", output).err.startswith(says)
    assert not os.path.exists(cli.home)


@pytest.mark.parametrize("limit", ["0", "-1", "1001"])
def test_a_limit_outside_its_bounds_is_refused(cli: Cli, limit: str) -> None:
    assert refused(cli, "-o", "g.svg", "--limit", limit).err.startswith(f"[INVALID_REQUEST] --limit is {limit}")


def test_a_missing_graph_is_reported_with_the_next_command(cli: Cli) -> None:
    assert "try: moss branch init" in refused(cli, "-o", "g.svg").err
    fill(cli, node("a"))
    assert "try: moss branch list" in refused(cli, "nope", "-o", "g.svg").err
    assert refused(cli).code == 2
    assert "--output is needed" in refused(cli).err


def test_a_png_has_twice_the_size_within_a_limit_of_pixels(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "_PROBE", draw._PROBE.replace("<text", '<rect width="9" height="9"/>Mm<text'))
    fill(cli, node("a", title="A"))
    svg = drawn(cli)
    size = (round(float(svg.attrib["width"])), round(float(svg.attrib["height"])))

    def pixels() -> tuple[int, int]:
        cli("graph", "draw", "-w", "shop", "-o", "graph.PNG").json  # noqa: B018
        with open("graph.PNG", "rb") as file:
            head = file.read(24)
        assert head.startswith(b"\x89PNG\r\n\x1a\n")
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])

    assert pixels() == (2 * size[0], 2 * size[1])
    monkeypatch.setattr(draw, "_PIXELS_MAX", 10_000)
    wide, high = pixels()
    assert wide * high <= 11_000
    assert abs(wide / high - size[0] / size[1]) < 0.05


def test_a_png_without_a_font_is_refused_rather_than_empty(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "_PROBE", draw._PROBE.replace("font-family=", "font-family='No Such Font' class="))
    monkeypatch.setattr(draw, "_PROBE", draw._PROBE.replace("Mm", ""))
    fill(cli, node("a"))
    assert refused(cli, "-o", "g.png").err.startswith("[NOT_FOUND] this system has no font")


def test_the_answer_can_be_a_table(cli: Cli) -> None:
    fill(cli, node("a"))
    shown = cli("graph", "draw", "-w", "shop", "-o", "g.svg", "--table").out
    assert "nodes    1\n" in shown


def plan(cli: Cli) -> None:
    """Create a plan of two tasks with steps, a task of no plan, and a question in the graph of the checkout."""
    fill(cli, node("q1", title="Redis?"), node("s1", title="of the checkout"))
    with open_store(cli.home) as store:
        store.tasks_create(workspace="shop", kind="plan", title="Ship")
        for title in ("Build", "Release"):
            steps: list[Any] = [{"title": f"{title} {at}"} for at in range(12)]
            store.tasks_create(workspace="shop", kind="task", title=title, parent="PLAN-001", steps=steps)
        store.tasks_create(workspace="shop", kind="task", title="Rest")
        store.tasks_edit(workspace="shop", target="TASK-002", depends_on=["TASK-001"])
        card: Any = {"id": "q1", "type": "question", "title": "Which cart?"}
        store.branchmind_think_card(workspace="shop", target="TASK-001", card=card)


def test_a_workspace_is_drawn_with_its_plans_and_tasks(cli: Cli) -> None:
    plan(cli)
    picture = drawn(cli)
    said = texts(picture)
    for expected in ("Redis?", "Ship", "Build", "Release", "Rest", "Build 11", "Which cart?", "depends_on"):
        assert expected in said
    assert "shop · main · graph · 4 plans and tasks" in said
    assert len(said) == len([one for one in said if one != "Redis?"]) + 1
    assert len(cards(picture)) == 2 + 4 + 24 + 1, "nodes of two graphs are drawn once, nodes of equal names twice"
    answer = cli("graph", "draw", "-w", "shop", "-o", "graph.svg").json
    assert (answer["tasks"], answer["nodes"]) == (4, 31)
    assert cli("graph", "draw", "-w", "shop", "-o", "graph.svg", "--branch", "main").json["nodes"] == 2


def test_tasks_and_steps_are_drawn_in_order(cli: Cli) -> None:
    plan(cli)
    picture = drawn(cli)
    left = {}
    for card, (x, *_) in zip(cards(picture), frames(picture), strict=True):
        title = card.find(f"{SVG}title")
        assert title is not None
        left[(title.text or "").partition(" — ")[2]] = x
    for task in ("Build", "Release"):
        places = [left[f"{task} {at}"] for at in range(12)]
        assert places == sorted(places)
    assert left["Build"] < left["Release"]


def test_a_workspace_above_the_limit_is_marked_as_truncated(cli: Cli) -> None:
    plan(cli)
    answer = cli("graph", "draw", "-w", "shop", "-o", "graph.svg", "--limit", "10").json
    assert (answer["nodes"], answer["truncated"]) == (10, True)
