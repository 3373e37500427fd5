"""Tool names of other memory servers, each with the call of Moss that does the same."""

from __future__ import annotations

from moss_memory.rows.names import DEFAULT_WORKSPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Arguments = dict[str, Any]
    Translate = Callable[[Arguments], Arguments]

_TEXTS = ("content", "text", "memory", "value", "data", "note", "information", "message", "body", "observation", "fact")
_NAMES = ("name", "key", "title", "identifier", "path", "fileName", "filename", "file_name", "note", "topic")
_IDS = ("id", "memory_id", "memoryId", "note_id", "uuid")
_QUESTIONS = ("query", "q", "search", "question", "text", "topic", "content", "keywords", "key", "url")
_WORKSPACES = ("workspace", "project", "project_name", "projectName", "namespace", "collection", "bank", "user_id")


def translate(tool: str, arguments: Any) -> tuple[str, Arguments] | None:
    """Return the call of Moss for a tool of another memory server, with the arguments that have a counterpart."""
    entry = _TOOLS.get(_normalize(tool))
    if entry is None:
        return None
    name, build = entry
    moss_arguments = build(arguments if isinstance(arguments, dict) else {})
    return name, {key: value for key, value in moss_arguments.items() if value not in ("", [])}


def _normalize(tool: str) -> str:
    """Return a name in the form of the table: without a server's prefix, in lower case, words joined by `_`."""
    name = tool[:100].rpartition("__")[2].rpartition("/")[2].replace("-", "_").replace(".", "_")
    return "".join(f"_{char.lower()}" if char.isupper() and index else char.lower() for index, char in enumerate(name))


def _first_text(arguments: Arguments, names: tuple[str, ...]) -> str | None:
    """Return the first of these arguments that is a text, or the only text among all if none is."""
    texts = [arguments[name] for name in names if isinstance(arguments.get(name), str) and arguments[name].strip()]
    return texts[0] if texts else None


def _workspace(arguments: Arguments) -> Arguments:
    workspace = _first_text(arguments, _WORKSPACES)
    return {} if workspace is None else {"workspace": workspace}


def _own_workspace(arguments: Arguments) -> Arguments:
    return {"workspace": DEFAULT_WORKSPACE, **_workspace(arguments)}


def _save(arguments: Arguments) -> Arguments:
    name = _first_text(arguments, _NAMES)
    text = _first_text(arguments, tuple(key for key in _TEXTS if arguments.get(key) != name)) or name or ""
    if not text:
        text = "\n".join(_strings(arguments))
    tags = arguments.get("tags")
    return {
        "capsule_text": text,
        **({} if name is None or name == text else {"name": name}),
        **_workspace(arguments),
        **({"tags": tags} if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags) else {}),
        "allow_thin": True,
    }


def _search(arguments: Arguments) -> Arguments:
    words = _first_text(arguments, _QUESTIONS) or " ".join(_strings(arguments)[:5])
    limit = arguments.get("limit", arguments.get("top_k", arguments.get("n_results")))
    return {
        "query": words[:1000],
        **_workspace(arguments),
        **({"limit": limit} if type(limit) is int and limit > 0 else {}),
    }


def _address(arguments: Arguments) -> Arguments:
    identity, name = _first_text(arguments, _IDS), _first_text(arguments, _NAMES)
    if name is not None:
        return {"name": name, **_workspace(arguments)}
    return {"id": identity} if identity is not None else {}


def _edit(arguments: Arguments) -> Arguments:
    text = _first_text(arguments, _TEXTS)
    return {**_address(arguments), **({} if text is None else {"capsule_text": text}), "allow_thin": True}


def _rows(arguments: Arguments, name: str) -> list[Arguments]:
    rows = arguments.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _entities(arguments: Arguments) -> Arguments:
    ops = [
        {
            "op": "node_upsert",
            "id": str(row.get("name", "")),
            "type": str(row.get("entityType") or row.get("type") or "entity"),
            "title": str(row.get("name", "")),
            "text": "\n".join(_strings(row.get("observations"))),
        }
        for row in _rows(arguments, "entities")
    ]
    return {**_own_workspace(arguments), "ops": ops}


