"""The code state that a client sends in the `_meta` of a call, because the server does not run in its repository."""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .repository_files import is_object_id
from .repository_id import origin_id
from .work_tree import NAME_MAX_CHARS, CodeState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

META_KEY = "code_state"
_URL_MAX_CHARS = 2_000
_FIELDS = {"repository": NAME_MAX_CHARS, "origin": _URL_MAX_CHARS, "branch": NAME_MAX_CHARS, "commit": 64}
"""The fields and their maximum lengths."""


def parse_sent(sent: Any) -> CodeState:
    """Return the code state that a client has sent; refuse an invalid one with `INVALID_REQUEST`."""
    if not isinstance(sent, dict):
        raise invalid_request(f"`_meta.{META_KEY}` must be an object with {', '.join(_FIELDS)}", path=META_KEY)
    for name, value in sent.items():
        limit = _FIELDS.get(name)
        path = f"{META_KEY}.{str(name)[:60]}"
        if limit is None:
            raise invalid_request(f"`_meta.{path}` is no field of it; it has {', '.join(_FIELDS)}", path=path)
        if not isinstance(value, str) or not value.strip() or len(value) > limit or not value.isprintable():
            raise invalid_request(
                f"`_meta.{path}` must be a string of 1 to {limit} characters, without control characters", path=path
            )
    commit = sent.get("commit", "")
    if "repository" not in sent:
        raise invalid_request(f"`_meta.{META_KEY}.repository` is missing; send the name of the repository")
    if commit and not is_object_id(commit):
        raise invalid_request(f"`_meta.{META_KEY}.commit` must be the full id of a commit, in lower-case hexadecimal")
    key = origin_id(sent["origin"], "/") if "origin" in sent else ""
    return CodeState(sent["repository"].strip(), key, sent.get("branch", ""), commit)
