"""Stored Markdown as HTML that can do nothing but be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token
from markupsafe import Markup

_TAGS = {
    "a", "blockquote", "br", "code", "del", "div", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
    "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_BLOCKS = ("blockquote", "ol", "p", "table", "ul", *(f"h{level}" for level in range(2, 7)))
_ATTRIBUTES = {tag: {"dir"} for tag in _BLOCKS} | {f"h{level}": {"dir", "id"} for level in range(2, 7)}
_ATTRIBUTES |= {"a": {"href", "title"}, "ol": {"dir", "start"}}
_FROM_THE_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LAST_LEVEL = 6
_ANCHOR_WORDS = re.compile(r"\w+")
_ANCHOR_CHARS = 60
_TABLE_CELLS = 10_000
"""Maximum number of cells of a table; a larger one is shown as text, because rows without cells are filled up."""


class MarkdownDocument:
    """A text as inert HTML, and its headings with their ids, in order.

    Headings start at the second level and have an id, nothing is loaded, nothing runs. The time is linear in the text,
    of which pages show one part at a time.
    """

    __slots__ = ("headings", "html")

    def __init__(self, text: str) -> None:
        tokens = _parser.parse(text)
        titles = [tokens[index + 1].content for index, token in enumerate(tokens) if token.type == "heading_open"]
        self.headings = list(zip(_anchors(titles), titles, strict=True))
        _set_heading_ids(tokens, [anchor for anchor, _ in self.headings])
        if _FROM_THE_RIGHT.search(text):
            _set_directions(tokens)
        clean = nh3.clean(
            _parser.renderer.render(tokens, _parser.options, {}),
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer",
            generic_attribute_prefixes=set(),
        )
        self.html = Markup(clean)  # noqa: S704 - cleaned just here


def _anchors(titles: list[str]) -> list[str]:
    """Return an id for each heading, made of its words; a number follows the second one of the same words."""
    used: dict[str, int] = {}
    anchors = []
    for title in titles:
        anchor = "s-" + "-".join(_ANCHOR_WORDS.findall(title[:_ANCHOR_CHARS].casefold()))
        used[anchor] = used.get(anchor, 0) + 1
        anchors.append(anchor if used[anchor] == 1 else f"{anchor}.{used[anchor]}")
    return anchors


def _set_heading_ids(tokens: Sequence[Token], anchors: list[str]) -> None:
    """Set ids of headings, and their levels below the title of the page."""
    opened = [token for token in tokens if token.type == "heading_open"]
    above = min((int(token.tag[1]) for token in opened), default=2) - 2
    for token, anchor in zip(opened, anchors, strict=True):
        token.attrSet("id", anchor)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) - above, _LAST_LEVEL)}"


def _set_directions(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.nesting == 1 and token.level == 0:
            token.attrSet("dir", "auto")


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Replace an image by its description, because loading it would reveal the reader to its server."""
    from html import escape

    return f"<em>{escape(tokens[index].content or 'picture')}</em>"


def _bounded_table(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a table, unless the remaining lines could expand to more cells than the maximum."""
    head = state.src[state.bMarks[first] : state.eMarks[first]]
    return (head.count("|") + 1) * (last - first) <= _TABLE_CELLS and table(state, first, last, silent)


_parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
_parser.add_render_rule("image", _image)
_parser.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})
