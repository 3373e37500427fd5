"""The corrected call after a refusal of arguments: proposed if the correction is certain."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, find_alike, next_call, words_of_name

from .decode import check_value, is_json, missing_argument, unknown_argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .operation import Operation

    Arguments = dict[str, Any]
    Schema = dict[str, Any]

MOST_CHARS = 4000
"""The maximum size of a proposed call; a longer one costs its reader more than the message."""
_ID_CHARS, _ID_LENGTH = frozenset("0123456789ABCDEFGHJKMNPQRSTVWXYZ"), 26
_MOST_FAULTS = 20
_FAULTS_NAMED = 5
_WORDS_FOR = (
    "query q search question term terms keywords search_query text",
    "capsule_text content text body note markdown",
    "content text note message body",
    "note text content comment message",
    "workspace project project_name namespace ws",
    "target task task_id plan plan_id ticket id",
    "ids id card_id card_ids card",
    "name capsule capsule_name artifact artifact_name key",
    "kind type",
    "agent agent_id agent_name assignee owner",
    "limit max_results top_k count n",
    "section heading section_name section_title",
    "from source source_branch branch",
    "capability_id capability",
)
"""The arguments for which callers use other words: the argument, then the words."""


def add_corrected_call(operation: Operation, arguments: Arguments, error: MossError, workspace: str) -> None:
    """Add to a refusal of arguments all their faults, and the corrected call if the correction is certain.

    `workspace` is the caller's default workspace, or empty. A corrected call may lack the workspace.
    """
    if not is_json(arguments):
        return
    faults = _faults(operation, arguments, {"workspace"} if workspace else set())
    if len(faults) > 1:
        listed = [{"path": (fault.details or {})["path"], "message": fault.message} for fault in faults[:_MOST_FAULTS]]
        ending = f"; and {len(faults) - _FAULTS_NAMED} more" if len(faults) > _FAULTS_NAMED else ""
        error.message = "; ".join([fault.message for fault in faults[:_FAULTS_NAMED]]) + ending
        error.details = {**(faults[0].details or {}), "errors": listed}
    if faults and error.recovery is None:
        error.recovery = corrected_call(operation, arguments)


def _faults(operation: Operation, arguments: Arguments, given_names: set[str]) -> list[MossError]:
    """Return the errors: unknown names, wrong values, and required arguments neither sent nor in `given_names`."""
    errors = []
    for sent_name, value in arguments.items():
        name = operation.aliases.get(sent_name, sent_name)
        schema = operation.parameters.get(name)
        if schema is None:
            errors.append(unknown_argument(sent_name, list(operation.parameters)))
        elif value is not None:
            given_names.add(name)
            try:
                check_value(value, schema, sent_name)
            except MossError as error:
                errors.append(error)
    missing_names = [name for name in operation.required if name not in given_names]
    return errors + [missing_argument(operation.name, name, operation.parameters[name]) for name in missing_names]


def corrected_call(
    operation: Operation, arguments: Arguments, reason: str = "is the same call, corrected"
) -> dict[str, Any] | None:
    """Return the call with its faults corrected; None if that is not certain, or the call is long."""
    if not is_json(arguments) or len(json.dumps(arguments)) > MOST_CHARS:
        return None
    fixed = _fix_fields(arguments, operation.parameters, operation.aliases)
    if fixed is None:
        return None
    try:
        operation.decode(dict(fixed), "default")
    except MossError:
        return None
    return next_call(operation.name, fixed, reason)


def _fix_fields(fields: Arguments, schemas: dict[str, Schema], aliases: dict[str, str]) -> Arguments | None:
    """Return the fields of an object with known names and valid values; None if one cannot be corrected."""
    fixed: Arguments = {}
    for sent_name, value in fields.items():
        name = sent_name if aliases.get(sent_name, sent_name) in schemas else _meant(sent_name, value, schemas)
        if name is None or name in fixed or (name != sent_name and name in fields):
            return None
        if value is None:
            continue
        schema = schemas[aliases.get(name, name)]
        fixed_value = _fix(value, schema, split=name == "tags")
        if fixed_value is None:
            return None
        fixed[name] = fixed_value
    return fixed


def _meant(sent_name: str, value: Any, schemas: dict[str, Schema]) -> str | None:
    """Return the argument that is certainly meant by an unknown name, else None."""
    snake = "_".join(words_of_name(sent_name))
    if snake in schemas:
        return snake
    if f"{snake}s" in schemas:
        return f"{snake}s"
    if snake == "step" and {"path", "step_id"} <= schemas.keys():
        return "path" if str(value).startswith("s:") else "step_id" if str(value).startswith("STEP-") else None
    matches = [words[0] for words in map(str.split, _WORDS_FOR) if snake in words[1:] and words[0] in schemas]
    if matches:
        return matches[0] if len(set(matches)) == 1 else None
    return find_alike(sent_name, list(schemas))


def _fix(value: Any, schema: Schema, *, split: bool = False) -> Any:
    """Return the value of the right type that is certainly meant, or None."""
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    for kind in kinds:
        converted = value if _is_valid(value, schema) else _CONVERSIONS[kind](value, schema, split)
        if converted is not None and _is_valid(converted, schema):
            return converted
    return None


def _is_valid(value: Any, schema: Schema) -> bool:
    try:
        check_value(value, schema, "")
    except MossError:
        return False
    return True


def _to_string(value: Any, schema: Schema, split: bool) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or "enum" not in schema:
        return value if isinstance(value, str) else None
    plain = value.strip().lower().replace("-", "_").replace(" ", "_")
    forms = {choice.lower(): choice for choice in schema["enum"]}
    ending = [choice for choice in schema["enum"] if choice.lower().endswith(f"_{plain}")]
    return forms.get(plain) or forms.get(plain.removesuffix("s")) or (ending[0] if len(ending) == 1 else None)


def _to_integer(value: Any, schema: Schema, split: bool) -> int | None:
    text = value.strip() if isinstance(value, str) else ""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def _to_flag(value: Any, schema: Schema, split: bool) -> bool | None:
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
        return value if isinstance(value, bool) else None
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def _to_array(value: Any, schema: Schema, split: bool) -> list[Any] | None:
    if isinstance(value, str):
        parsed = _parse(value) if value.lstrip().startswith("[") else None
        value = parsed if parsed is not None else [part.strip() for part in value.split(",")] if split else [value]
    parts = [_fix(part, schema["items"]) for part in (value if isinstance(value, list) else [value])]
    return None if None in parts else parts


def _to_object(value: Any, schema: Schema, split: bool) -> Arguments | None:
    properties = schema.get("properties")
    if isinstance(value, str):
        if properties is not None and list(schema.get("required", ())) == ["title"] and not value.startswith("{"):
            return {"title": value}
        if properties is not None and {"id", "name"} <= properties.keys() and not schema.get("required"):
            return {"id" if _ID_CHARS.issuperset(value) and len(value) == _ID_LENGTH else "name": value}
        value = _parse(value)
    if not isinstance(value, dict):
        return None
    return value if properties is None else _fix_fields(value, properties, {})


def _parse(text: str) -> Any:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if is_json(parsed) else None


_CONVERSIONS = {
    "string": _to_string,
    "integer": _to_integer,
    "boolean": _to_flag,
    "array": _to_array,
    "object": _to_object,
}
