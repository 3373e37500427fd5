"""`@operation`: makes a typed function a tool with a name, a JSON Schema, a decoder and documentation."""

from __future__ import annotations

import builtins

from moss_memory.errors import invalid_request
from moss_memory.rows.names import DEFAULT_WORKSPACE

from .argument_types import schema_of
from .cli_traits import PLAIN
from .decode import check_length, check_value, missing_argument, unknown_argument
from .fetch_keys import expand_fetch_key
from .responses import OMITTED, TRUNCATED, WRITTEN, ResponseSchema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, dataclass_transform

    from moss_memory.errors import MossError

    from .cli_traits import Cli
    from .responses import Field

    Schema = dict[str, Any]
    Body = Callable[..., dict[str, Any]]
    SlowIf = Callable[[Any], bool]
    Condition = Callable[[dict[str, Any]], bool]
    TranslateError = Callable[[MossError], MossError]
    BudgetOf = Callable[[dict[str, Any]], Any]
    RecoveryCall = Callable[[str, dict[str, Any], MossError], dict[str, Any] | None]
    ProposedCall = Callable[[Any, dict[str, Any]], dict[str, Any] | None]
    CheckLimits = Callable[[Any, dict[str, Any]], object]

_ALLOW_SECRETS: dict[str, Schema] = {
    "allow_secrets": {"type": "boolean", "description": "store it even if it looks like a credential"}
}
_FETCH_KEY: dict[str, Schema] = {
    "fetch_key": {"type": "object", "description": "as an answer has it; no other address"}
}
_SHOWS_FETCH_KEY = frozenset({"capsule_fetch", "capsule_append", "artifact_fetch"})
"""The tools whose schema shows `fetch_key`; all others that address by name accept it too."""

_WRITTEN_SCHEMAS: dict[str, ResponseSchema] = {}


if TYPE_CHECKING:

    @dataclass_transform(kw_only_default=True)
    class Keywords:
        """Makes the annotated attributes of a subclass the keyword arguments of its constructor."""

else:

    class Keywords:
        """Does at run time what a dataclass does, whose module takes milliseconds to import."""

        __slots__ = ()

        def __init__(self, **values: Any) -> None:
            names = Traits.__annotations__
            for name in values.keys() - names.keys():
                raise TypeError(f"{name!r} is not a trait of a tool")
            for name in names:
                if name not in values and not hasattr(Traits, name):
                    raise TypeError(f"a tool needs the trait {name!r}")
                setattr(self, name, values.get(name, getattr(Traits, name, None)))


class Traits(Keywords):
    """The traits of a tool, which are the arguments of `@operation`."""

    __slots__ = ()

    example: str
    """A command or call that shows its use."""
    answers: ResponseSchema | dict[str, Field]
    """The fields of the answer, or a schema that several tools share."""
    words: str = ""
    """Everyday words and phrases for its purpose, by which `moss_tools` and clients find it."""
    cli: Cli = PLAIN
    """The differences of its command from the one that follows from its name and arguments."""
    visible: bool = True
    """True if agents can see and call it; False for commands of people."""
    mutates: bool = False
    """True if a call may change the store."""
    destructive: bool = False
    """True if a change may remove data."""
    idempotent: bool = False
    """True if a repeated call changes nothing further."""
    writes_with: str | None = None
    """The argument without which the tool only reads."""
    writes_if: Condition | None = None
    """Return True if a call with these decoded arguments changes the store."""
    cross_workspace: bool = False
    """True if it may write in other workspaces than the one that it names."""
    slow: bool = False
    """True if a call may take seconds."""
    slow_if: SlowIf | None = None
    """Return True if a call with these arguments, before decoding, may take seconds."""
    slow_when_large: bool = False
    """True if a call may take seconds in a large store."""
    single_statement: bool | Condition = False
    """True if a read is one SQL statement, which is its own snapshot, or a function that decides it."""
    scan_secrets: bool = False
    """True if it stores text of callers, takes `allow_secrets`, and without that refuses suspected credentials."""
    check_own_limits: CheckLimits | None = None
    """Refuse texts above the limits of this tool before that scan, given the call and the decoded arguments."""
    has_budget: bool = False
    """True if it takes `max_chars`, `max_bytes` and `max_lines`; its body gets them as one `budget`."""
    aliases: dict[str, str] | None = None
    """Alternative names of arguments, which are accepted and not shown."""
    recovery_call: RecoveryCall | None = None
    """Return the best next call after an error."""
    translate_error: TranslateError | None = None
    """Convert an error to the codes of the family."""
    proposed_call: ProposedCall | None = None
    """Return the call for refused arguments that no correction repairs, given the transaction and them."""
    no_transaction: bool = False
    """True if the body gets the call instead of a transaction."""
    proxy: bool = False
    """True if the body only returns the tool to call, before any transaction."""


