"""Fields and their values, one a line; members of objects are indented."""

from __future__ import annotations

from moss_memory.registry.responses import NEXT_CALL

from .cell import cell_of, is_counts, printable, wrap_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.responses import Field, ResponseSchema

    Found = dict[str, tuple[Field, Any]]

_SENTENCE_CHARS = 24


def labelled_fields(answer: dict[str, Any], schema: ResponseSchema) -> Found:
    """Return the fields of a response by label, including those of opened objects."""
    fields: Found = {}
    for key, field in schema.fields.items():
        value = answer.get(key)
        if field.shown == "opened":
            for label, inner in labelled_fields(value or {}, field.of).items():
                fields.setdefault(label, inner)
        elif key in answer and field.shown != "never":
            fields[field.label or (key.removesuffix("_ms") if field.kind == "moment_ms" else key)] = (field, value)
    return fields


def lines_of(found: Found, width: int, indent: int = 0) -> list[str]:
    """Return labels and values in two columns, without empty and self-evident values."""
    present = {
        label: (field, value)
        for label, (field, value) in found.items()
        if value is not None and (field.shown != "if_true" or value)
    }
    column = max((len(label) for label, pair in present.items() if not _is_deep(*pair)), default=0) + 2
    blank = " " * indent
    lines = []
    for label, (field, value) in present.items():
        if not _is_deep(field, value):
            first, *other_lines = wrap_text(cell_of(field, value).text, width, indent=indent + column)
            lines += [f"{blank}{label:<{column}}{first}", *other_lines]
        else:
            lines += [f"{blank}{label}:", *_nested_lines(field, value, width, indent + 2)]
    return lines


def _nested_lines(field: Field, value: Any, width: int, indent: int) -> list[str]:
    if field.of is NEXT_CALL:
        return [" " * indent + line for line in _command_lines(value, width - indent if width else 0)]
    if isinstance(value, dict):
        return lines_of(labelled_fields(value, field.of), width, indent)
    lines = []
    for part in value:
        first, *other_lines = wrap_text(cell_of(field.of, part).text, width, indent=indent + 2)
        lines += [" " * indent + f"- {first}", *other_lines]
    return lines


def _is_deep(field: Field, value: Any) -> bool:
    """Return True if a value needs several lines: an object, or several sentences."""
    if field.kind == "object":
        flags = all(part.kind == "flag" for part in field.of.fields.values())
        return field.of.line is None and not is_counts(field) and not flags
    texts = [part for part in value if isinstance(part, str)] if isinstance(value, list) else []
    return any(len(text) > _SENTENCE_CHARS or "," in text for text in texts)


def _command_lines(call: dict[str, Any], width: int) -> list[str]:
    """Return a proposed call as a command line, wrapped if it is longer than a width other than 0."""
    from .message_lines import wrap_message
    from .recovery_line import recovery_line

    line = printable(recovery_line(call))
    label = len("try: ")
    return [part[label:] for part in (wrap_message(line, width + label) if width else line).split("\n")]
