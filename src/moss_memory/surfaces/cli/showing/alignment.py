"""Rows of cells under their titles, and how columns share a terminal's width."""

from __future__ import annotations

from .cell import Cell, cells

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from moss_memory.answers import Column


def aligned(columns: Sequence[Column], rows: list[list[Cell]], *, width: int = 0) -> str:
    """Rows of cells under their titles, no wider than the terminal; numbers and their titles stand to the right."""
    titles = [Cell(column.title, right=all(row[at].right for row in rows)) for at, column in enumerate(columns)]
    lines = [titles, *rows]
    needed = [max(cells(line[at].text) for line in lines) for at in range(len(columns))]
    widths = share_width(columns, needed, width)
    return "\n".join(
        "  ".join([cell.fit(wide) for cell, wide in zip(line, widths, strict=True) if wide]).rstrip() for line in lines
    )


def share_width(columns: Sequence[Column], needed: list[int], width: int) -> list[int]:
    """The width of each column, 0 for one that is left out: long texts shrink first, then whole columns go."""
    widths = [min(wide, column.widest or wide) for column, wide in zip(columns, needed, strict=True)]
    while width and _total(widths) > width:
        shrinkable = [i for i, column in enumerate(columns) if column.least and widths[i] > column.least]
        if shrinkable:
            widths[max(shrinkable, key=lambda i: widths[i])] -= 1
            continue
        goes = max((i for i, wide in enumerate(widths) if wide), key=lambda i: columns[i].goes)
        if not columns[goes].goes:
            break
        widths[goes] = 0
        widths = [wide and min(need, column.widest or need) for wide, need, column in
                  zip(widths, needed, columns, strict=True)]  # fmt: skip
    return widths


def _total(widths: list[int]) -> int:
    shown = [wide for wide in widths if wide]
    return sum(shown) + 2 * (len(shown) - 1)
