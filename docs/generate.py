"""Writes the reference from the registry: `make docs`. A test fails when a page is stale."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from moss_memory.config import DEFAULTS
from moss_memory.errors import RETRYABLE, STATUS
from moss_memory.registry import catalog
from moss_memory.registry.operation import Operation
from moss_memory.registry.responses import Field, ResponseSchema, inner_shapes

FOLDER = Path(__file__).parent / "reference"

_REASONING = (
    "Working memory for questions that outlive a session. A **document** collects notes that are never rewritten. The "
    "**graph** links questions, hypotheses, tests, evidence and decisions. A **branch** tries an answer without "
    "disturbing what others read, and is merged when it holds. The **history** names commits, goes back to one and "
    "leads forward again. A **card** is one explicit thought, kept in the trace and in the graph at once. Every tool "
    "needs a `workspace`; a call that names no branch means the checkout, which is `main` at first. Read tools never "
    "answer more than `max_chars`, `max_bytes` or `max_lines` allow (30,000 characters where none is given), and "
    "say `truncated` when they left something out. "
    "There is [a worked example](../how-to/what-if.md), and a page on "
    "[how it works](../explanation/branches.md)."
)
_TASKS = (
    "Plans, tasks and their steps, with checkpoints to confirm before a step closes. Every change is also an entry in "
    "the trace of its plan or task and a node in its graph, written together or not at all. `tasks_radar` names the "
    "one next call to make. There is [a worked example](../how-to/plan-and-hand-over.md), and a page on "
    "[how it works](../explanation/tasks.md)."
)
_RECORDS = (
    "What was decided, built and checked, with where it comes from. A **payload** is checked by its **capability**, "
    "which says what fields it has and what it is about; the same content is one **record**, however often it is "
    "submitted. Every submission is an observation of an **entity**, and the entity's snapshot is what its "
    "observations say together; each field knows the one it came from. The dates in a payload are the **timeline**. "
    "`moss record capabilities` lists the capabilities with their fields; files in `capabilities/` of the home folder "
    "add more, and `moss doctor` names those that cannot be used. `moss record migrate .cursor/memory` brings in what "
    "was kept as files while the store was away. There is [a worked example](../how-to/record-decisions.md)."
)
_PLAIN_TYPES = {
    "text": "string", "integer": "integer", "number": "number", "flag": "boolean", "moment": "seconds since 1970",
    "moment_ms": "milliseconds since 1970", "time": "RFC 3339 time", "path": "path", "free": "free-form object",
    "any": "any JSON", "highlighted": "HTML-escaped string with `<b>`",
}  # fmt: skip
_HISTORY = (
    "What was there before a change stays readable. A **version** is what a capsule or artifact held until the next "
    "one took its place: 1 when it is stored, one more with every change. Of a capsule every change counts, also of "
    "its metadata and name; of an artifact only `artifact_store` and `moss_revert`: its time to live, labels and name "
    "change without one. Deleting and restoring never count. `capsule_fetch` and `artifact_fetch` load an old one by "
    "`version` or `as_of`; a date means the end of that day in UTC, and what was written within the same second is "
    "there. A row shows its present name and time to live, also in an old version. The newest `history_keep` versions "
    "are kept, none that another replaced more than `history_days` ago; search, lists and `capsule_export` know "
    "only the present one, and purging takes all of them along. There is "
    "[a worked example](../how-to/take-back-a-change.md)."
)
_EVERYTHING = """Tools that belong to no family and are always on: one search, and the tools that find and call others.

## Scores

Hits are ordered by `score`, then by the last change. Compare scores within one search only.

| `search_mode` and `query` | score |
|---|---|
| `keyword`, a question without operators | bm25 divided by its maximum, plus half of the share |
| `keyword`, a query with operators | bm25; a match in the title counts five times |
| `semantic` | the similarity, at least 0.2 |
| `both` | the similarity, plus 0.6 times the share to the power of 1.5 |

