"""Write the stub with the types of all tools, for type checkers and editors: `make docs`.

A stub has no module, so its types cost no time at start-up.
"""

from __future__ import annotations

import keyword
import sys
from pathlib import Path
from typing import Any

import moss_memory
from moss_memory.registry import catalog
from moss_memory.registry.operation import Operation
from moss_memory.registry.responses import Field, ResponseSchema
from moss_memory.registry.tool_index import MODULES

STUB = Path(moss_memory.__file__).parent / "typed.pyi"

_HEAD = '''# fmt: off
# ruff: noqa
"""Arguments and answers of every tool, for type checkers and editors; `make docs` writes it."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict
'''
_ANSWER_TYPES = {
    "integer": "int", "moment": "int", "moment_ms": "int", "number": "float", "flag": "bool", "free": "dict[str, Any]",
    "any": "Any",
}  # fmt: skip
_ARGUMENT_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "Mapping[str, Any]",
    "array": "list[Any]",
}


class Stub:
    """The stub; each class is written once, before its first use."""

    def __init__(self) -> None:
        self.classes: dict[str, str] = {}

    def text(self) -> str:
        tools = [operation for name in MODULES if (operation := catalog.find(name)) is not None]
        methods = [(operation, self.parameters(operation), self.answer(operation)) for operation in tools]
        sync = [_method(*method, "def") for method in methods]
        asynchronous = [_method(*method, "async def") for method in methods]
        bodies = [
            "class Tools:\n" + '    """Every tool as a method."""\n\n' + "\n".join(sync),
            "class AsyncTools:\n" + '    """Every tool as a method to be awaited."""\n\n' + "\n".join(asynchronous),
        ]
        return "\n".join([_HEAD, *self.classes.values(), *bodies])

    def answer(self, operation: Operation) -> str:
        """Return the type of the answer of a tool."""
        if operation.answers.is_open:
            return "dict[str, Any]"
        return self.schema_class(operation.answers, _camel(operation.name) + "Answer")

    def schema_class(self, schema: ResponseSchema, name: str) -> str:
        """Return the name of the class of a schema; write the class if it does not exist yet."""
        name = schema.name or name
        if name not in self.classes:
            self.classes[name] = ""  # a schema may contain itself
            fields = {key: self.field(field, name + _camel(key)) for key, field in schema.fields.items()}
            # A text that is missing only if the caller excludes it is not optional in the type.
            optional = {key for key, field in schema.fields.items() if field.optional and field.shown != "whole"}
            self.classes[name] = _typed_dict(name, fields, optional)
        return name

    def field(self, field: Field, name: str) -> str:
        """Return the type of a field; `name` is the class of an object without a name."""
        return self._field(field, name) + (" | None" if field.nullable and field.kind != "any" else "")

    def _field(self, field: Field, name: str) -> str:
        if field.kind == "choice":
            return _literal(list(field.values))
        if field.kind == "list":
            return f"list[{self.field(field.of, name)}]"
        if field.kind == "map":
            return f"dict[str, {self.field(field.of, name)}]"
        if field.kind == "either":
            return " | ".join(dict.fromkeys(self.field(one, name) for one in field.of))
        if field.kind == "object":
            return self.schema_class(field.of, name)
        return _ANSWER_TYPES.get(field.kind, "str")

    def parameters(self, operation: Operation) -> list[str]:
        """Return the parameters of a tool's method; the workspace may come from the settings."""
        parameters = []
        for name, schema in operation.parameters.items():
            kind = self.argument(schema, _camel(operation.name) + _camel(name))
            if name in operation.required and name != "workspace":
                parameters.append(f"{_safe(name)}: {kind}")
            else:
                parameters.append(f"{_safe(name)}: {_or_none(kind)} = {operation.defaults.get(name)!r}")
        for alias, name in operation.aliases.items():
            if alias.isidentifier() and alias.islower() and alias not in operation.parameters:
                kind = self.argument(operation.parameters[name], _camel(operation.name) + _camel(name))
                parameters.append(f"{_safe(alias)}: {_or_none(kind)} = None")
        if operation.mutates:
            parameters.append("idempotency_key: str | None = None")
        return parameters

    def argument(self, schema: dict[str, Any], name: str) -> str:
        """Return the type of an argument; `name` is the class of an object with declared fields."""
        if "enum" in schema:
            return _literal(schema["enum"])
        kind = schema["type"]
        if isinstance(kind, list):
            return " | ".join(self.argument({**schema, "type": one}, name) for one in kind)
        if kind == "array" and "items" in schema:
            return f"list[{self.argument(schema['items'], name)}]"
        if kind == "object" and "properties" in schema:
            return self._object(schema, name)
        return _ARGUMENT_TYPES[kind]

    def _object(self, schema: dict[str, Any], name: str) -> str:
        if name not in self.classes:
            fields = {key: self.argument(part, name + _camel(key)) for key, part in schema["properties"].items()}
            optional = fields.keys() - set(schema.get("required", ()))
            self.classes[name] = _typed_dict(name, {key: _or_none(kind) for key, kind in fields.items()}, optional)
        return name


def _method(operation: Operation, parameters: list[str], answer: str, keywords: str) -> str:
    arguments = f", *, {', '.join(parameters)}" if parameters else ""
    summary = operation.summary.replace("\\", "\\\\").replace('"""', "'''")
    return f'    {keywords} {operation.name}(self{arguments}) -> {answer}:\n        """{summary}"""\n'


def _typed_dict(name: str, fields: dict[str, str], optional: set[str]) -> str:
    types = {key: f"NotRequired[{kind}]" if key in optional else kind for key, kind in fields.items()}
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in types):
        lines = [f"    {key}: {kind}" for key, kind in types.items()] or ["    pass"]
        return f"class {name}(TypedDict):\n" + "\n".join(lines) + "\n"
    pairs = ", ".join(f'"{key}": {kind}' for key, kind in types.items())
    return f'{name} = TypedDict("{name}", {{{pairs}}})\n'


def _literal(values: list[str]) -> str:
    return f"Literal[{', '.join(repr(value) for value in values)}]"


def _or_none(kind: str) -> str:
    return kind if kind == "Any" else f"{kind} | None"


def _safe(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def generated() -> str:
    return Stub().text()


def main() -> int:
    STUB.write_text(generated(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
