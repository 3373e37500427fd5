"""Checks of argument values against their JSON Schemas, and of free-form JSON."""

from __future__ import annotations

from moss_memory.errors import MossError, find_alike_argument, invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

MAX_DEPTH = 64
_INT64 = 2**63
_PATH_CHARS = 200
PLACEHOLDER = "(fill in:"
"""The beginning of a placeholder for a missing value in a proposed call."""


def check_value(value: Any, schema: Schema, path: str) -> Any:
    """Return a value decoded by a schema; refuse one that the schema does not allow."""
    if value is None and schema.get("nullable"):
        return None
    kind = schema["type"]
    return _CHECKS[kind](value, schema, path) if isinstance(kind, str) else _check_either(value, schema, path)


def _check_string(value: Any, schema: Schema, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong_type(value, "string", path)
    check_unicode(value, path)
    if "enum" in schema and value not in schema["enum"]:
        choices = ", ".join(map(repr, schema["enum"]))
        raise invalid_request(f"`{path}` is not one of {choices}", path=path, allowed=schema["enum"])
    return value


def _check_integer(value: Any, schema: Schema, path: str) -> int:
    number = _integer(value, path)
    if number < schema.get("minimum", number) and (number or not schema.get("or_zero")):
        raise invalid_request(f"`{path}` is {number}; give at least {schema['minimum']}", path=path)
    return number


def _check_flag(value: Any, schema: Schema, path: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(value, "boolean", path)
    return value


def _check_array(value: Any, schema: Schema, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong_type(value, "array", path)
    items = schema["items"]
    return [check_value(item, items, f"{path}[{index}]") for index, item in enumerate(value)]


def _check_object(value: Any, schema: Schema, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong_type(value, "object", path)
    properties = schema.get("properties")
    if properties is None:
        if not schema.get("checked_later"):
            check_json(value, path)
        return value
    decoded: dict[str, Any] = {}
    for name, part in value.items():
        if name not in properties:
            raise unknown_argument(name, list(properties), at=path)
        if part is not None:
            decoded[name] = check_value(part, properties[name], f"{path}.{name}")
    for name in schema.get("required", ()):
        if name not in decoded:
            raise invalid_request(f"`{path}.{name}` is required; add it", path=f"{path}.{name}")
    return decoded


def _check_either(value: Any, schema: Schema, path: str) -> Any:
    for kind in schema["type"]:
        if isinstance(value, _PYTHON_TYPES[kind]) and not (kind == "integer" and isinstance(value, bool)):
            return _CHECKS[kind](value, schema, path)
    raise _wrong_type(value, " or ".join(schema["type"]), path)


_PYTHON_TYPES: dict[str, Any] = {"string": str, "integer": (int, float), "array": list, "object": dict}
_CHECKS = {
    "string": _check_string,
    "integer": _check_integer,
    "boolean": _check_flag,
    "array": _check_array,
    "object": _check_object,
}


def _integer(value: Any, path: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong_type(value, "integer", path)
    if not -_INT64 <= value < _INT64:
        raise invalid_request(f"`{path}` does not fit into 64 bits", path=path)
    return value


def check_unicode(value: str, path: str) -> None:
    """Refuse a text with NUL or a lone surrogate, which no database stores."""
    invalid = None if value.isascii() and "\0" not in value else _find_invalid_text(value)
    if invalid is not None:
        raise invalid_request(f"`{path}` {invalid[1]}", path=path)


def is_placeholder(text: str) -> bool:
    """Return True if a text is the placeholder of a proposed call, `(fill in: …)`."""
    return text[: len(PLACEHOLDER)].lower() == PLACEHOLDER and text.endswith(")")


def refuse_placeholder(value: Any, path: str) -> None:
    """Refuse a text that a proposed call left to be filled in."""
    if isinstance(value, str) and is_placeholder(value):
        raise invalid_request(f"`{path}` is still {value[:200]!r}; write that before you send it", path=path)


def check_length(value: Any, path: str, most: int) -> None:
    """Refuse a text, or the compact JSON of another value, of more than `most` characters."""
    if isinstance(value, str):
        actual = len(value)
    else:
        import json

        actual = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    if actual > most:
        raise MossError(
            "TEXT_TOO_LARGE",
            f"`{path}` has {actual} characters; at most {most} are stored (`text_max_chars`); shorten it, or store it "
            "in parts",
            details={"max_chars": most, "actual_chars": actual, "path": path},
        )


def check_json(value: Any, path: str) -> None:
    """Refuse a free-form value that does not survive a round trip through JSON, at any depth."""
    invalid = _find_invalid(value, 1)
    if invalid is not None:
        inner_path, problem = invalid
        full_path = (path + inner_path)[:_PATH_CHARS]
        # No backticks around names of the caller: the command line rewrites names in backticks.
        raise invalid_request(f"{full_path if inner_path else f'`{full_path}`'} {problem}", path=full_path)


def is_json(value: Any) -> bool:
    """Return True if a value survives a round trip through JSON, at any depth."""
    return _find_invalid(value, 1) is None


def _find_invalid(value: Any, depth: int) -> tuple[str, str] | None:
    """Return the path and the problem of the first part of a value that is not JSON, or None."""
    if isinstance(value, (dict, list)):
        if depth > MAX_DEPTH:
            return "", f"is nested deeper than {MAX_DEPTH} levels"
        return _find_invalid_inside(value, depth)
    if isinstance(value, str):
        return None if value.isascii() and "\0" not in value else _find_invalid_text(value)
    if isinstance(value, float):
        return None if value - value == 0 else ("", "is not a finite number")
    if isinstance(value, int) or value is None:
        return None if value is None or -_INT64 <= value < _INT64 else ("", "does not fit into 64 bits")
    return "", f"must be JSON, not {_json_type(value)}"


def _find_invalid_inside(value: dict[Any, Any] | list[Any], depth: int) -> tuple[str, str] | None:
    is_object = isinstance(value, dict)
    for key, part in value.items() if is_object else enumerate(value):  # type: ignore[union-attr]
        if is_object and not isinstance(key, str):
            return "", f"has a name that is no string but {_json_type(key)}"
        invalid = (is_object and _find_invalid_text(str(key))) or _find_invalid(part, depth + 1)
        if invalid:
            key_text = str(key)[:_PATH_CHARS].encode("utf-8", "replace").decode().replace("\0", "?")
            return (f".{key_text}" if is_object else f"[{key}]") + invalid[0], invalid[1]
    return None


def _find_invalid_text(value: str) -> tuple[str, str] | None:
    if "\0" in value:
        return "", "contains a NUL character; remove it"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "", "contains half of a surrogate pair; send valid Unicode"
    return None


def _wrong_type(value: Any, expected: str, path: str) -> MossError:
    article = "an" if expected[0] in "aio" else "a"
    return invalid_request(f"`{path}` must be {article} {expected}, not {_json_type(value)}", path=path)


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    for python_type, name in (
        (str, "a string"),
        (int, "an integer"),
        (float, "a number"),
        (list, "an array"),
    ):
        if isinstance(value, python_type):
            return name
    return "an object" if isinstance(value, dict) else f"a Python {type(value).__name__}"


def missing_argument(tool: str, name: str, schema: Schema) -> MossError:
    """Return the refusal of a call without a required argument, with the values that it takes."""
    message = f"`{name}` is required by `{tool}`; add it"
    if "enum" not in schema:
        return invalid_request(message, path=name)
    choices = ", ".join(map(repr, schema["enum"]))
    return invalid_request(f"{message}, one of {choices}", path=name, allowed=schema["enum"])


def unknown_argument(name: Any, known: list[str], *, at: str = "") -> MossError:
    """Return the error for an unknown argument, with the nearest known one."""
    shown_name = str(name)[:100].encode("utf-8", "replace").decode().replace("\0", "?")
    path = f"{at}.{shown_name}" if at else shown_name
    if not known:
        return invalid_request(f"unknown argument {path!r}; this tool takes none", path=path, argument=shown_name)
    nearest = find_alike_argument(shown_name, known)
    hint = "" if nearest is None else f"; the nearest known one is {nearest!r}"
    details = {"path": path, "argument": shown_name, **({} if nearest is None else {"nearest": nearest})}
    return invalid_request(f"unknown argument {path!r}{hint} (known: {', '.join(known)})", **details)
