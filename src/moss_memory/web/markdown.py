"""Stored Markdown as HTML that can do nothing but be read."""

from __future__ import annotations

import re

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_block import table
from markupsafe import Markup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_TAGS = {
    "a", "blockquote", "br", "code", "del", "div", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
    "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_BLOCKS = ("blockquote", "ol", "p", "table", "ul", *(f"h{level}" for level in range(2, 7)))
_ATTRIBUTES = {tag: {"dir"} for tag in _BLOCKS} | {f"h{level}": {"dir", "id"} for level in range(2, 7)}
_ATTRIBUTES |= {"a": {"href", "title"}, "ol": {"dir", "start"}}
_FROM_THE_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LAST_LEVEL = 6
_TABLE_CELLS = 10_000
"""A table of more cells than this is shown as text: rows that name none of their cells would still fill them all."""


class Document:
    """A text as HTML, which can do nothing but be read, and its headings with their ids, in order.

    Headings start at the second level and have an id, nothing is loaded, nothing runs. The time it takes grows with the
    text, of which pages show a part at a time.
    """

    __slots__ = ("headings", "html")

    def __init__(self, text: str) -> None:
        tokens = _parser.parse(text)
        titles = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
        self.headings = [(f"s{number}", title) for number, title in enumerate(titles, 1)]
        _settle_headings(tokens)
        if _FROM_THE_RIGHT.search(text):
            _settle_directions(tokens)
        html = _parser.renderer.render(tokens, _parser.options, {})
        self.html = Markup(_clean(html))  # noqa: S704 - cleaned just here


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
        generic_attribute_prefixes=set(),
    )


def _settle_headings(tokens: Sequence[Token]) -> None:
    """Gives headings their ids, and the levels that they have below the title of the page."""
    opened = [token for token in tokens if token.type == "heading_open"]
    above = min((int(token.tag[1]) for token in opened), default=2) - 2
    for number, token in enumerate(opened, 1):
        token.attrSet("id", f"s{number}")
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) - above, _LAST_LEVEL)}"


def _settle_directions(tokens: Sequence[Token]) -> None:
    """Lets each outermost block read in the direction of its own first word."""
    for token in tokens:
        if token.nesting == 1 and token.level == 0:
            token.attrSet("dir", "auto")


def _image(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """A picture is not loaded, it would tell its server of the reader: its description stands for it."""
    from html import escape

    return f"<em>{escape(tokens[place].content or 'picture')}</em>"


def _small_table(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Take a table, unless the lines that are left could make more cells of it than a page shows."""
    head = state.src[state.bMarks[first] : state.eMarks[first]]
    return (head.count("|") + 1) * (last - first) <= _TABLE_CELLS and table(state, first, last, silent)


_parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
_parser.add_render_rule("image", _image)
_parser.block.ruler.at("table", _small_table, {"alt": ["paragraph", "reference"]})