class operation(Traits):  # noqa: N801  (a decorator)
    """Makes the decorated function a tool of the same name."""

    def __call__(self, body: Body) -> Operation:
        return Operation(body, self)


class Operation(Traits):
    """One tool: its name, its arguments, its traits and its body."""

    __slots__ = (
        *Traits.__annotations__, "alias_of", "body", "budget_of", "defaults", "description", "list_field", "name",
        "parameters", "required", "summary",
    )  # fmt: skip
    if TYPE_CHECKING:
        answers: ResponseSchema
        aliases: dict[str, str]

    def __init__(self, body: Body, traits: Traits) -> None:
        for name, value in vars(traits).items():
            setattr(self, name, value)
        self.body = body
        self.name: str = body.__name__
        self.alias_of: str | None = None
        self.aliases = traits.aliases or {}
        self.description = _dedent(body.__doc__ or "")
        self.summary = self.description.partition("\n")[0]
        self.defaults: dict[str, Any] = {
            _public_name(name): value for name, value in (body.__kwdefaults__ or {}).items()
        }
        self.parameters: dict[str, Schema] = _parameters(body)
        answers = traits.answers
        self.answers = answers if isinstance(answers, ResponseSchema) else ResponseSchema("", answers)
        if self.mutates and not self.proxy:
            self.answers = _with_written(self.answers)
        self.budget_of: BudgetOf | None = None
        if self.has_budget:
            from .budget import ARGUMENTS, budget_of

            self.parameters |= ARGUMENTS
            self.defaults |= dict.fromkeys(ARGUMENTS)
            self.budget_of = budget_of
            self.answers = self.answers.with_fields({"truncated": TRUNCATED, "omitted": OMITTED})
        self.list_field: str | None = None
        """The list that is the answer; an empty one may have a hint about its workspace."""
        if "hint" in self.answers.fields:
            self.list_field = next(name for name, field in self.answers.fields.items() if field.shown == "answer")
        if {"id", "workspace", "name"} <= self.parameters.keys():
            self.parameters |= _FETCH_KEY
            self.defaults |= dict.fromkeys(_FETCH_KEY)
        if self.scan_secrets:
            self.parameters |= _ALLOW_SECRETS
            self.defaults |= dict.fromkeys(_ALLOW_SECRETS)
        self.required = tuple(name for name in self.parameters if name not in self.defaults)
        if self.cli is not PLAIN:
            self.cli.check(self)

    def renamed(self, name: str) -> Operation:
        """Return the same tool under an alias."""
        alias = Operation.__new__(Operation)
        for slot in Operation.__slots__:
            setattr(alias, slot, getattr(self, slot))
        alias.name = name
        alias.alias_of = self.name
        return alias

    def schema(self) -> Schema:
        """Return the JSON Schema of the arguments, without additional properties and unlisted arguments."""
        properties = {
            name: self._with_default(name, schema)
            for name, schema in self.parameters.items()
            if not schema.get("unlisted") and (name not in _FETCH_KEY or self.name in _SHOWS_FETCH_KEY)
        }
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if self.required:
            schema["required"] = list(self.required)
        return schema

    def _with_default(self, name: str, schema: Schema) -> Schema:
        if name in _ALLOW_SECRETS or name in _FETCH_KEY:
            return {"type": schema["type"]}  # forty descriptions would cost tokens in the list of tools
        default = self.defaults.get(name)
        return schema if default is None or schema.get("nullable") else {**schema, "default": default}

    def public_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a Python call by their public names: `from_` is `from`, a keyword of Python."""
        if "from_" in arguments and "from" in self.parameters:
            return {"from" if name == "from_" else name: value for name, value in arguments.items()}
        return arguments

    def is_slow(self, arguments: Any) -> bool:
        """Return True if a call with these arguments, before decoding, may take seconds."""
        return self.slow or (self.slow_if is not None and self.slow_if(arguments))

    def writes(self, values: dict[str, Any]) -> bool:
        """Return True if a call with these decoded arguments changes the store."""
        if self.writes_if is not None:
            return self.writes_if(values)
        return self.mutates and (self.writes_with is None or bool(values.get(self.writes_with)))

    @property
    def always_writes(self) -> bool:
        """Return True if every valid call of the tool changes something or makes a file."""
        return not self.idempotent if not self.mutates else self.writes_if is None and self.writes_with is None

    @property
    def only_reads(self) -> bool:
        """Return True if no call of the tool changes anything; an export makes a file."""
        return self.idempotent and not self.mutates

    def single_read(self, values: dict[str, Any]) -> bool:
        """Return True if a read with these decoded arguments is one SQL statement."""
        condition = self.single_statement
        return condition if isinstance(condition, bool) else condition(values)

    def run_in_transaction(self, tx: Any, **values: Any) -> dict[str, Any]:
        """Run the body inside the call of another tool, after a scan of the arguments for credentials."""
        from moss_memory.secrets.scanner import refuse_credentials

        refuse_credentials(tx.config, values, tx.check_cancelled)
        return self.body(tx, **values)

    def decode(self, arguments: dict[str, Any], workspace: str = "") -> dict[str, Any]:
        """Return the arguments checked against the schema; refuse unknown names and wrong types by path.

        `workspace` is the caller's default workspace, or empty.
        """
        if not isinstance(arguments, dict):
            raise invalid_request(f"the arguments of `{self.name}` must be a JSON object")
        decoded = self._decode_arguments(arguments)
        if "fetch_key" in decoded or "items" in decoded:
            self._expand_fetch_keys(decoded)
        if workspace:
            self._fill_workspace(decoded, workspace)
        for name in self.required:
            if name not in decoded:
                raise missing_argument(self.name, name, self.parameters[name])
        if "from" in decoded:
            decoded["from_"] = decoded.pop("from")
        if self.budget_of is not None:
            decoded["budget"] = self.budget_of(decoded)
        return decoded

    def check_sizes(self, values: dict[str, Any], most: int) -> None:
        """Refuse decoded arguments if one has more than `most` characters.

        In a list of objects the limit holds for each object. Arguments with `own_limit` are not checked.
        """
        for name, value in values.items():
            if isinstance(value, str) and len(value) <= most:
                continue
            if isinstance(value, (str, list, dict)) and not self.parameters.get(_public_name(name), {}).get(
                "own_limit"
            ):
                if isinstance(value, list) and value and isinstance(value[0], dict):
                    for index, item in enumerate(value):
                        check_length(item, f"{_public_name(name)}[{index}]", most)
                else:
                    check_length(value, _public_name(name), most)

    def _decode_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        decoded: dict[str, Any] = {}
        for key, value in arguments.items():
            name = self.aliases.get(key, key) if self.aliases else key
            schema = self.parameters.get(name)
            if schema is None:
                raise unknown_argument(key, list(self.parameters))
            if value is not None or schema.get("nullable"):
                if name in decoded:
                    first_key = next(argument for argument in arguments if self.aliases.get(argument, argument) == name)
                    raise invalid_request(f"`{key}` and `{first_key}` mean the same; give one of them", path=key)
                decoded[name] = check_value(value, schema, key)
        return decoded

    def _expand_fetch_keys(self, decoded: dict[str, Any]) -> None:
        family = self.name.partition("_")[0]
        if family not in ("capsule", "artifact"):
            family = decoded.get("type", "")
        if "fetch_key" in decoded:
            expand_fetch_key(decoded, family, "")
        for index, ref in enumerate(decoded.get("items", ())):
            if isinstance(ref, dict) and "fetch_key" in ref:
                expand_fetch_key(ref, family, f"items[{index}].")

    @property
    def in_one_workspace(self) -> bool:
        """True if every call is in one workspace; other tools search all workspaces without it, or take an id."""
        return "workspace" in self.parameters and self.defaults.get("workspace", "required") is not None

    def write_workspace(self, values: dict[str, Any]) -> str | None:
        """Return the only workspace that a call with these decoded arguments writes; None if there may be others."""
        if self.cross_workspace or "workspace" not in self.parameters or "id" in values or "filters" in values:
            return None
        workspace: str | None = values.get("workspace")
        return DEFAULT_WORKSPACE if workspace is None and (self.in_one_workspace or "name" in values) else workspace

    def lacks_workspace(self, arguments: Any) -> bool:
        """Return True if a call must name a workspace and does not."""
        return "workspace" in self.required and isinstance(arguments, dict) and arguments.get("workspace") is None

    def add_workspace(self, result: dict[str, Any], values: dict[str, Any]) -> None:
        """Add the workspace to the answer of a writing tool that does not name it otherwise."""
        if self.mutates and "workspace" not in result and "fetch_key" not in result:
            default = DEFAULT_WORKSPACE if self.in_one_workspace else None
            workspace = values.get("workspace", default)
            if workspace is not None:
                result["workspace"] = workspace

    def _fill_workspace(self, decoded: dict[str, Any], workspace: str) -> None:
        """Set the default workspace if the call needs one or has a name; never beside an id."""
        if self.in_one_workspace:
            decoded.setdefault("workspace", workspace)
        elif "workspace" in self.parameters:
            _set_workspace(decoded, workspace)
        for name, schema in self.parameters.items():
            if name in decoded and "workspace" in schema.get("items", schema).get("properties", ()):
                refs = decoded[name]
                for ref in refs if isinstance(refs, list) else [refs]:
                    _set_workspace(ref, workspace)


def is_semantic(default: str) -> SlowIf:
    """Return a condition: the search may load a model, given the tool's default `search_mode`."""
    return lambda arguments: isinstance(arguments, dict) and (arguments.get("search_mode") or default) != "keyword"


