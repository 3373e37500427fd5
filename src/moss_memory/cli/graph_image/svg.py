"""The image as SVG: nodes as boxes, edges as arrows, a heading and a legend.

All text of the graph is escaped by `safe`; the file has no script, link or external resource.
"""

from __future__ import annotations

from .graph_layout import Arrow, Box, lay_out
from .graph_reader import CONTAINS, DEPENDS_ON
from .palette import FAINT_INK, INK, LINE, PAPER, colours_of, is_settled
from .text_metrics import measure, one_line, safe, truncate, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .graph_reader import Graph

_MARGIN = 24.0
_SMALL, _BODY, _HEADING = 10.5, 13.0, 16.0
_LINE_HEIGHT = 17.0
_PAD = 10.0
_TEXT_WIDTH = 210.0
_LINES = 4
_REL_WIDTH = 130.0
_TOOLTIP_CHARS = 2000
FONTS = (
    "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans', 'Nimbus Sans', FreeSans, Ubuntu, Cantarell, "
    "Roboto, 'Open Sans', sans-serif"
)


class NodeBox:
    """A node to draw: a head with type, id and status, and the lines of its title."""

    def __init__(self, node: dict[str, Any]) -> None:
        self.node = node
        self.missing = node.get("type") is None
        self.settled = is_settled(node.get("status"))
        self.kind = "missing" if self.missing else one_line(node["type"])
        self.status = one_line(node.get("status") or "")
        title = one_line(node.get("title") or node.get("text") or "")
        self.name = f"{self.kind} \u00b7 {one_line(node['id'])}" if title else self.kind
        self.lines = wrap(title or node["id"], _BODY, _TEXT_WIDTH, _LINES)
        head = measure(f"{self.name}   {self.status}", _SMALL)
        inside = max([min(head, _TEXT_WIDTH), *(measure(line, _BODY) for line in self.lines), 90.0])
        self.box = Box(inside + 2 * _PAD, 2 * _PAD + 4 + _LINE_HEIGHT * len(self.lines))

    def svg(self, light: str, dark: str) -> str:
        """Return the SVG of the box at its position."""
        box = self.box
        left, top = box.x - box.width / 2, box.y - box.height / 2
        ink = FAINT_INK if self.settled or self.missing else INK
        fill = PAPER if self.missing else light
        dashes = ' stroke-dasharray="5 4"' if self.missing else ""
        faint = ' fill-opacity="0.35" stroke-opacity="0.45"' if self.settled else ""
        parts = [
            f"<g><title>{safe(self._tooltip())}</title>",
            _rectangle(left, top, box, f'fill="{fill}" stroke="{LINE if self.missing else dark}"{dashes}{faint}'),
            *self._head(left, top, FAINT_INK if self.settled or self.missing else dark),
        ]
        for index, line in enumerate(self.lines):
            y = top + _PAD + 8 + _LINE_HEIGHT * (index + 1) - 4
            parts.append(_text(left + _PAD, y, line, _BODY, ink))
        return "".join([*parts, "</g>"])

    def _head(self, left: float, top: float, ink: str) -> list[str]:
        """Return the SVG of the head: type and id on the left, status on the right."""
        available = self.box.width - 2 * _PAD
        y = top + _PAD + 3
        status = truncate(self.status, _SMALL, available * 0.45)
        status_width = measure(status, _SMALL) + (12 if status else 0)
        name = truncate(self.name, _SMALL, available - status_width)
        parts = [_text(left + _PAD, y, name, _SMALL, ink)]
        if status:
            parts.append(_text(left + self.box.width - _PAD, y, status, _SMALL, ink, anchor="end", bold=True))
        return parts

    def _tooltip(self) -> str:
        node = self.node
        parts = [f"{node['id']} ({self.kind}{', ' + self.status if self.status else ''})"]
        parts += [one_line(node[key])[:_TOOLTIP_CHARS] for key in ("title", "text") if node.get(key)]
        return " \u2014 ".join(parts)