def _relations(arguments: Arguments, op: str = "edge_upsert") -> Arguments:
    ops = [
        {
            "op": op,
            "from": str(row.get("from", "")),
            "rel": str(row.get("relationType") or row.get("type") or "relates_to"),
            "to": str(row.get("to", "")),
        }
        for row in _rows(arguments, "relations")
    ]
    return {**_own_workspace(arguments), "ops": ops}


def _delete_entities(arguments: Arguments) -> Arguments:
    names = _strings(arguments.get("entityNames", arguments.get("names")))
    return {**_own_workspace(arguments), "ops": [{"op": "node_delete", "id": name} for name in names]}


def _observations(arguments: Arguments) -> Arguments:
    lines = [
        f"{row.get('entityName', row.get('name', ''))}: {text}"
        for row in _rows(arguments, "observations")
        for text in _strings(row.get("contents", row.get("observations")))
    ]
    return {**_own_workspace(arguments), "content": "\n".join(lines or _strings(arguments))}


def _nodes(arguments: Arguments) -> Arguments:
    names = _strings(arguments.get("names"))
    return {**_own_workspace(arguments), **({"ids": names} if names else {})}


def _strings(value: Any) -> list[str]:
    """Return the texts in a value, at most one level deep."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for part in parts if isinstance(part, str) and part.strip()]


def _by_words(words: str, tool: str, build: Translate) -> dict[str, tuple[str, Translate]]:
    return dict.fromkeys(words.split(), (tool, build))


_TOOLS: dict[str, tuple[str, Translate]] = {
    **_by_words(
        "add_memory add_memories save_memory store_memory create_memory memory_add memory_save memory_store "
        "memory_write memory_create remember memorize write_note create_note add_note save_note store_note "
        "note_create context_save save_context store_context write_memory memory_bank_write "
        "memory_bank_update write_memory_file save_checkpoint context_checkpoint add_to_memory put_memory "
        "store_information mem0_add_memory save",
        "capsule_store",
        _save,
    ),
    **_by_words(
        "search_memory search_memories memory_search retrieve_memory retrieve_memories memory_retrieve "
        "query_memory query_memories find_memory find_memories recall recall_memory memory_recall "
        "search_nodes search_notes search_note find_notes search_context context_search search_memory_facts "
        "search_memory_nodes search_all semantic_search find_information memory_query mem0_search_memory",
        "moss_search",
        _search,
    ),
    **_by_words(
        "read_note get_note view_note open_note context_get get_context load_context get_memory read_memory "
        "load_memory fetch_memory memory_get memory_read memory_bank_read read_memory_file read_content "
        "fetch_note capsule_load capsule_get capsule_read load fetch",
        "capsule_fetch",
        _address,
    ),
    **_by_words("update_memory memory_update edit_memory edit_note update_note change_memory", "capsule_update", _edit),
    **_by_words(
        "delete_memory delete_memories memory_delete remove_memory delete_note remove_note context_delete "
        "forget_memory mem0_delete_memory",
        "capsule_delete",
        _address,
    ),
    **_by_words(
        "list_memories memory_list get_all_memories get_memories get_all list_notes list_directory "
        "list_memory_files recent_activity context_list list_contexts memory_bank_list list_files list_memory",
        "capsule_inventory",
        _workspace,
    ),
    **_by_words("list_projects list_memory_projects list_banks list_namespaces", "moss_workspaces", lambda _: {}),
    **_by_words("build_context context_build get_project_context", "branchmind_context_pack", _own_workspace),
    **_by_words("create_entities create_entity add_entities upsert_entities", "branchmind_graph_apply", _entities),
    **_by_words("create_relations create_relation add_relations", "branchmind_graph_apply", _relations),
    **_by_words("delete_relations", "branchmind_graph_apply", lambda arguments: _relations(arguments, "edge_delete")),
    **_by_words("delete_entities delete_nodes", "branchmind_graph_apply", _delete_entities),
    **_by_words("add_observations add_observation add_episode", "branchmind_notes_commit", _observations),
    **_by_words("read_graph open_nodes get_entities get_graph delete_observations", "branchmind_graph_query", _nodes),
    **_by_words(
        "sequentialthinking sequential_thinking",
        "branchmind_trace_sequential_step",
        lambda arguments: {"workspace": DEFAULT_WORKSPACE, **arguments},
    ),
}
