"""Write the reference pages and the pages of errors and settings from the registry: `make docs`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from moss_memory.config import DEFAULTS
from moss_memory.errors import RETRYABLE, STATUS
from moss_memory.registry import catalog
from moss_memory.registry.operation import Operation
from moss_memory.registry.responses import Field, ResponseSchema, inner_schemas

FOLDER = Path(__file__).parent / "reference"

_REASONING = (
    "Working memory for questions that take several sessions. A **document** is a list of notes that never change. The "
    "**graph** links questions, hypotheses, tests, evidence and decisions. Use a **branch** to try an answer without "
    "changing the data of others, and merge it later. The **history** has named commits: reset to an earlier one, or "
    "back to a later one. A **card** is one thought, stored in the trace and in the graph. Every tool needs a "
    "`workspace`. A call without a branch uses the branch that is checked out, at first `main`. Answers of read tools "
    "have at most `max_chars`, `max_bytes` and `max_lines` (by default 30,000 characters); if data was left out, they "
    "have `truncated: true`. There is [a worked example](../how-to/what-if.md), and a page on [how it "
    "works](../explanation/branches.md)."
)
_TASKS = (
    "Plans, tasks and steps, with checkpoints that must be confirmed before a step closes. Each change is also written "
    "to the trace of its plan or task and to its graph, in one transaction. `tasks_radar` returns the next call. There "
    "is [a worked example](../how-to/plan-and-hand-over.md), and a page on [how it works](../explanation/tasks.md)."
)
_RECORDS = (
    "Decisions, features, sessions and checks, with their sources. A **capability** is a schema: it defines the fields "
    "of a **payload** and the entity that it describes. Equal payloads are one **record**, even if they are submitted "
    "several times. Each submission is an observation of an **entity**. The snapshot of an entity combines its "
    "observations, and each of its fields refers to one observation. The dates in payloads are the **timeline**. "
    "`moss record capabilities` lists the capabilities with their fields. Files in `capabilities/` of the home folder "
    "define more, and `moss doctor` lists files with errors. `moss record migrate .cursor/memory` imports records that "
    "were written to files while the store was not available. There is [a worked "
    "example](../how-to/record-decisions.md)."
)
_PLAIN_TYPES = {
    "text": "string", "integer": "integer", "number": "number", "flag": "boolean", "moment": "seconds since 1970",
    "moment_ms": "milliseconds since 1970", "time": "RFC 3339 time", "path": "path", "free": "free-form object",
    "any": "any JSON", "highlighted": "HTML-escaped string with `<b>`",
}  # fmt: skip
_HISTORY = (
    "Earlier **versions** of capsules and artifacts can be read and restored. The first version is 1, and each change "
    "adds one. For a capsule, every change creates a version, also of its metadata and name. For an artifact, only "
    "`artifact_store` and `moss_revert` do; changes of its time to live, labels and name do not. Deleting and "
    "restoring create no version. `capsule_fetch` and `artifact_fetch` load an earlier one by `version` or `as_of`; a "
    "date means the end of that day in UTC, and `as_of` includes changes within the same second. An earlier version is "
    "shown with the present name and time to live. Moss keeps the newest `history_keep` versions, and none that was "
    "replaced more than `history_days` ago. Search, lists and `capsule_export` use only the present version. Purging "
    "removes all versions. There is [a worked example](../how-to/take-back-a-change.md)."
)
_EVERYTHING = """Tools of no family, which are always listed: one searches all families, the others find and call tools.

## Scores

Hits are ordered by `score`, then by the last change. Compare scores within one search only.

| `search_mode` and `query` | score |
|---|---|
| `keyword`, a question without operators | bm25 divided by its upper bound, plus half of the share |
| `both`, a question without operators | the similarity, plus 0.6 times the share to the power of 1.5 |
| `keyword` or `both`, a query with operators | bm25: operators are exact, so words alone decide |
| `semantic` | the similarity, at least 0.2; 0 for a text without a vector |

