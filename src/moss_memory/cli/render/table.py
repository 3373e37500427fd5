"""Responses as tables, rendered from their declared schemas."""

from __future__ import annotations

from moss_memory.registry.cli_traits import cli_function
from moss_memory.registry.responses import Field, TableColumn

from .cell import Cell, cell_of, line_of, printable, wrap_text
from .columns import align_rows
from .fields import labelled_fields, lines_of
from .style import HIT, HIT_END, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from moss_memory.registry.responses import ResponseSchema

    from .fields import Found

NOTHING = "(nothing)"
_CONSTANT_CHARS = 40
"""Maximal length of a value that is printed once above a list."""

_NAMING = ("name", "id", "title", "path", "tool")
_COMPUTED = Field("text", "")
_SCALARS = ("text", "integer", "number", "flag", "choice", "moment", "moment_ms", "path")
_REMARKS = {
    "degraded": "by words alone; `moss doctor` shows how to search by meaning too",
    "pending": "{} more are found by their words alone; `moss index` prepares them",
}


def table_of(
    answer: dict[str, Any],
    schema: ResponseSchema,
    *,
    view: str = "",
    width: int = 0,
    reading: bool = False,
    colour: bool = False,
) -> str:
    """Return a response for people: fields first, then lists as rows, then long texts uncut.

    For `reading`, a value that is the same in every row is printed once, names are not cut and long texts are wrapped;
    a `view`, the function that the command declares as its `table`, replaces all that.
    Without a width a list has every column, and nothing is cut.
    """
    text = cli_function(view)(answer, width) if view and reading else _render(answer, schema, width, reading)
    return paint(text, colour=colour)


def _render(answer: dict[str, Any], schema: ResponseSchema, width: int, reading: bool) -> str:
    fields = labelled_fields(answer, schema)
    if not fields:
        return NOTHING
    lists = {label: pair for label, pair in fields.items() if _is_rows(pair[0])}
    separate = {label: pair for label, pair in fields.items() if pair[0].shown == "apart"}
    plain = {label: pair for label, pair in fields.items() if label not in lists and pair[0].shown in ("", "if_true")}
    blocks = ["\n".join(lines_of(plain, width))]
    for label, (field, rows) in lists.items():
        blocks += _listing(label, field, rows, width, reading=reading, alone=len(lists) + len(separate) == 1)
    blocks.append(_sides({label: pair for label, pair in fields.items() if pair[0].shown == "side"}, width))
    blocks += [f"{label}:\n{_render(part, field.of, width, reading)}" for label, (field, part) in separate.items()]
    blocks.append(_page(fields, lists))
    blocks += [printable(text, keep_lines=True).rstrip("\n") for text in _texts(fields)]
    return "\n\n".join(block for block in blocks if block) or NOTHING


def text_in(answer: dict[str, Any], schema: ResponseSchema) -> str | None:
    """Return the single text of a response unchanged, None if it has none."""
    return next(iter(_texts(labelled_fields(answer, schema))), None)


def _texts(fields: Found) -> list[str]:
    return [value for field, value in fields.values() if field.shown == "whole" and value is not None]


def _is_rows(field: Field) -> bool:
    return field.kind == "list" and field.of.kind == "object"


def _listing(
    label: str, field: Field, rows: list[dict[str, Any]], width: int, *, reading: bool, alone: bool
) -> list[str]:
    """Return a list under its name; the main list is printed even if empty, and without its name if it is alone."""
    asked_for = field.shown == "answer"
    if not rows and not asked_for:
        return []
    schema = field.of.of
    if schema.name == "Capability":
        from .record_view import capabilities_table

        listing = capabilities_table(rows, width)
    elif reading and rows and "snippet" in schema.fields:
        from .search_hits import hits_of

        listing = hits_of(rows, schema, width)
    else:
        listing = rows_of(rows, schema, width, reading=reading)
    blocks = [listing if alone and asked_for else f"{label}:\n{listing}"]
    if schema.name == "Entity":
        from .record_view import sources_table

        blocks += [sources_table(entity, width) for entity in rows if entity.get("provenance")]
    return blocks


