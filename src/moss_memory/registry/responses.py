"""The schemas of answers: each tool declares its answer once, field by field.

The table of the command line, the fields in the reference, the `outputSchema` of MCP and the check of every answer
in the tests use the same declaration. It has plain values only, to keep the start fast.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    FieldKind = Literal[
        "text", "integer", "number", "flag", "choice", "moment", "moment_ms", "time", "path", "highlighted", "list",
        "object", "map", "free", "any", "either",
    ]  # fmt: skip
    Shown = Literal["", "never", "if_true", "answer", "opened", "apart", "page", "remark", "side", "whole"]
    ResponseRow = dict[str, Any]

MAX_WIDTH = 60
LONG = 120
"""The maximum width of a column of long texts."""


class Field:
    """One field of an answer: its type, its meaning, if it is optional, and its place in the output for people."""

    __slots__ = ("kind", "label", "meaning", "nullable", "of", "optional", "shown", "values")

    def __init__(
        self,
        kind: FieldKind,
        meaning: str,
        *,
        of: Any = None,
        values: tuple[str, ...] = (),
        optional: bool = False,
        nullable: bool = False,
        shown: Shown = "",
        label: str = "",
    ) -> None:
        self.kind = kind
        self.meaning = meaning
        self.of = of
        """The schema of an object, the field of each item of a list or map, or the alternatives of `either`."""
        self.values = values
        self.optional = optional
        """True if the field may be absent."""
        self.nullable = nullable
        self.shown = shown
        """Its place in the output for people, empty for the default: `never`; `if_true`; the list that is the
        `answer`; an object `opened` into its parent, or `apart` under a heading; the `page`; a `remark` shown as
        a sentence; one `side` of a comparison; a text at the end, shown `whole`."""
        self.label = label

    def or_absent(self) -> Field:
        """Return the same field as an optional one."""
        return Field(
            self.kind,
            self.meaning,
            of=self.of,
            values=self.values,
            optional=True,
            nullable=self.nullable,
            shown=self.shown,
            label=self.label,
        )


class ResponseSchema:
    """The fields of an object, and the table of a list of such objects."""

    __slots__ = ("fields", "is_open", "line", "name", "row", "table")

    def __init__(
        self,
        name: str,
        fields: dict[str, Field],
        *,
        table: tuple[TableColumn, ...] = (),
        row: Callable[[ResponseRow], ResponseRow] | None = None,
        line: Callable[[ResponseRow], str] | None = None,
        is_open: bool = False,
    ) -> None:
        self.name = name
        """Its name in the reference and in type stubs; empty if only one tool answers it."""
        self.fields = fields
        self.table = table
        self.row = row
        """Converts an object to the row that the columns read, if they show more than its fields."""
        self.line = line
        """Converts an object to one line, for a cell of a table."""
        self.is_open = is_open
        """True if it may have undeclared fields: the answer of another tool."""

    def with_fields(self, fields: dict[str, Field], name: str = "", **changes: Any) -> ResponseSchema:
        """Return the schema with these fields added or replaced."""
        settings = {"table": self.table, "row": self.row, "line": self.line, **changes}
        return ResponseSchema(name, {**self.fields, **fields}, **settings)

    def without(self, *names: str, name: str = "") -> ResponseSchema:
        """Return the schema without some of its fields and their columns."""
        fields = {key: field for key, field in self.fields.items() if key not in names}
        table = tuple(column for column in self.table if column.key not in names)
        return ResponseSchema(name, fields, table=table, row=self.row, line=self.line)


class PreserializedDict(dict[str, "Any"]):
    """An answer with its compact JSON, made from parts that were serialized before."""

    __slots__ = ("json",)

    def __init__(self, answer: dict[str, Any], json: str) -> None:
        super().__init__(answer)
        self.json = json


_ANYTHING = object()


class TableColumn:
    """One column of a table: its field, its widths, and its priority if the table is too wide."""

    __slots__ = ("drop_rank", "key", "max_width", "min_width", "title", "unless", "when")

    def __init__(
        self,
        key: str,
        title: str = "",
        *,
        min_width: int = 0,
        drop_rank: int = 0,
        max_width: int = MAX_WIDTH,
        unless: Any = _ANYTHING,
        when: Callable[[list[ResponseRow]], bool] | None = None,
    ) -> None:
        self.key = key
        self.title = title or key
        self.min_width = min_width
        """0 if it is never shortened."""
        self.drop_rank = drop_rank
        """Its rank in the order in which columns are dropped, the highest first; 0 is never dropped."""
        self.max_width = max_width
        """0 if it is not limited."""
        self.unless = unless
        """The default value: if every row has it, the column is left out."""
        self.when = when

    def is_shown(self, rows: list[ResponseRow]) -> bool:
        """Return True if a table of these rows shows the column."""
        if not any(self.key in row for row in rows):
            return False
        if self.unless is not _ANYTHING:
            return any(row.get(self.key, self.unless) != self.unless for row in rows)
        return self.when is None or self.when(rows)


def inner_schemas(schema: ResponseSchema) -> list[ResponseSchema]:
    """Return the schemas of the objects in the fields of a schema."""
    schemas: list[ResponseSchema] = []
    remaining_fields = list(schema.fields.values())
    while remaining_fields:
        field = remaining_fields.pop(0)
        if field.kind == "object":
            schemas.append(field.of)
        elif field.kind in ("list", "map", "either"):
            remaining_fields += field.of if field.kind == "either" else [field.of]
    return schemas


def needs_id_column(rows: list[ResponseRow]) -> bool:
    """Return True if a row has no name or is deleted, so that only its id finds it."""
    return any(row.get("name") is None or row.get("deleted_at") is not None for row in rows)


def text(meaning: str, **more: Any) -> Field:
    return Field("text", meaning, **more)


def integer(meaning: str, **more: Any) -> Field:
    return Field("integer", meaning, **more)


def number(meaning: str, **more: Any) -> Field:
    return Field("number", meaning, **more)


def flag(meaning: str, **more: Any) -> Field:
    return Field("flag", meaning, **more)


def choice(values: tuple[str, ...], meaning: str, **more: Any) -> Field:
    """Declare one of a closed set of words."""
    return Field("choice", meaning, values=values, **more)


def moment(meaning: str, **more: Any) -> Field:
    """Declare a time in seconds since 1970."""
    return Field("moment", meaning, **more)


def moment_ms(meaning: str, **more: Any) -> Field:
    """Declare a time in milliseconds since 1970."""
    return Field("moment_ms", meaning, **more)


def time_text(meaning: str, **more: Any) -> Field:
    """Declare a time in RFC 3339."""
    return Field("time", meaning, **more)


def file_path(meaning: str, **more: Any) -> Field:
    """Declare the path of a file, which is shortened at its beginning."""
    return Field("path", meaning, **more)


def highlighted(meaning: str, **more: Any) -> Field:
    """Declare a text escaped for HTML in which `<b>` marks the matches."""
    return Field("highlighted", meaning, **more)


def texts(meaning: str, **more: Any) -> Field:
    """Declare a list of texts."""
    return Field("list", meaning, of=_TEXT, **more)


def list_of(of: ResponseSchema, meaning: str, **more: Any) -> Field:
    """Declare a list of objects of one schema."""
    return Field("list", meaning, of=Field("object", "", of=of), **more)


def object_of(of: ResponseSchema, meaning: str, **more: Any) -> Field:
    """Declare an object of a schema."""
    return Field("object", meaning, of=of, **more)


def map_of(of: Field, meaning: str, **more: Any) -> Field:
    """Declare an object with data as keys and values of one type."""
    return Field("map", meaning, of=of, **more)


def free(meaning: str, **more: Any) -> Field:
    """Declare a JSON object with fields of the caller."""
    return Field("free", meaning, **more)


def anything(meaning: str, **more: Any) -> Field:
    """Declare any JSON value."""
    return Field("any", meaning, **more)


def one_of(of: tuple[Field, ...], meaning: str, **more: Any) -> Field:
    """Declare a value of one of several types."""
    return Field("either", meaning, of=of, **more)


_TEXT = Field("text", "")

NEXT_CALL = ResponseSchema(
    "NextCall",
    {
        "tool": text("the tool to call"),
        "arguments": free("what to send"),
        "reason": text("why"),
    },
)
"""A call that an answer proposes."""

NEXT = Field("object", "the next call to make; null only if it exceeds the budget", of=NEXT_CALL, nullable=True)
FETCH_CALL = NEXT_CALL.without("reason", name="FetchCall")

HIT_FIELDS = {
    "fetch": Field("object", "the call that loads it", of=FETCH_CALL, optional=True, shown="never"),
    "at": Field("moment", "when it last changed; of a record, the time that its body names"),
}
"""The fields of every search hit. `fetch` is left out if the configuration disables its tool."""

PAGE = ResponseSchema(
    "Page",
    {
        "limit": integer("most rows of a page"),
        "offset": integer("rows skipped"),
        "has_more": flag("whether rows follow"),
        "total": integer("rows in all"),
    },
)
"""The pagination of an offset list."""

ENDED_EARLY = {
    "count": integer("rows of this page"),
    "next_offset": integer("the offset of the next page if this one ended early", optional=True),
}
PAGE_THAT_ENDS = PAGE.with_fields(ENDED_EARLY, "PageThatEnds")
"""The pagination of a list whose pages may end before their limit because of their size."""

PAGINATION = object_of(PAGE, "the position of this page", shown="page")
BOUNDED_PAGINATION = object_of(PAGE_THAT_ENDS, "the position of this page", shown="page")
WRITTEN: dict[str, Field] = {
    "workspace": text("the workspace that it is in", optional=True),
    "created_workspace": flag("true: the workspace did not exist before", optional=True, shown="if_true"),
    "similar_workspace": text("of a new workspace: an existing one with a similar name", optional=True),
}
"""The fields that every answer of a writing tool may have."""

HINT: dict[str, Field] = {
    "hint": text("why an empty list is empty: a workspace or a value that does not exist", optional=True, shown="never")
}
"""The field of lists that read a workspace which does not exist as empty."""
OMITTED = Field(
    "map",
    "how many items each list lost to the budget, by its name",
    of=integer("items that were left out"),
    optional=True,
)
TRUNCATED = flag("something was shortened or left out to keep to the budget", shown="if_true")
SEARCH_REMARKS = {
    "degraded": flag("only words were looked for: there is no model that can be used", optional=True, shown="remark"),
    "relaxed": flag("nothing matched exactly, so the query was searched as a question", optional=True, shown="remark"),
    "pending": integer("how many rows are not prepared for search by meaning yet", optional=True, shown="remark"),
}
"""Optional remarks of a search on its own results."""

FINDING = ResponseSchema(
    "Finding",
    {
        "kind": text("the kind of credential"),
        "path": text("its path"),
        "line": integer("line in that text, from 1"),
        "column": integer("column in that line, from 1"),
    },
    table=(
        TableColumn("kind", min_width=12),
        TableColumn("path", min_width=20, max_width=0),
        TableColumn("line"),
        TableColumn("column"),
    ),
)
"""The place of a suspected credential, never its value."""

FINDINGS = {"findings": list_of(FINDING, "what looks like a credential in it, the first 20", optional=True)}
"""The answer of tools that accept suspected credentials because they take in existing data."""

BAD_FILE = ResponseSchema(
    "BadFile",
    {"file": file_path("the file"), "message": text("the fault")},
    table=(TableColumn("file", min_width=16, max_width=0), TableColumn("message", min_width=20, max_width=0)),
)
"""A file of the user that cannot be used."""


def fetch_key_of(*families: str, name: str = "FetchKey") -> Field:
    """Declare the `fetch_key` of rows that may have a name in one of these families."""
    fields = {f"moss_{family}": text("its name", optional=True, label="name") for family in families}
    fields["moss_workspace"] = text("its workspace", optional=True, label="workspace")
    fields["moss_id"] = text("its id if it has no name", optional=True, shown="never")
    meaning = "what to put into a task, so that another session finds it"
    return object_of(ResponseSchema(name, fields), meaning, shown="opened")
