"""The commands that are no tools: server, picture, board, migration, index, backup, settings, doctor and more."""

from __future__ import annotations

from moss_memory.catalog import TOOLSETS
from moss_memory.errors import MossError

from ..parsing.command import Command
from ..parsing.usage import Usage
from ..showing.output import answer, show, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..parsing.command import Request

SHELLS = ("bash", "zsh", "fish")


class BuiltIn:
    """A command of Moss itself, described in the way in which tools are."""

    __slots__ = ("aliases", "description", "everywhere", "example", "name", "parameters", "required", "summary")

    def __init__(
        self,
        name: str,
        description: str,
        example: str,
        parameters: dict[str, dict[str, Any]] | None = None,
        *,
        required: tuple[str, ...] = (),
        aliases: dict[str, str] | None = None,
        everywhere: tuple[str, ...] = ("home", "table", "help"),
    ) -> None:
        self.name = name
        self.description = description
        self.summary = description.partition("\n")[0]
        self.example = example
        self.parameters = parameters or {}
        self.required = required
        self.aliases = aliases or {}
        self.everywhere = everywhere
        """Which of the options that every command takes mean something to this one."""


BUILT_IN = (
    BuiltIn(
        "mcp",
        "Serve the store to an MCP client on stdin and stdout.\n\n"
        "Without any command and with a piped stdin, `moss` does the same.",
        "moss mcp --toolsets capsule",
        {
            "toolsets": {
                "type": "array",
                "items": {"type": "string", "enum": list(TOOLSETS)},
                "description": "list only the tools of these",
            }
        },
        everywhere=("home", "help"),
    ),
    BuiltIn(
        "graph draw",
        "Draw the graph of a branch as a picture, an SVG or a PNG.\n\n"
        "Nodes are coloured by type and show their status; those that are over (closed, done, rejected …) are faint. "
        "Edges that end in no node are drawn to a dashed one. A picture of that name is replaced, nothing else is; "
        "only its owner may read it. Needs the extra `draw`: pip install 'moss-memory[draw]'.",
        "moss graph draw what-if -w shop --output what-if.svg",
        {
            "workspace": {"type": "string", "description": "project namespace"},
            "output": {"type": "string", "description": "the file to write, .svg or .png"},
            "target": {"type": "string", "description": "PLAN-001 or TASK-001, instead of branch and doc"},
            "branch": {"type": "string", "description": "default: the checkout"},
            "doc": {"type": "string", "description": "default: graph"},
            **{name: {"type": "array", "items": {"type": "string"}} for name in ("ids", "types")},
            "status": {"type": "string", "description": "exact status"},
            **{name: {"type": "array", "items": {"type": "string"}} for name in ("tags_any", "tags_all")},
            "text": {"type": "string", "description": "part of title or text, in any case"},
            "limit": {"type": "integer", "description": "most nodes, the last changed ones; 200 if left out"},
        },
        required=("workspace", "output"),
        aliases={"ref": "branch"},
    ),
    BuiltIn(
        "task board",
        "Show the plans, tasks and steps of a workspace, what is in their way, and the focus.\n\n"
        "A table on a terminal, JSON elsewhere unless --table. The table marks the focus with `*` and what is in the "
        "way with `!`, and shows nothing below what is DONE; the JSON holds everything.",
        "moss task board -w shop --plan PLAN-001",
        {
            "workspace": {"type": "string", "description": "project namespace"},
            "plan": {"type": "string", "description": "only this plan and its tasks, such as PLAN-001"},
        },
        required=("workspace",),
    ),
    BuiltIn(
        "record migrate",
        "Bring in records that were kept as files while the store was away, and check that each arrived.\n\n"
        "DIR is the folder with the collections, .cursor/memory. The files stay where they are; running it again adds "
        "no record twice. What failed is named with the reason, the others go on, and the exit code is then 1. A "
        "folder with links that lead out of it is refused whole.",
        "moss record migrate .cursor/memory -w shop --dry-run",
        {
            "dir": {"type": "string", "description": "the folder of kept records"},
            "workspace": {"type": "string", "description": "where the records go; if left out: default"},
            "dry_run": {"type": "boolean", "description": "only check the files and count what would be migrated"},
        },
        required=("dir",),
    ),
    BuiltIn(
        "index",
        "Prepare everything that is stored for search by meaning.\n\n"
        "Searches do this themselves, two seconds at a time and newest first, and say how much is `pending`; after an "
        "import, or an upgrade that brings another model, this does all of it. It can be interrupted and goes on where "
        "it stopped. Needs the extra `semantic`: pip install 'moss-memory[semantic]'.",
        "moss index",
        {"rebuild": {"type": "boolean", "description": "forget what was prepared and start again"}},
    ),
    BuiltIn(
        "backup",
        "Copy the whole store into one new file while everything goes on working.\n\n"
        "The file holds one state of the store, deleted capsules included, and only its owner may read it. A file "
        "that is there already is never overwritten. To restore, stop every client, move moss.db, moss.db-wal and "
        "moss.db-shm out of the home folder and put the copy there as moss.db.",
        "moss backup ~/moss-before-the-move.db",
        {"path": {"type": "string", "description": "the new file, in any folder that you may write"}},
        required=("path",),
    ),
    BuiltIn("config", "Show the effective settings and where each comes from.", "moss config --table"),
    BuiltIn(
        "doctor",
        "Check the store, its search index, its modes and the settings, and say what to do.\n\n"
        "Exits 1 when a check fails. With --fix, a damaged index is rebuilt and purges are finished.",
        "moss doctor --table",
        {"fix": {"type": "boolean", "description": "rebuild the search index, finish purges"}},
    ),
    BuiltIn("tour", "A guided minute on a throw-away store; yours is not touched.", "moss tour", everywhere=("help",)),
    BuiltIn(
        "completion",
        "Print the completion script of a shell: bash, zsh or fish.",
        "moss completion bash > ~/.local/share/bash-completion/completions/moss",
        {"shell": {"type": "string", "enum": list(SHELLS), "description": "whose script"}},
        everywhere=("help",),
    ),
    BuiltIn(
        "help",
        "Show the overview, or the help of one command.",
        "moss help store",
        {"command": {"type": "string", "description": "the command to explain"}},
        everywhere=("help",),
    ),
)


