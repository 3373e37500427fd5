"""Words of a command line as values: numbers, flags, lists, JSON and references."""

from __future__ import annotations

from .usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BOOLEANS = {"true": True, "false": False}


def read_value(kind: str, text: str, flag: str, *, nullable: bool = False) -> Any:
    """The value that a word stands for, read strictly; raises `Usage` when it is no such value."""
    if nullable and text == "null":
        return None
    if kind == "integer":
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 1000):
            raise Usage(f"{flag} needs a whole number, not {text!r}")
        return int(text)
    if kind == "boolean":
        if text not in _BOOLEANS:
            raise Usage(f"{flag} is either there or not; it takes only =true or =false, not {text!r}")
        return _BOOLEANS[text]
    if kind == "number":
        try:
            return float(text)
        except ValueError:
            raise Usage(f"{flag} needs a number, not {text!r}") from None
    if kind == "age":
        return _days(text, flag)
    return text


def _days(text: str, flag: str) -> int:
    number, unit = (text[:-1], text[-1:]) if text[-1:] in ("d", "w") else (text, "d")
    if not (number.isascii() and number.isdigit() and len(number) < 1000):
        raise Usage(f"{flag} needs an age in days or weeks such as 7d or 2w, not {text!r}")
    return int(number) * (7 if unit == "w" else 1)


def list_from(text: str, schema: dict[str, Any], flag: str) -> list[Any]:
    """`a,b` as a list; nothing as the empty list; a JSON list where an entry holds a comma."""
    if not text:
        return []
    if text.startswith("["):
        import json

        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list):
            return found
    return text.split(",")


def items_from(text: str) -> dict[str, str]:
    """One reference: `id:ULID`, `workspace/name` or `name`."""
    if text.startswith("id:"):
        return {"id": text[3:]}
    workspace, slash, name = text.partition("/")
    return {"workspace": workspace, "name": name} if slash else {"name": text}


def object_from(text: str, schema: dict[str, Any], flag: str) -> Any:
    """A JSON value written on the command line, or in a file that `@` names."""
    if text.startswith("@"):
        from .stdin import read_text

        text = read_text(text[1:])
    elif schema.get("required") == ["name"] and not text.lstrip().startswith("{"):
        return {"name": text}
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Usage(f"{flag} needs JSON, or @FILE with JSON in it ({error})") from None