In bm25, a match in the title counts five times; a query that only excludes words has none, and all its hits score 0.
The share is the part of the query's words that the text contains, each weighted by its rarity (idf). The similarity is
half the cosine of the best chunk plus half the mean cosine of all chunks, scaled so that unrelated texts have about
0.2 with any model; it is 0 if a text has no vector yet. A superseded card gets half of its score. Without a model,
`both` scores like `keyword`, and the answer has `degraded: true`. SQLite and PostgreSQL return equal scores."""

TOOL_GROUPS = {
    "capsule": (
        "capsules.md",
        "Capsules",
        "Hand-overs between sessions, with six required sections and a limited size.",
    ),
    "artifact": (
        "artifacts.md",
        "Artifacts",
        "Typed JSON state for programs, with versions and a time to live.",
    ),
    "reasoning": ("reasoning.md", "Reasoning", _REASONING),
    "task": ("tasks.md", "Tasks", _TASKS),
    "record": ("records.md", "Records", _RECORDS),
    "": ("search.md", "Over everything", _EVERYTHING),
    "history": ("history.md", "History", _HISTORY),
}

CAUSES = {
    "AMBIGUOUS_ADDRESSING": "`id` is given together with `name` or `workspace`",
    "INVALID_REQUEST": "an argument is missing, unknown, of the wrong type or not allowed; `details.path` names it, "
    "`details.errors` names several, and `recovery` is the corrected call if the correction is certain",
    "UNKNOWN_CAPABILITY": "no capability has this id; `details.known` lists all ids",
    "VALIDATION_ERROR": "the `INVALID_REQUEST` of the record tools: an argument is wrong, or the capability does not "
    "allow a field of the body; `details.path` names it",
    "READ_ONLY": "the tool writes, but the server (`moss serve --read-only`) or the token is read-only",
    "NOT_FOUND": "the object does not exist, is deleted, or is not on this branch; `recovery` lists the existing ones",
    "FILTER_REQUIRED": "a bulk change of artifacts, or a restore by `filters`, has no filter",
    "CONFLICT": "the present state does not allow the change: an import collides (`details.errors` names every line), "
    "a branch or tag of this name exists, a branch is in use, a step is open, a card or a resolution disagrees, or "
    "another call used this `idempotency_key`",
    "NAME_ALREADY_EXISTS": "the workspace uses this name already",
    "VERSION_MISMATCH": "the object is not at the expected version; `details.actual` is its version",
    "CHECKPOINTS_NOT_CONFIRMED": "a step has criteria or tests that are not confirmed",
    "DATA_TOO_LARGE": "the data of an artifact has more than 50,000 characters of compact JSON",
    "TEXT_TOO_LARGE": "the text of an artifact has more than 12,000 characters, or another argument more than "
    "`text_max_chars`; `details` has `max_chars` and `actual_chars`",
    "COMPOSE_MISSING_TEXT": "artifacts without a text cannot be composed; `details.missing` names them",
    "CAPSULE_TOO_LARGE": "the text has more than `capsule_max_chars` characters",
    "COMPOSE_TOO_LARGE": "the bundle has more than `capsule_max_chars` characters",
    "FILE_TOO_LARGE": "the import file has more than `import_max_bytes` bytes",
    "SECRET_FOUND": "a text looks like a credential; `details.findings` has the kind and the position, never the value",
    "CAPSULE_TOO_THIN": "required sections are missing, or contain only (fill in: …); `details.missing` names them, "
    "and the text in `recovery` has placeholders for them",
    "RATE_LIMITED": "a token made more calls per minute, or at the same time, than `token_calls_per_minute` and "
    "`token_calls_at_once` allow; `details.retry_after_s`, over HTTP also `Retry-After`, is the time to wait",
    "CANCELLED": "the caller cancelled the call; nothing was changed",
    "INTERNAL": "a bug in Moss; the server logs its cause on stderr, the command line shows it with `MOSS_DEBUG=1`",
    "DB_INSERT_FAILED": "a record could not be written; `details.storage_code` is one of the `STORAGE_` codes below",
    "DB_QUERY_FAILED": "records could not be read; `details.storage_code` is one of the `STORAGE_` codes below",
    "SEMANTIC_UNAVAILABLE": "a search in the mode `semantic` is not possible: the extra is not installed, or "
    "the folder in `semantic_model` contains no usable model",
    "NOT_A_STORE": "the database file is not a store of Moss; it is not changed",
    "STORAGE_CORRUPT": "the database is damaged; `moss doctor` shows the damage",
    "STORAGE_READONLY": "the store cannot be written; reads are still possible",
    "STORAGE_BUSY": "another process used the store for a minute; `details.holder` names it, the time and the tool",
    "STORAGE_UNKNOWN": "the files of the store were removed or replaced, or the server was lost, during a write: its "
    "outcome is unknown",
    "STORAGE_FULL": "the disk is full; reads are still possible",
}

REMEDIES = {
    "RATE_LIMITED": "wait for `details.retry_after_s`, then send it again",
    "AMBIGUOUS_ADDRESSING": "send only the `id`, or `workspace` and `name`",
    "INVALID_REQUEST": "correct the arguments in the message",
    "UNKNOWN_CAPABILITY": "use one of `details.known`, or add its file to `capabilities/` of the home folder",
    "VALIDATION_ERROR": "correct the field in `details.path`",
    "READ_ONLY": "use a server without `--read-only`, or a token that may write",
    "NOT_FOUND": "make the call in `recovery`",
    "FILTER_REQUIRED": "give at least one filter",
    "CHECKPOINTS_NOT_CONFIRMED": "check them, then send the call with `checkpoints`",
    "CONFLICT": "look at the present state; the message gives the reason",
    "NAME_ALREADY_EXISTS": 'choose another name, update the existing object, or store with `mode: "replace"`',
    "VERSION_MISMATCH": "fetch it again, apply the change to the present version, and send that version",
    "CAPSULE_TOO_LARGE": "shorten the text; keep decisions and next actions",
    "COMPOSE_TOO_LARGE": "compose fewer, or keep only some `sections`",
    "DATA_TOO_LARGE": "split the data, or store a reference to it",
    "FILE_TOO_LARGE": "a person can import it with `moss import --max-bytes`",
    "TEXT_TOO_LARGE": "shorten the text, or store it in parts",
    "CAPSULE_TOO_THIN": "write the missing sections",
    "COMPOSE_MISSING_TEXT": "store those artifacts with a `text`, or leave them out",
    "SECRET_FOUND": "remove the credential; for a false positive, send `allow_secrets: true`",
    "CANCELLED": "send it again if you still need it",
    "DB_INSERT_FAILED": "see the `STORAGE_` code in `details`",
    "DB_QUERY_FAILED": "see the `STORAGE_` code in `details`",
    "INTERNAL": "report it, with the cause from the log",
    "NOT_A_STORE": "move the file away, or choose another home",
    "STORAGE_CORRUPT": "run `moss doctor`; restore a backup",
    "STORAGE_READONLY": "give the owner of the store write access, then send it again",
    "SEMANTIC_UNAVAILABLE": "search with `both` or `keyword`, or install the extra",
    "STORAGE_BUSY": "wait, then send it again",
    "STORAGE_UNKNOWN": "check if the change was written, then send it again",
    "STORAGE_FULL": "free some space, then send it again",
}

SETTINGS = {
    "workspace": "The default workspace. `MOSS_WORKSPACE` takes precedence. Without a default, reasoning and task "
    "tools need a workspace and all others use `default`.",
    "url": "The PostgreSQL database of the store, instead of the home folder: postgresql://host/database, without a "
    "password. `MOSS_URL` takes precedence. Only in your own file.",
    "capsule_max_chars": "Maximum characters of a capsule; a repository may only lower it.",
    "text_max_chars": "Maximum characters of any other stored text: a note, card, node, record body or text of a task. "
    "Other values count by their compact JSON. Imports keep larger texts; a repository may only lower it.",
    "sync_folder": "The folder of `moss sync` without an argument. A repository can only name a folder inside it, and "
    "only its own workspace is synced there.",
    "import_max_bytes": "Maximum size of a file that `capsule_import` reads. `moss import --max-bytes` overrides it "
    "once; a repository may only lower it.",
    "page_max_chars": "Maximum characters (of the items' JSON) of a page of `artifact_list`, `retrieve_records`, "
    "`retrieve_entities` or `list_timeline_events`. `pagination.next_offset` continues a shortened page.",
    "artifact_validate": "Validate every artifact whose kind has a schema, as `validate: true` does for one call.",
    "allow_secrets": "Store text that looks like a credential. A repository can only set it to false.",
    "record_code": "Record repository, branch and commit with every change inside a git work tree, and report later "
    "which files have changed. A repository can only set it to false.",
    "history_keep": "Maximum versions of a capsule or artifact, including the current one; `1` keeps no earlier "
    "version. Only in your own file.",
    "history_days": "Earlier versions are dropped this many days after they were replaced. Only in your own file.",
    "allowed_paths": "Additional folders for import and export, absolute. A repository cannot set it.",
    "allow_unsafe_paths": "Allow every folder for import and export; links, `..` and other extensions are still "
    "refused. A repository cannot set it.",
    "trust_repo_config": "Allow repositories to set `allowed_paths`, `allow_unsafe_paths` and `semantic_model`. Only "
    "in your own file.",
    "semantic_model": "The folder of [your own model](../how-to/search-by-meaning.md#use-your-own-model) for search by "
    "meaning; empty means the built-in model. A repository cannot set it.",
    "disabled_tools": "Tools that the MCP server neither lists nor calls, by their v1.0 names.",
    "disabled_types": "Disabled families: capsule, artifact, reasoning, task, record. The MCP server neither lists nor "
    "calls their tools, and no answer of another tool shows their content, on any interface.",
    "toolsets": "Families that the MCP server lists, or `core`: [the most used "
    "tools](../how-to/connect.md#fewer-tools), which lead to all others. Empty means all. `moss mcp --toolsets` takes "
    "precedence.",
    "output_schemas": "List the schema of each tool's answer as `outputSchema`, which makes the list three times as "
    "long.",
    "token_calls_per_minute": "Maximum calls of one token per minute and server, then `RATE_LIMITED`.",
    "token_calls_at_once": "Maximum concurrent calls of one token per server.",
    "db_max_open_conns": "Maximum connections of a process to PostgreSQL; 0 means 16. No effect on SQLite.",
    "db_max_idle_conns": "Maximum idle connections kept for the next call; 0 means 4. No effect on SQLite.",
}


def pages() -> dict[str, str]:
    """Return the text of every generated page by its file name."""
    operations = catalog.operations()
    texts = {}
    for toolset, (file, title, lead) in TOOL_GROUPS.items():
        tools = [operation for operation in operations if _group(operation) == toolset]
        if tools:
            texts[file] = _family_page(title, lead, tools)
    texts["errors.md"] = _errors_page()
    texts["configuration.md"] = _configuration_page()
    return texts


def _group(tool: Operation) -> str:
    """Return the page of a tool: its family, `history`, or empty for tools over all families."""
    of_history = tool.body.__module__.rpartition(".")[2] in ("version_tools", "erase_tool")
    return catalog.toolset_of(tool.name) or ("history" if of_history else "")


def _family_page(title: str, lead: str, tools: list[Operation]) -> str:
    lines = [f"# {title}", "", lead, "", "Generated from the registry by `make docs`; do not edit.", ""]
    lines += ["| tool | does |", "|---|---|"]
    lines += [f"| [`{tool.name}`](#{tool.name}) | {_cell(tool.summary)} |" for tool in tools]
    for tool in tools:
        lines += ["", *_tool_section(tool)]
    lines += _types_section(tools)
    return "\n".join(lines) + "\n"


def _tool_section(tool: Operation) -> list[str]:
    lines = [f"## {tool.name}", "", tool.description, "", f"{_traits(tool)}", ""]
    lines += ["| argument | type | default | meaning |", "|---|---|---|---|"]
    for name, schema in tool.parameters.items():
        default = "required" if name in tool.required else json.dumps(tool.defaults.get(name))
        default = "" if default == "null" else default
        lines.append(f"| `{name}` | {_type(schema)} | {_cell(default)} | {_cell(_meaning(tool, name))} |")
    return [*lines, "", *_answer(tool.answers), "", "```sh", tool.example, "```"]


def _answer(answers: ResponseSchema) -> list[str]:
    if answers.is_open:
        return ["The answer is that of the called tool."]
    if answers.name:
        return [f"Answers {_link(answers)}."]
    return ["| answer | type | meaning |", "|---|---|---|", *_field_rows(answers)]


def _field_rows(schema: ResponseSchema) -> list[str]:
    return [f"| `{name}` | {_answer_type(field)} | {_cell(field.meaning)} |" for name, field in schema.fields.items()]


def _types_section(tools: list[Operation]) -> list[str]:
    """Return the named schemas in the answers of a page, each once."""
    named: dict[str, ResponseSchema] = {}
    for tool in tools:
        _collect(tool.answers, named)
    if not named:
        return []
    lead = "Types of the answers above. An optional field is left out if it has no value."
    lines = ["", "## Types", "", lead]
    for schema in sorted(named.values(), key=lambda schema: schema.name):
        lines += ["", f"### {schema.name}", "", "| field | type | meaning |", "|---|---|---|", *_field_rows(schema)]
    return lines


def _collect(schema: ResponseSchema, named: dict[str, ResponseSchema]) -> None:
    if schema.name in named:
        return
    if schema.name:
        named[schema.name] = schema
    for inner in inner_schemas(schema):
        _collect(inner, named)


def _answer_type(field: Field) -> str:
    shown = _PLAIN_TYPES.get(field.kind) or _compound_type(field)
    return shown + (" or null" if field.nullable else "") + (", optional" if field.optional else "")


def _compound_type(field: Field) -> str:
    if field.kind == "choice":
        return " or ".join(f"`{value}`" for value in field.values)
    if field.kind == "list":
        return f"list of {_answer_type(field.of)}"
    if field.kind == "map":
        return f"object of {_answer_type(field.of)} by name"
    if field.kind == "either":
        return " or ".join(_answer_type(one) for one in field.of)
    return _link(field.of) if field.of.name else "object of " + ", ".join(f"`{name}`" for name in field.of.fields)


def _link(schema: ResponseSchema) -> str:
    return f"[{schema.name}](#{schema.name.lower()})"


def _meaning(tool: Operation, name: str) -> str:
    meaning = tool.parameters[name].get("description", "")
    others = [f"`{alias}`" for alias, argument in tool.aliases.items() if argument == name]
    return f"{meaning} (also as {', '.join(others)})".strip() if others else meaning


def _traits(tool: Operation) -> str:
    if not tool.mutates:
        return "Reads only."
    changes = "Writes."
    if tool.writes_with:
        changes = f"Writes if `{tool.writes_with}` is given."
    if tool.writes_if is not None:
        changes = "Writes, unless `dry_run` is true." if "dry_run" in tool.parameters else "Writes with some arguments."
    return changes + (" Can overwrite or remove." if tool.destructive else "")


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if isinstance(schema["type"], list):
        return " or ".join(_type({**schema, "type": kind}) for kind in schema["type"])
    if schema["type"] == "array":
        return f"list of {_type(schema['items'])}"
    if schema["type"] == "object" and "properties" in schema:
        return "object of " + ", ".join(f"`{name}`" for name in schema["properties"])
    return str(schema["type"])


def _errors_page() -> str:
    lines = [
        "# Errors",
        "",
        "An error has the same form on every interface; over MCP it is the result of the tool, with `isError`:",
        "",
        "```json",
        (
            '{"error": {"code": "NOT_FOUND", "message": "…", "status": 404, "retryable": false, '
            '"details": {}, "recovery": {}}}'
        ),
        "```",
        "",
        (
            "If `retryable` is true, the same call may succeed when it is sent again; otherwise something must change "
            "first. `details` has the cause as data, and `recovery` is the best next call: "
            "`{tool, arguments, reason}`. Both are optional. The command line prints `[CODE] message` and has the exit "
            "code 1."
        ),
        "",
        "Generated from the registry by `make docs`; do not edit.",
        "",
        "| code | status | cause | remedy | retryable |",
        "|---|---|---|---|---|",
    ]
    for code, status in STATUS.items():
        retryable = "yes" if code in RETRYABLE else "see its `storage_code`" if code.startswith("DB_") else "no"
        lines.append(f"| `{code}` | {status} | {CAUSES[code]} | {REMEDIES[code]} | {retryable} |")
    return "\n".join(lines) + "\n"


def _configuration_page() -> str:
    lines = [
        "# Configuration",
        "",
        "Settings are in two JSON files:",
        "",
        "- **Yours** is `config.json` in the home folder (`MOSS_HOME`, or `~/.moss`).",
        "- **The repository's** is `.moss/config.json`, in the current folder or the nearest folder above it.",
        "",
        "`moss config` shows every setting with its source; `moss config set KEY VALUE` changes yours.",
        "If both files have a setting, its type decides:",
        "",
        "| type | result |",
        "|---|---|",
        "| number | the repository's value; `0` means the default |",
        "| true or false | true if it is true in one of the files |",
        "| list | both lists together |",
        "| `workspace` | `MOSS_WORKSPACE`, or the repository's value, or yours |",
        "",
        "`MOSS_LOG` (debug, info, warning or error) turns on log records on stderr.",
        "",
        "Generated from the registry by `make docs`; do not edit.",
        "",
        "| key | default | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{key}` | `{json.dumps(default)}` | {SETTINGS[key]} |" for key, default in DEFAULTS.items()]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