def svg_of(graph: Graph, heading: str) -> tuple[str, float, float]:
    """Return the whole image, its width and its height."""
    nodes = [*graph.nodes.values(), *({"id": node_id} for node_id in graph.missing)]
    boxes = {str(node["id"]): NodeBox(node) for node in nodes}
    colours = colours_of(sorted({box.kind for box in boxes.values() if not box.missing}))
    rels = [truncate(one_line(rel), _SMALL, _REL_WIDTH) for _, rel, _ in graph.edges]
    arrows = [_to_arrow(edge, rel, is_work=bool(graph.tasks)) for edge, rel in zip(graph.edges, rels, strict=True)]
    width, height = lay_out({name: box.box for name, box in boxes.items()}, arrows)
    legend, legend_width, legend_height = _legend(boxes, colours, max(width, 480.0))
    head = _heading(graph, heading, max(width, legend_width, 320.0))
    image_width = max(width, legend_width, 320.0) + 2 * _MARGIN
    top = _MARGIN + 46
    drawn = [_arrow_svg(arrow) for arrow in arrows]
    drawn += [box.svg(*colours.get(box.kind, (PAPER, LINE))) for box in boxes.values()]
    drawn += [_label(arrow, rel) for arrow, rel in zip(arrows, rels, strict=True)]
    bottom = top + height + (28 if boxes else 0)
    image_height = bottom + legend_height + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{image_width:.0f}" height="{image_height:.0f}" '
        f'viewBox="0 0 {image_width:.0f} {image_height:.0f}" font-family="{FONTS}" role="img">\n'
        f"<title>{safe(heading)}</title>\n"
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        f'orient="auto"><path d="M0 1 L10 5 L0 9 z" fill="{LINE}"/></marker></defs>\n'
        f'<rect width="100%" height="100%" fill="{PAPER}"/>\n'
        f'<g transform="translate({_MARGIN:.0f} {_MARGIN:.0f})">{head}</g>\n'
        f'<g transform="translate({_MARGIN + (image_width - 2 * _MARGIN - width) / 2:.1f} {top:.1f})">\n'
        + "\n".join(drawn)
        + f'\n</g>\n<g transform="translate({_MARGIN:.0f} {bottom:.1f})">\n{legend}\n</g>\n</svg>\n',
        image_width,
        image_height,
    )


def _to_arrow(edge: tuple[str, str, str], rel: str, *, is_work: bool) -> Arrow:
    """Return the arrow of an edge; containment orders plans and tasks, dependencies do not move them."""
    tail, relation, head = edge
    label_size = (measure(rel, _SMALL) + 8, 16.0)
    return Arrow(
        tail,
        head,
        label_size,
        ordered=is_work and relation == CONTAINS,
        ignored_by_layout=is_work and relation == DEPENDS_ON,
    )


def _heading(graph: Graph, heading: str, width: float) -> str:
    nodes, edges = len(graph.nodes), len(graph.edges)
    counts = f"{nodes} {'node' if nodes == 1 else 'nodes'}, {edges} {'edge' if edges == 1 else 'edges'}"
    if graph.more:
        counts += f"; only the {nodes} last changed of more"
    return _text(0, 12, truncate(heading, _HEADING, width), _HEADING, INK, bold=True) + _text(
        0, 32, counts, 12.0, FAINT_INK
    )


def _arrow_svg(arrow: Arrow) -> str:
    points = [*arrow.points, arrow.end]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for index in range(1, len(arrow.points) - 2, 3):
        path += " C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in arrow.points[index : index + 3])
    path += f" L{arrow.end[0]:.1f} {arrow.end[1]:.1f}"
    return f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.2" marker-end="url(#tip)"/>'


def _label(arrow: Arrow, rel: str) -> str:
    x, y = arrow.label
    halo = f' stroke="{PAPER}" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke"'
    return _text(x, y + 3.5, rel, _SMALL, INK, anchor="middle", look=halo)


def _legend(boxes: dict[str, NodeBox], colours: dict[str, tuple[str, str]], width: float) -> tuple[str, float, float]:
    """Return the legend of colours and borders, wrapped to the width, with its size."""
    counts: dict[str, int] = {}
    for box in boxes.values():
        counts[box.kind] = counts.get(box.kind, 0) + 1
    entries = [
        (f"{truncate(kind, 11.0, 160.0)} ({counts[kind]})", f'fill="{light}" stroke="{dark}"')
        for kind, (light, dark) in colours.items()
    ]
    settled_statuses = sorted({box.status for box in boxes.values() if box.settled})
    if settled_statuses:
        entries.append(
            (
                truncate(f"faint: {', '.join(settled_statuses)}", 11.0, 260.0),
                f'fill="{PAPER}" stroke="{LINE}" stroke-opacity="0.45"',
            )
        )
    if any(box.missing for box in boxes.values()):
        entries.append(("no such node", f'fill="{PAPER}" stroke="{LINE}" stroke-dasharray="3 2"'))
    parts, x, y, widest = [], 0.0, 0.0, 0.0
    for label, look in entries:
        wide = 22 + measure(label, 11.0) + 18
        if x and x + wide > width:
            x, y = 0.0, y + 20
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="15" height="12" rx="3" stroke-width="1.2" {look}/>')
        parts.append(_text(x + 21, y + 10, label, 11.0, INK))
        x += wide
        widest = max(widest, x - 18)
    return "\n".join(parts), widest, y + 14 if entries else 0.0


def _rectangle(left: float, top: float, box: Box, look: str) -> str:
    size = f'width="{box.width:.1f}" height="{box.height:.1f}"'
    return f'<rect x="{left:.1f}" y="{top:.1f}" {size} rx="7" stroke-width="1.4" {look}/>'


def _text(
    x: float, y: float, text: str, size: float, ink: str, *, anchor: str = "", bold: bool = False, look: str = ""
) -> str:
    alignment = f' text-anchor="{anchor}"' if anchor else ""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{ink}"{alignment}{weight}{look}>{safe(text)}</text>'
