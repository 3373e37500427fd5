"""What is no list: names and values, one to a line, the parts of an object below its name."""

from __future__ import annotations

from .cell import FREE, cell_of, printable, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NOISE = ("fetch_key", "workspace_norm", "name_norm", "ts", "last_ts_ms", "defaults")
_SENTENCE_CHARS = 24


def pairs_of(values: dict[str, Any], width: int) -> str:
    """Names and values in two columns, without what is empty or said twice."""
    key_of = values.get("fetch_key") or {}
    named = {"name": key_of.get("moss_capsule"), "workspace": key_of.get("moss_workspace")}
    shown = {key: value for key, value in values.items() if key not in _NOISE and value is not None}
    shown |= {key: value for key, value in named.items() if value is not None and key not in values}
    return "\n".join(_lines(shown, width))


def _lines(values: dict[str, Any], width: int, indent: int = 0) -> list[str]:
    blank = " " * indent
    plain = {key: value for key, value in values.items() if not _is_deep(key, value)}
    column = max((len(_label(key)) for key in plain), default=0) + 2
    lines = []
    for key, value in values.items():
        if _is_call(value):
            lines += [f"{blank}{_label(key)}:", f"{blank}  {_typed(value)}"]
        elif key not in plain:
            lines.append(f"{blank}{_label(key)}:")
            lines += _below(value, width, indent + 2)
        else:
            first, *more = wrapped(cell_of(key, value).text, width, indent=indent + column)
            lines += [f"{blank}{_label(key):<{column}}{first}", *more]
    return lines


def _below(value: Any, width: int, indent: int) -> list[str]:
    if isinstance(value, dict):
        return _lines(
            {key: part for key, part in value.items() if key not in _NOISE and part is not None}, width, indent
        )
    lines = []
    for part in value:
        first, *more = wrapped(cell_of("", part).text, width, indent=indent + 2)
        lines += [" " * indent + f"- {first}", *more]
    return lines


def _is_deep(key: str, value: Any) -> bool:
    """Whether a value needs lines of its own: an object, or several sentences, which commas would run together."""
    if isinstance(value, dict):
        simple = all(isinstance(part, int) for part in value.values())
        return not simple and key not in (*FREE, "ref", "schema")
    texts = [part for part in value if isinstance(part, str)] if isinstance(value, list) else []
    return any(len(text) > _SENTENCE_CHARS or "," in text for text in texts)


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and {"tool", "arguments", "reason"} <= value.keys()


def _typed(call: dict[str, Any]) -> str:
    """A call that an answer proposes, as it would be typed."""
    from ..speaking.recovery import recovery_line

    return printable(recovery_line(call).removeprefix("try: "))


def _label(key: str) -> str:
    return "written" if key == "ts_ms" else key.removesuffix("_ms")