The share is that of the query's words in the text, each weighted by its rarity (idf). The similarity is half the cosine
of the best passage plus half the mean cosine of all passages; it is 0 if a text has no vector yet. A superseded card
gets half of its score. Without a model `both` scores as `keyword` does, and says `degraded`. SQLite and PostgreSQL
return equal scores."""

TOOL_GROUPS = {
    "capsule": ("capsules.md", "Capsules", "Size-bounded, linted hand-overs between sessions."),
    "artifact": (
        "artifacts.md",
        "Artifacts",
        "Typed JSON state for orchestration code, with versions and time-to-live.",
    ),
    "reasoning": ("reasoning.md", "Reasoning", _REASONING),
    "task": ("tasks.md", "Tasks", _TASKS),
    "record": ("records.md", "Records", _RECORDS),
    "": (
        "search.md",
        "Over everything",
        _EVERYTHING,
    ),
    "history": ("history.md", "History", _HISTORY),
}

MEANINGS = {
    "AMBIGUOUS_ADDRESSING": "`id` is given together with `name` or `workspace`",
    "INVALID_REQUEST": "an argument is missing, unknown, of the wrong type or not allowed; `details.path` names it, "
    "`details.errors` names several, and `recovery` is the corrected call if the correction is certain",
    "UNKNOWN_CAPABILITY": "there is no capability of that id; `details.known` lists those there are",
    "VALIDATION_ERROR": "what `INVALID_REQUEST` is elsewhere, in the record tools: an argument, or a field of the body "
    "that its capability does not allow; `details.path` names it",
    "READ_ONLY": "the tool writes, and the store is served for reading only (`moss serve --read-only`), or "
    "the token may only read",
    "NOT_FOUND": "there is no such thing, it is deleted, or the branch never showed it; `recovery` lists what there is",
    "FILTER_REQUIRED": "a bulk change of artifacts or a restore by `filters` without any",
    "CONFLICT": "what is there stands against it: an import collides (`details.errors` names every line), a branch or "
    "tag has that name, something needs the branch, a step is open, a card or a resolution says otherwise, another "
    "call had this `idempotency_key`",
    "NAME_ALREADY_EXISTS": "the name is taken in its workspace",
    "VERSION_MISMATCH": "what is to be changed is not at the expected version; `details.actual` says where it is",
    "CHECKPOINTS_NOT_CONFIRMED": "a step is to be closed before the criteria or tests that it defines are confirmed",
    "DATA_TOO_LARGE": "an artifact's data is over 50,000 characters of compact JSON",
    "TEXT_TOO_LARGE": "an artifact's text is over 12,000 characters, or another argument over "
    "`text_max_chars`; `details` has `max_chars` and `actual_chars`",
    "COMPOSE_MISSING_TEXT": "an artifact to compose has no text; `details.missing` names them",
    "CAPSULE_TOO_LARGE": "the text is over `capsule_max_chars`",
    "COMPOSE_TOO_LARGE": "the bundle is over `capsule_max_chars`",
    "FILE_TOO_LARGE": "the import file is over `import_max_bytes`",
    "SECRET_FOUND": "what was to be stored looks like a credential; `details.findings` says of which kind and where, "
    "never the value; take it out, or send `allow_secrets: true` if it is a false positive",
    "CAPSULE_TOO_THIN": "required sections are missing, or only say (fill in: …); `details.missing` names them, and "
    "the text in `recovery` has places to fill in for them",
    "RATE_LIMITED": "a token made more calls in a minute, or at once, than `token_calls_per_minute` and "
    "`token_calls_at_once` allow; send the call again after `details.retry_after_s`, over HTTP `Retry-After`",
    "CANCELLED": "the caller gave up; nothing was changed",
    "INTERNAL": "a fault of Moss; the server logs its cause on stderr, the command line shows it with `MOSS_DEBUG=1`",
    "DB_INSERT_FAILED": "a record could not be written; `details.storage_code` says why, as the `STORAGE_` codes below",
    "DB_QUERY_FAILED": "records could not be read; `details.storage_code` says why, as the `STORAGE_` codes below",
    "SEMANTIC_UNAVAILABLE": "a search by meaning alone where the extra `semantic` is not installed, or the folder in "
    "`semantic_model` holds no model that can be used; `keyword` and `both` still answer",
    "NOT_A_STORE": "the file in the database's place is no store of Moss; it is left as it is",
    "STORAGE_CORRUPT": "the database is damaged; `moss doctor` says more",
    "STORAGE_READONLY": "the store cannot be written; reads go on",
    "STORAGE_BUSY": "another process kept the store busy for a minute; `details.holder` says which, since when and "
    "with which tool; try again",
    "STORAGE_UNKNOWN": "the files of the store were removed or replaced while a call wrote; look whether what it wrote "
    "is there before you try again",
    "STORAGE_FULL": "no space is left; reads go on",
}

WHAT_TO_DO = {
    "RATE_LIMITED": "wait for `details.retry_after_s`, then send it again",
    "AMBIGUOUS_ADDRESSING": "send the `id` alone, or `workspace` and `name`",
    "INVALID_REQUEST": "correct what the message names",
    "UNKNOWN_CAPABILITY": "take one of `details.known`, or add its file to `capabilities/` of the home folder",
    "VALIDATION_ERROR": "correct the field that `details.path` names",
    "READ_ONLY": "ask a server that was started without `--read-only`, or for a token that may write",
    "NOT_FOUND": "make the call in `recovery`",
    "FILTER_REQUIRED": "give at least one filter",
    "CHECKPOINTS_NOT_CONFIRMED": "check them, then send the call with `checkpoints`",
    "CONFLICT": "look at what is there; the message says what stands against it",
    "NAME_ALREADY_EXISTS": 'take another name, update what has it, or store with `mode: "replace"`',
    "VERSION_MISMATCH": "fetch it again, apply the change to what is there now, send the new version",
    "CAPSULE_TOO_LARGE": "compress the text; keep decisions and next actions",
    "COMPOSE_TOO_LARGE": "compose fewer, or keep only some `sections`",
    "DATA_TOO_LARGE": "split the data, or keep a reference to it",
    "FILE_TOO_LARGE": "`moss import --max-bytes` lets a person read it",
    "TEXT_TOO_LARGE": "shorten the text, or store it in parts",
    "CAPSULE_TOO_THIN": "write the sections that are missing",
    "COMPOSE_MISSING_TEXT": "store those artifacts with a `text`, or leave them out",
    "SECRET_FOUND": "take the credential out",
    "CANCELLED": "send it again if it is still wanted",
    "DB_INSERT_FAILED": "as for the `STORAGE_` code in `details`",
    "DB_QUERY_FAILED": "as for the `STORAGE_` code in `details`",
    "INTERNAL": "report it, with the cause from the log",
    "NOT_A_STORE": "move the file away, or choose another home",
    "STORAGE_CORRUPT": "run `moss doctor`; restore a backup",
    "STORAGE_READONLY": "give the store's owner the right to write, then send it again",
    "SEMANTIC_UNAVAILABLE": "search with `both` or `keyword`, or install the extra",
    "STORAGE_BUSY": "wait a little and send it again",
    "STORAGE_UNKNOWN": "look whether it was written, then send it again",
    "STORAGE_FULL": "make room, then send it again",
}
"""The remedy of each code; a test checks that every code has one."""

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
    """Every generated page by its file name."""
    operations = catalog.operations()
    made = {}
    for toolset, (file, title, lead) in TOOL_GROUPS.items():
        tools = [operation for operation in operations if _group(operation) == toolset]
        if tools:
            made[file] = _family_page(title, lead, tools)
    made["errors.md"] = _errors_page()
    made["configuration.md"] = _configuration_page()
    return made


def _group(tool: Operation) -> str:
    """Return the page that lists a tool: its family, the history of several, or everything."""
    of_history = tool.body.__module__.rpartition(".")[2] in ("version_tools", "erase_tool")
    return catalog.toolset_of(tool.name) or ("history" if of_history else "")


def _family_page(title: str, lead: str, tools: list[Operation]) -> str:
    lines = [f"# {title}", "", lead, "", "Generated from the registry by `make docs`; do not edit.", ""]
    lines += ["| tool | does |", "|---|---|"]
    lines += [f"| [`{tool.name}`](#{tool.name}) | {_cell(tool.summary)} |" for tool in tools]
    for tool in tools:
        lines += ["", *_tool_section(tool)]
    lines += _shapes_section(tools)
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
        return ["Answers what the tool that it calls answers."]
    if answers.name:
        return [f"Answers {_link(answers)}."]
    return ["| answer | type | meaning |", "|---|---|---|", *_field_rows(answers)]


def _field_rows(shape: ResponseSchema) -> list[str]:
    return [f"| `{name}` | {_answer_type(field)} | {_cell(field.meaning)} |" for name, field in shape.fields.items()]


def _shapes_section(tools: list[Operation]) -> list[str]:
    """Return the named shapes in the answers of a page, each once."""
    named: dict[str, ResponseSchema] = {}
    for tool in tools:
        _collect(tool.answers, named)
    if not named:
        return []
    lead = "What the answers above hold. What is optional is left out where there is nothing to say."
    lines = ["", "## Shapes", "", lead]
    for shape in sorted(named.values(), key=lambda shape: shape.name):
        lines += ["", f"### {shape.name}", "", "| field | type | meaning |", "|---|---|---|", *_field_rows(shape)]
    return lines


def _collect(shape: ResponseSchema, named: dict[str, ResponseSchema]) -> None:
    if shape.name in named:
        return
    if shape.name:
        named[shape.name] = shape
    for inner in inner_shapes(shape):
        _collect(inner, named)


def _answer_type(field: Field) -> str:
    shown = _PLAIN_TYPES.get(field.kind) or _made_type(field)
    return shown + (" or null" if field.nullable else "") + (", optional" if field.optional else "")


def _made_type(field: Field) -> str:
    if field.kind == "choice":
        return " or ".join(f"`{value}`" for value in field.values)
    if field.kind == "list":
        return f"list of {_answer_type(field.of)}"
    if field.kind == "map":
        return f"object of {_answer_type(field.of)} by name"
    if field.kind == "either":
        return " or ".join(_answer_type(one) for one in field.of)
    return _link(field.of) if field.of.name else "object of " + ", ".join(f"`{name}`" for name in field.of.fields)


def _link(shape: ResponseSchema) -> str:
    return f"[{shape.name}](#{shape.name.lower()})"


def _meaning(tool: Operation, name: str) -> str:
    meaning = tool.parameters[name].get("description", "")
    others = [f"`{alias}`" for alias, argument in tool.aliases.items() if argument == name]
    return f"{meaning} (also as {', '.join(others)})".strip() if others else meaning


def _traits(tool: Operation) -> str:
    if not tool.mutates:
        return "Reads only."
    changes = "Writes."
    if tool.writes_with:
        changes = f"Writes when `{tool.writes_with}` is given."
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
        "One shape everywhere, over MCP as the tool's result with `isError`:",
        "",
        "```json",
        (
            '{"error": {"code": "NOT_FOUND", "message": "…", "status": 404, "retryable": false, '
            '"details": {}, "recovery": {}}}'
        ),
        "```",
        "",
        (
            "`retryable` says whether the same call, sent again as it was, may succeed; after every other error "
            "something has to change first. `details` says what is wrong in data, `recovery` is the one best next "
            "call: `{tool, arguments, reason}`. The last two appear only where there is something to say. The command "
            "line prints `[CODE] message`, exit code 1."
        ),
        "",
        "Generated from the registry by `make docs`; do not edit.",
        "",
        "| code | status | when | what to do | try again |",
        "|---|---|---|---|---|",
    ]
    for code, status in STATUS.items():
        again = "yes" if code in RETRYABLE else "as its `storage_code`" if code.startswith("DB_") else "no"
        lines.append(f"| `{code}` | {status} | {MEANINGS[code]} | {WHAT_TO_DO[code]} | {again} |")
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
        "| true or false | true if one of the files says true |",
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
