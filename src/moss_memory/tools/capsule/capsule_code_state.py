"""The code state at which a capsule or card was saved, and its freshness, as fields of a response."""

from __future__ import annotations

from moss_memory.errors import next_call
from moss_memory.registry.responses import NEXT_CALL, ResponseSchema, choice, integer, object_of, text, texts
from moss_memory.rows.names import pluralize
from moss_memory.rows.versions import PAST
from moss_memory.storage.origin import find_origin

from .capsule_responses import CAPSULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.code_state.work_tree import CodeState
    from moss_memory.storage.engine import ReadTransaction

_MOST_NAMED = 5
MOST_DRIFT_CHARS = 400
STATES = ("orphaned", "drifted", "unknown", "fresh")
SAVED_IN = ResponseSchema(
    "SavedIn",
    {
        "repository": text("name of the repository"),
        "repository_id": text("its id, if it is another one than that of the process", optional=True),
        "branch": text("branch", optional=True),
        "commit": text("commit", optional=True),
    },
    line=lambda saved: " ".join([saved["repository"], saved.get("branch", ""), saved.get("commit", "")[:10]]).strip(),
)
FRESHNESS = ResponseSchema(
    "Freshness",
    {
        "state": choice(STATES, "whether the files that it names have changed"),
        "commits": integer("commits of the present branch since; null if unknown", nullable=True),
        "changed": texts("files that changed"),
        "missing": texts("files that are gone"),
        "why": text("why it is unknown", optional=True),
    },
    line=lambda freshness: describe_freshness(freshness),
)
CODE_FIELDS = {
    "saved_in": object_of(SAVED_IN, "where in the code it was saved, if known", optional=True),
    "freshness": object_of(FRESHNESS, "in the same repository, whether its files changed since", optional=True),
    "next": object_of(NEXT_CALL, "if files changed: what to do", optional=True),
}
"""The further fields of a capsule with its text."""
FETCHED = CAPSULE.with_fields({**PAST, **CODE_FIELDS}, "FetchedCapsule")


def saved_code_state(tx: ReadTransaction, row: dict[str, Any]) -> CodeState | None:
    """Return the code state at which a capsule was saved or confirmed; None if it is unknown."""
    origin = find_origin(tx, row["confirmed_origin"] or row["version_origin"])
    return None if origin is None else origin.code


def show_code(saved: CodeState, here: CodeState | None) -> dict[str, str]:
    """Return a code state as a response; for a process in another repository only name and id of its own."""
    if here is None or saved.is_same_repository(here):
        return saved.to_response()
    names = {"repository": saved.repository, "repository_id": saved.repository_id}
    return {name: value for name, value in names.items() if value}


def code_fields(tx: ReadTransaction, row: dict[str, Any]) -> dict[str, Any]:
    """Return `saved_in` of a capsule, and in the same repository `freshness` and the next step."""
    saved = saved_code_state(tx, row)
    if saved is None:
        return {}
    tree = tx.call.caller.work_tree()
    present = None if tree is None else tree.state()
    fields: dict[str, Any] = {"saved_in": show_code(saved, present)}
    if tree is None or present is None or not saved.is_same_repository(present):
        return fields
    if saved.commit and saved.commit == present.commit:  # without the modules of a comparison
        fields["freshness"] = {"state": "fresh", "commits": 0, "changed": [], "missing": []}
        return fields
    from moss_memory.code_state.freshness import freshness_of

    fields["freshness"] = freshness = freshness_of(tree, saved, row["capsule_text"]).to_response()
    if freshness["state"] in ("drifted", "orphaned") and row["deleted_at"] is None:
        read = f"read {_name_some(freshness['changed'])}, then " if freshness["changed"] else ""
        gone = f"{_name_some(freshness['missing'])} gone: find the new place. " if freshness["missing"] else ""
        reason = f"{gone}{read}check each section and send `capsule_text` with the present state"
        fields["next"] = next_call("capsule_update", {"id": row["id"]}, reason)  # only a reader can write the text
    return fields


def _name_some(paths: list[str]) -> str:
    suffix = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(paths[:_MOST_NAMED]) + suffix


def describe_drift(answer: dict[str, Any]) -> str:
    """Return in one line how the files of a capsule have changed, by the answer of `moss_places`; empty if not."""
    freshness = answer["freshness"]
    if freshness["state"] not in ("drifted", "orphaned"):
        return ""
    commits = f"{pluralize(freshness['commits'], 'commit')} since"
    stale = [*freshness["changed"], *freshness["missing"]]
    verb = "missing" if not freshness["changed"] else "changed or missing" if freshness["missing"] else "changed"
    files = f"{len(stale)} of its {len(answer['places'])} files {verb}"
    return f"{answer.get('name') or answer['id']}: {commits}, {files}: {_name_some(stale)}"


def describe_freshness(found: dict[str, Any]) -> str:
    """Return freshness as one line: state, commits, and the files."""
    if found["state"] == "unknown":
        return f"unknown: {found.get('why', '')}"
    parts = [f"{pluralize(found['commits'], 'commit')} since"] if found["commits"] else []
    parts += [f"changed: {_name_some(found['changed'])}"] if found["changed"] else []
    parts += [f"missing: {_name_some(found['missing'])}"] if found["missing"] else []
    return ", ".join([found["state"], *parts])