def run_built_in(name: str, words: list[str], home: str | None) -> int:
    """Runs one of Moss's own commands."""
    description = next(one for one in BUILT_IN if one.name == name)
    command = Command(description, name)
    request = command.parse(words)
    if "help" in request.extras:
        from ..speaking.help import command_help

        show(command_help(command))
        return 0
    command.require(request)
    request.extras.setdefault("home", home or "")
    try:
        return int(globals()[f"_{name.replace(' ', '_')}"](request))
    except MossError as error:
        from ..speaking.language import spoken

        error.message = spoken(error.message, description, written=request.arguments)
        raise


def _home(request: Request) -> str | None:
    return request.extras["home"] or None


def _mcp(request: Request) -> int:
    from .serving import serve_client

    return serve_client(_home(request), request.arguments.get("toolsets"))


def _graph_draw(request: Request) -> int:
    from ..drawing.draw import draw

    answer(draw(_home(request), request.arguments), table="table" in request.extras)
    return 0


def _task_board(request: Request) -> int:
    from moss_memory.config import load_config
    from moss_memory.store import Store

    from ..showing.output import STDOUT, is_terminal, width
    from .board import board_table, read_board

    config = load_config(_home(request))
    for warning in config.warnings:
        warn(warning)
    with Store(config) as store:
        board = read_board(store, request.arguments["workspace"], request.arguments.get("plan"))
    if "table" in request.extras or is_terminal(STDOUT):
        show(board_table(board, width=width()))
    else:
        answer(board)
    return 0


def _record_migrate(request: Request) -> int:
    from .migrating import migrate_folder

    asked = request.arguments
    where, dry_run = asked.get("workspace"), bool(asked.get("dry_run"))
    report = migrate_folder(_home(request), asked["dir"], workspace=where, dry_run=dry_run)
    answer(report, table="table" in request.extras)
    return 1 if report["failed"] else 0


def _index(request: Request) -> int:
    from .index import index_store

    done = index_store(_home(request), rebuild=bool(request.arguments.get("rebuild")))
    answer(done, table="table" in request.extras)
    return 0


def _backup(request: Request) -> int:
    from .backup import back_up

    answer(back_up(_home(request), request.arguments["path"]), table="table" in request.extras)
    return 0


def _config(request: Request) -> int:
    from .settings import settings

    shown = settings(_home(request))
    for warning in shown["warnings"]:
        warn(warning)
    if "table" in request.extras:
        from .settings import settings_table

        show(settings_table(shown))
    else:
        answer(shown)
    return 0


def _doctor(request: Request) -> int:
    from .doctor import examine, report_table

    report = examine(_home(request), fix=bool(request.arguments.get("fix")))
    if "table" in request.extras:
        show(report_table(report))
    else:
        answer(report)
    return 0 if report["healthy"] else 1


def _tour(request: Request) -> int:
    from .tour import tour

    return tour()


def _completion(request: Request) -> int:
    from .completion import shipped_script

    shell = request.arguments.get("shell")
    if shell not in SHELLS:
        problem = "which shell" if shell is None else f"no completion for {shell!r}"
        raise Usage(f"{problem}; known: {', '.join(SHELLS)}", command="completion")
    show(shipped_script(shell))
    return 0


def _help(request: Request) -> int:
    from ..parsing.suggestion import nearest
    from ..speaking.help import command_help, command_names, family_help, find_any, group_names, overview

    asked = request.arguments.get("command")
    if asked is None:
        show(overview())
        return 0
    command = find_any(asked)
    if command is not None:
        show(command_help(command))
    elif any(name.startswith(asked + " ") for name in command_names()):
        show(family_help(asked))
    else:
        raise Usage(f"unknown command {asked!r}{nearest(asked, [*command_names(), *group_names()])}")
    return 0
