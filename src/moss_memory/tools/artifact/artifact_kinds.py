"""The kinds of artifacts with a JSON Schema: the built-in ones and the files of the user."""

from __future__ import annotations

import os

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.decode import check_json
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import BAD_FILE, ResponseSchema, TableColumn, choice, flag, free, list_of, text
from moss_memory.storage.files.json_files import json_files, read_object, shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

_BUILT_IN = os.path.join(os.path.dirname(__file__), "kinds")
NEEDS_TEXT = "x-needs-text"
"""The keyword in a schema that makes the text of its artifacts required."""
_ERRORS_MAX = 20
_SHOWN_CHARS = 200
_KIND = ResponseSchema(
    "ArtifactKind",
    {
        "kind": text("its name"),
        "source": choice(("built-in", "user"), "its origin"),
        "needs_text": flag("whether `validate` refuses one without a text: its schema has `x-needs-text`"),
        "schema": free("the JSON Schema of its data"),
    },
    table=(
        TableColumn("kind", min_width=6, drop_rank=3),
        TableColumn("holds", min_width=20),
        TableColumn("needs_text", "text", drop_rank=2, unless=False),
        TableColumn("source", min_width=12, drop_rank=1, max_width=0),
    ),
    row=lambda kind: {**kind, "holds": kind["schema"].get("description", "")},
)


@operation(
    idempotent=True,
    answers={
        "kinds": list_of(_KIND, "the kinds, by name", shown="answer"),
        "problems": list_of(BAD_FILE, "files without a schema", optional=True),
    },
    example="moss artifact kinds",
    words=(
        "schemas, formats, which kinds exist, validate json, fields of a kind, kinds of artifacts, json schema of"
        " an artifact, which types of artifacts, what fields must an artifact have, built-in kinds, custom kinds"
    ),
)
def artifact_kinds(tx: ReadTransaction) -> dict[str, Any]:
    """List the kinds that have a JSON Schema: the built-in ones and the files in the home's kinds folder."""
    kinds, problems = known_kinds(tx.config.home)
    answer: dict[str, Any] = {"kinds": [kinds[name] for name in sorted(kinds)]}
    if problems:
        answer["problems"] = problems
    return answer


def known_kinds(home: str) -> tuple[dict[str, dict[str, Any]], list[dict[str, str]]]:
    """Return every kind with its schema by name, the user's before the built-in one, and the invalid files."""
    kinds: dict[str, dict[str, Any]] = {}
    problems: list[dict[str, str]] = []
    for folder, source in ((_BUILT_IN, "built-in"), (os.path.join(home, "kinds"), "user")):
        for file in json_files(folder):
            path = os.path.join(folder, file)
            try:
                schema = read_object(path, what="JSON Schema")
                name = file.removesuffix(".json")
                check_json(name, "its name")
            except (ValueError, MossError) as error:
                problems.append({"file": shown_path(path), "message": str(getattr(error, "message", error))})
                continue
            needs_text = schema.get(NEEDS_TEXT) is True
            kinds[name] = {"kind": name, "source": source, "needs_text": needs_text, "schema": schema}
    return kinds, problems


def refuse_invalid(home: str, kind: str, data: dict[str, Any], text: str | None, *, required: bool) -> None:
    """Refuse data that the schema of its kind does not allow, or a missing text that the kind needs.

    Refuse a kind without a schema only if `required`.
    """
    kinds, problems = known_kinds(home)
    broken = next((problem for problem in problems if os.path.basename(problem["file"]) == f"{kind}.json"), None)
    if broken is not None and kind not in kinds:
        raise invalid_request(
            f"the schema of kind {kind!r} cannot be used: {broken['file']}: {broken['message']}", path="kind"
        )
    if kind not in kinds:
        if required:
            raise MossError(
                "INVALID_REQUEST",
                f"`kind` {kind!r} has no schema to validate against; known: {', '.join(sorted(kinds))}",
                details={"path": "kind", "known": sorted(kinds)},
                recovery=next_call("artifact_kinds", {}, "lists the kinds with their schemas"),
            )
        return
    violations = _violations(kinds[kind]["schema"], data)
    if kinds[kind]["needs_text"] and not (text or "").strip():
        violations.append({"path": "text", "message": "is required: artifacts of this kind are composed for models"})
    if violations:
        first = violations[0]
        raise invalid_request(
            f"this is no valid {kind}: {first['path']} {first['message']}"
            + (f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""),
            errors=violations[:_ERRORS_MAX],
        )


def _violations(schema: dict[str, Any], data: dict[str, Any]) -> list[dict[str, str]]:
    """Return all violations of the schema with their paths in the data."""
    import jsonschema
    from referencing.jsonschema import EMPTY_REGISTRY  # without it, a `$ref` could load a document from the network

    try:
        dialect = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        validator = dialect(schema, registry=EMPTY_REGISTRY)
        errors = sorted(validator.iter_errors(data), key=lambda error: list(map(str, error.absolute_path)))
    except Exception as error:  # an invalid schema or an unresolved `$ref`, of many types
        raise invalid_request(
            f"the kind's schema cannot be used ({type(error).__name__}); see `artifact_kinds`"
        ) from error
    return [{"path": _path(error.absolute_path), "message": str(error.message)[:_SHOWN_CHARS]} for error in errors]


def _path(parts: Any) -> str:
    path = "data"
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path if len(path) <= _SHOWN_CHARS else path[:_SHOWN_CHARS] + "…"