def rows_of(items: list[dict[str, Any]], schema: ResponseSchema, width: int, *, reading: bool = False) -> str:
    """Return objects of one schema as rows, in the columns that have values."""
    if not items:
        return NOTHING
    rows = items if schema.row is None else [schema.row(item) for item in items]
    declared = schema.table or [TableColumn(key, min_width=8, drop_rank=rank) for rank, key in enumerate(schema.fields)]
    if not width and not reading:
        return _plain_table(declared, rows, schema)
    text = next((column.key for column in declared if schema.fields.get(column.key, _COMPUTED).shown == "whole"), None)
    if reading and text is not None:
        return _text_blocks(declared, rows, schema, text, width)
    columns = [column for column in declared if column.is_shown(rows)]
    same = _constant_columns(columns, [_cells_of(row, columns, schema) for row in rows]) if reading else {}
    columns = [column for column in columns if column not in same]
    cell_rows = [_cells_of(row, columns, schema) for row in rows]
    constants = ", ".join(f"{column.title} {text}" for column, text in same.items() if text != "-")
    table = align_rows(columns, cell_rows, width=width, reading=reading)
    return "\n".join([table, "", *wrap_text(f"All: {constants}", width)]) if constants else table


def _cells_of(row: dict[str, Any], columns: Sequence[TableColumn], schema: ResponseSchema) -> list[Cell]:
    return [cell_of(schema.fields.get(column.key, _COMPUTED), row.get(column.key)) for column in columns]


def _is_scalar(field: Field) -> bool:
    """Return True if a value fits into a cell: no object, and no list of objects."""
    return (field.shown != "never" and field.kind in _SCALARS) or (field.kind == "list" and field.of.kind in _SCALARS)


def _plain_table(declared: Sequence[TableColumn], rows: list[dict[str, Any]], schema: ResponseSchema) -> str:
    """Return rows with every column that has a value, those of the screen first; cut nothing."""
    keys = [column.key for column in declared]
    titles = {column.key: column.title for column in declared}
    keys += [key for key, field in schema.fields.items() if key not in titles and _is_scalar(field)]
    columns = [
        TableColumn(key, titles.get(key, ""), max_width=0)
        for key in keys
        if any(row.get(key) is not None for row in rows)
    ]
    return align_rows(columns, [_cells_of(row, columns, schema) for row in rows])


def _text_blocks(
    declared: Sequence[TableColumn], rows: list[dict[str, Any]], schema: ResponseSchema, text: str, width: int
) -> str:
    """Return rows with a long text as blocks: the other columns on one line, then the text, wrapped."""
    columns = [column for column in declared if column.key != text and column.is_shown(rows)]
    blocks = []
    for row in rows:
        texts = [cell.text for cell in _cells_of(row, columns, schema)]
        heading = "  ".join(part for part in texts if part not in ("-", line_of(str(row.get(text) or ""))))
        lines = [f"{HIT}{line}{HIT_END}" for line in wrap_text(heading, width, indent=4)]
        for line in printable(str(row.get(text) or ""), keep_lines=True).strip("\n").split("\n"):
            first, *other_lines = wrap_text(line, width, indent=2)
            lines += [f"  {first}".rstrip(), *other_lines]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _constant_columns(columns: list[TableColumn], rows: list[list[Cell]]) -> dict[TableColumn, str]:
    """Return the columns with the same value in every row, and the value; columns that identify a row are excluded."""
    if len(rows) < 2:
        return {}
    texts = {column: {row[index].text for row in rows} for index, column in enumerate(columns)}
    same = {column: values.pop() for column, values in texts.items() if len(values) == 1 and column.key not in _NAMING}
    short = {column: text for column, text in same.items() if len(text) <= _CONSTANT_CHARS}
    return short if len(short) < len(columns) else {}


def _sides(sides: Found, width: int) -> str:
    """Return both sides of a conflict, field by field."""
    if not sides:
        return ""
    states = [value or {} for _, value in sides.values()]
    schema = next(iter(sides.values()))[0].of
    keys = [key for key in schema.fields if not key.startswith("last_") and key not in ("id", "from", "rel", "to")]
    fields = [key for key in keys if any(state.get(key) for state in states)]
    columns = [TableColumn("field"), *(TableColumn(label, min_width=10) for label in sides)]
    rows = [[Cell(key), *(cell_of(schema.fields[key], state.get(key)) for state in states)] for key in fields]
    return align_rows(columns, rows, width=width) if rows else ""


def _page(fields: Found, lists: Found) -> str:
    """Return the position of the page and the next one, then the remarks of a search."""
    page = next((value for field, value in fields.values() if field.shown == "page"), None)
    if page is None or not (lists or page["has_more"]):
        return ""
    items = next((value for field, value in lists.values() if field.shown == "answer"), ())
    count = page.get("count", len(items))
    position = f"{count} of {page['total']}" if "total" in page else f"{count} shown"
    if page["has_more"]:
        next_option = f"--offset {page['offset'] + count}" if "offset" in page else f"--cursor {page['next_cursor']}"
        position += f"; more with {next_option}"
    remarks = [_REMARKS[label].format(value) for label, (field, value) in fields.items() if field.shown == "remark"]
    return "\n".join([position, *remarks])
