"""Conversion of words to values: numbers, flags, lists, JSON, addresses and branches."""

from __future__ import annotations

import os

from .usage_error import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOOLEANS = {"true": True, "false": False}
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_CHARS = 26
_TARGETS = ("PLAN-", "TASK-")


def read_value(kind: str, text: str, flag: str, *, nullable: bool = False) -> Any:
    """Return the value of a word; raise `UsageError` if the word is invalid."""
    if nullable and text == "null":
        return None
    if kind == "integer":
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 1000):
            raise UsageError(f"{flag} needs a whole number, not {text!r}")
        return int(text)
    if kind == "boolean":
        if text not in BOOLEANS:
            raise UsageError(f"{flag} is either there or not; it takes only =true or =false, not {text!r}")
        return BOOLEANS[text]
    if kind == "number":
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{flag} needs a number, not {text!r}") from None
    if kind == "age":
        return _days(text, flag)
    return text


def _days(text: str, flag: str) -> int:
    number, unit = (text[:-1], text[-1:]) if text[-1:] in ("d", "w") else (text, "d")
    if not (number.isascii() and number.isdigit() and len(number) < 1000):
        raise UsageError(f"{flag} needs an age in days or weeks such as 7d or 2w, not {text!r}")
    return int(number) * (7 if unit == "w" else 1)


def list_from(text: str, *, separator: str = ",") -> list[Any]:
    """Return `a,b` as a list; an empty text is an empty list, and a JSON list may have entries with commas."""
    if not text:
        return []
    if text.startswith("["):
        import json

        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            values = None
        if isinstance(values, list):
            return values
    return text.split(separator) if separator else [text]


def address_from(text: str, *, workspace_given: bool = False) -> dict[str, str]:
    """Return the address in a word: a ULID or `id:ID` is an id, `WORKSPACE/NAME` both, anything else a name."""
    if text.startswith("id:"):
        return {"id": text[3:]}
    if len(text) == _ULID_CHARS and not text.strip(_CROCKFORD):
        return {"id": text}
    return name_from(text, workspace_given=workspace_given)


def name_from(text: str, *, workspace_given: bool = False) -> dict[str, str]:
    """Return the name in a word: `WORKSPACE/NAME` is both, anything else a name."""
    workspace, slash, name = text.partition("/")
    return {"workspace": workspace, "name": name} if slash and not workspace_given else {"name": text}


def new_names_from(text: str) -> dict[str, str]:
    """Return the new name in a word: `WORKSPACE/NAME` is both, anything else a name."""
    workspace, slash, name = text.partition("/")
    return {"new_workspace": workspace, "new_name": name} if slash else {"new_name": text}


def scope_from(text: str, parameters: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the argument for a word: `TASK-001` is a target, a known action an action, anything else a branch."""
    if text in parameters.get("action", {}).get("enum", ()):
        return {"action": text}
    is_target = "target" in parameters and text.startswith(_TARGETS) and text[5:].isdigit()
    branch = next((name for name in ("branch", "ref") if name in parameters), "target")
    return {"target" if is_target else branch: text}


def object_from(text: str, schema: dict[str, Any], flag: str) -> Any:
    """Return a JSON value from the command line, or from the file that follows `@`."""
    if text.startswith("@"):
        from .stdin import read_text

        text = read_text(text[1:])
    elif not text.lstrip().startswith(("{", "[")):
        if names_itself(schema):
            return {"name": text}
        if are_switches(schema):
            return dict.fromkeys(text.split(","), True)
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = f"; did you mean @{text}?" if os.path.isfile(text) else f" ({error})"
        raise UsageError(f"{flag} needs JSON, or @FILE with JSON in it{hint}") from None


def pairs_from(text: str, flag: str, before: dict[str, Any]) -> Any:
    """Return `before` with one more `NAME=VALUE`, or with the members of a JSON object.

    The value is text, so that a version 1.0 remains one; numbers and flags are written as JSON.
    """
    name, equals, value = text.partition("=")
    if text.lstrip().startswith(("{", "[")) or text.startswith("@"):
        pairs = object_from(text, {}, flag)
    elif not name or not equals:
        raise UsageError(f"{flag} needs NAME=VALUE, JSON, or @FILE with JSON in it, not {text!r}")
    else:
        pairs = {name: value}
    if not isinstance(pairs, dict):
        return pairs
    twice = next((name for name in pairs if name in before), None)
    if twice is not None:
        raise UsageError(f"{flag} gives {twice!r} twice")
    return {**before, **pairs}


def names_itself(schema: dict[str, Any]) -> bool:
    """Return True if `name` is the only required property of an object, so that a word can replace it."""
    return schema.get("required") == ["name"]


def are_switches(schema: dict[str, Any]) -> bool:
    """Return True if all properties of an object are flags, so that a list of names can replace it."""
    parts = schema.get("properties", {}).values()
    return bool(parts) and all(part.get("type") == "boolean" for part in parts)