def _parameters(body: Body) -> dict[str, Schema]:
    """Return the schemas of the keyword-only parameters, resolved by the names in their annotations."""
    code = body.__code__
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    arguments = [name for name in names if name != "budget"]
    return {_public_name(name): _schema_of(str(body.__annotations__[name]), body.__globals__) for name in arguments}


def _with_written(schema: ResponseSchema) -> ResponseSchema:
    """Return the answer of a writing tool with the fields that all of them have; one for each shared schema."""
    answer_schema = _WRITTEN_SCHEMAS.get(schema.name) if schema.name else None
    if answer_schema is None:
        name = f"{schema.name}Answer" if schema.name else ""
        answer_schema = schema.with_fields({**WRITTEN, **schema.fields}, name)
        if name:
            _WRITTEN_SCHEMAS[schema.name] = answer_schema
    return answer_schema


def _public_name(parameter: str) -> str:
    """Return an argument's public name: `from` is a keyword of Python, so its parameter is `from_`."""
    return "from" if parameter == "from_" else parameter


def _schema_of(annotation: str, scope: dict[str, Any]) -> Schema:
    kind = annotation.removesuffix(" | None")
    if kind.startswith("list[") and kind.endswith("]"):
        return {"type": "array", "items": _schema_of(kind[5:-1], scope)}
    return schema_of(scope.get(kind) or getattr(builtins, kind))


def _set_workspace(address: dict[str, Any], workspace: str) -> None:
    if "name" in address and "id" not in address:
        address.setdefault("workspace", workspace)


def _dedent(doc: str) -> str:
    lines = doc.strip().splitlines()
    return "\n".join([line.removeprefix("    ").rstrip() for line in lines])
