"""`fetch_key` as an argument: the reference that answers return instead of `id`, or `workspace` and `name`."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FAMILIES = ("capsule", "artifact")


def expand_fetch_key(address: dict[str, Any], family: str, at: str) -> None:
    """Replace the `fetch_key` of an address by `id`, or by `workspace` and `name`; refuse any other address beside it.

    `family` is the one that the call takes; empty if it takes any.
    """
    key: dict[str, Any] = address.pop("fetch_key")
    path = f"{at}fetch_key"
    if any(name in address for name in ("id", "workspace", "name")):
        raise MossError(
            "AMBIGUOUS_ADDRESSING",
            f"`{path}` cannot be combined with `id`, `workspace` or `name`; give the key alone, or leave it out",
        )
    names = {name: value for name, value in key.items() if value is not None}
    if not all(isinstance(value, str) for value in names.values()):
        raise invalid_request(f"`{path}` must hold strings, as answers have it", path=path)
    families = [name for name in _FAMILIES if f"moss_{name}" in names]
    allowed_names = {"moss_id", "moss_workspace", *(f"moss_{name}" for name in _FAMILIES)}
    if set(names) - allowed_names or len(families) + ("moss_id" in names) != 1:
        example = '{"moss_capsule": "auth", "moss_workspace": "shop"} or {"moss_id": "01J…"}'
        raise invalid_request(f"`{path}` is no key of an answer; it looks like {example}", path=path)
    if families and family in _FAMILIES and families[0] != family:
        raise invalid_request(
            f"`{path}` is of {_with_article(families[0])}, and this call takes {_with_article(family)}; "
            f"use `{families[0]}_fetch`",
            path=path,
        )
    if not families:
        address["id"] = names["moss_id"]
        return
    address["name"] = names[f"moss_{families[0]}"]
    if "moss_workspace" in names:
        address["workspace"] = names["moss_workspace"]


def _with_article(family: str) -> str:
    return f"an {family}" if family[0] in "aeiou" else f"a {family}"


def to_v1_answer(value: Any) -> Any:
    """Return the answer with the field names of v1.0: `task_link` instead of `fetch_key`."""
    if isinstance(value, dict):
        return {"task_link" if key == "fetch_key" else key: to_v1_answer(part) for key, part in value.items()}
    if isinstance(value, list):
        return [to_v1_answer(part) for part in value]
    return value
