"""Aligned columns, and the distribution of a terminal's width to them."""

from __future__ import annotations

from .cell import Cell, cells, wrap_text
from .style import HIT, HIT_END, TITLE, TITLE_END

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from moss_memory.registry.responses import TableColumn


WHOLE = ("name", "workspace")
"""Columns that are never cut, because a row cannot be fetched without them."""


def align_rows(columns: Sequence[TableColumn], rows: list[list[Cell]], *, width: int = 0, reading: bool = False) -> str:
    """Return rows under their titles, at most as wide as the terminal; numbers are aligned right.

    For `reading`, names and workspaces are not cut; if they leave no width for the other columns, each row is a block.
    """
    titles = [Cell(column.title, right=all(row[index].right for row in rows)) for index, column in enumerate(columns)]
    lines = [titles, *rows]
    needed = [max(cells(line[index].text) for line in lines) for index in range(len(columns))]
    widths = share_width(columns, needed, width, whole=WHOLE if reading else ())
    if reading and width and _total(widths) > width:
        return _stack(columns, rows, width)
    first, *others = [
        "  ".join([cell.fit(wide) for cell, wide in zip(line, widths, strict=True) if wide]).rstrip() for line in lines
    ]
    return "\n".join([f"{TITLE}{first}{TITLE_END}", *others])


def _stack(columns: Sequence[TableColumn], rows: list[list[Cell]], width: int) -> str:
    """Return each row as a block of lines; nothing is cut."""
    label = max((len(column.title) for column in columns), default=0) + 2
    blocks = []
    for row in rows:
        fields = [
            (column.title, cell.text) for column, cell in zip(columns, row, strict=True) if cell.text not in ("", "-")
        ]
        heading = next((field for field in fields if field[0] in ("name", "title")), fields[0] if fields else ("", "-"))
        lines = [f"{HIT}{heading[1]}{HIT_END}"]
        for title, text in (field for field in fields if field is not heading):
            first, *other_lines = wrap_text(text, width, indent=label + 2)
            lines += [f"  {title:<{label}}{first}", *other_lines]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def share_width(
    columns: Sequence[TableColumn], needed: list[int], width: int, *, whole: tuple[str, ...] = ()
) -> list[int]:
    """Return the width of each column, 0 if it is left out: long texts shrink first, then columns are dropped."""
    widths = [_max_width(column, wide, whole) for column, wide in zip(columns, needed, strict=True)]
    while width and _total(widths) > width:
        shrinkable = [
            i
            for i, column in enumerate(columns)
            if column.min_width and widths[i] > column.min_width and column.key not in whole
        ]
        if shrinkable:
            widths[max(shrinkable, key=lambda i: widths[i])] -= 1
            continue
        droppable = [
            i for i, wide in enumerate(widths) if wide and columns[i].drop_rank and columns[i].key not in whole
        ]
        if not droppable:
            break
        dropped = max(droppable, key=lambda i: columns[i].drop_rank)
        widths[dropped] = 0
        widths = [
            wide and _max_width(column, need, whole) for wide, need, column in zip(widths, needed, columns, strict=True)
        ]
    return widths


def _max_width(column: TableColumn, needed: int, whole: tuple[str, ...]) -> int:
    return needed if column.key in whole else min(needed, column.max_width or needed)


def _total(widths: list[int]) -> int:
    visible = [wide for wide in widths if wide]
    return sum(visible) + 2 * (len(visible) - 1)
