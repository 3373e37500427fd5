"""The built-in commands, which are not tools: parameters, description and implementation."""

from __future__ import annotations

from moss_memory.registry.catalog import TOOLSETS
from moss_memory.registry.responses import (
    FINDINGS,
    ResponseSchema,
    anything,
    file_path,
    flag,
    integer,
    list_of,
    map_of,
    moment_ms,
    object_of,
    text,
    texts,
)

from .built_in import STRINGS, BuiltIn, string, switch
from .command_answers import CONNECTED, FAILED, HOOKS, NAMED_TOKEN, SKIPPED, UNMAPPED
from .store_commands import STORE_COMMANDS

SHELLS = ("bash", "zsh", "fish")
CLIENTS = (
    "claude-code", "claude-desktop", "codex", "cursor", "vs-code", "gemini", "windsurf", "zed", "opencode"
)  # fmt: skip
HOOKED_CLIENTS = ("claude-code", "codex", "gemini", "cursor")
"""The clients that can run `moss prime` when a session begins."""
SCOPES = ["user", "project"]


_TOOLSETS = {"type": "array", "items": {"type": "string", "enum": list(TOOLSETS)}}
_WORKSPACE = string("project namespace")

SOURCES = (
    "server-memory", "basic-memory", "memory-keeper", "beads", "task-master", "markdown", "claude-code", "codex"
)  # fmt: skip
"""The importers of Moss itself; installed packages may have more."""

_COMPARED = {
    "id": string("ULID; instead of workspace + name"),
    "workspace": string("namespace"),
    "name": string("handle, unique in the workspace"),
    "version": {"type": "integer", "minimum": 1, "description": "the older one; if left out: the one before the other"},
    "to": {"type": "integer", "minimum": 1, "description": "the newer one; if left out: the present one"},
}
_COMPARES = (
    "Show what changed from one version of {} to another, as a unified diff.\n\n"
    "Without options what the last change did. Metadata come first, then {}. On a terminal it is coloured unless "
    "NO_COLOR is set; in a pipe it is the plain diff. Also of what is deleted."
)

_ALL = (
    BuiltIn(
        "mcp",
        "Serve the store to an MCP client on stdin and stdout.\n\n"
        "Without any command and with a piped stdin, `moss` does the same.",
        "moss mcp --toolsets capsule",
        {"toolsets": {**_TOOLSETS, "description": "list only the tools of these"}},
        does="commands.serve.serve_client",
        everywhere=("home", "help"),
    ),
    BuiltIn(
        "serve",
        "Serve the store over HTTP: MCP for programs, pages for people.\n\n"
        "One process at 127.0.0.1:8314, until Ctrl-C. It prints a link that signs a browser in and the line that "
        "connects each client. Programs send the token that stands in the home folder; the file is made once. A port "
        "that is taken is never left for another one: clients would send their token to its owner. Needs the "
        "extra `http`: pip install 'moss-memory[http]'.",
        "moss serve --read-only",
        {
            "port": {"type": "integer", "description": "the port; 8314 if left out"},
            "read_only": switch("refuse every tool that writes"),
            "upgrade": switch("first bring the schema up to date, as `moss upgrade` does"),
            "demo": switch(
                "serve a throw-away store with a project in it, on the next free port; yours is not touched"
            ),
            "log": switch("say every request on stderr; without it only those that were refused"),
            "log_format": string(
                "json says every request as a JSON object on a line; text if left out", enum=["text", "json"]
            ),
            "host": string("listen at another address than 127.0.0.1; needs --allowed-host and TLS"),
            "allowed_host": {**STRINGS, "description": "the names that clients call the server by, from elsewhere"},
            "behind_proxy": switch("a proxy in front of it does TLS"),
            "tls_cert": string("the certificate, a PEM file"),
            "tls_key": string("its key, a PEM file"),
            "oauth_issuer": string("also accept the OAuth tokens (JWT) of this issuer, a URL; needs the extra `oauth`"),
            "oauth_audience": string("the `aud` of those tokens that are for this server"),
        },
        does="commands.serve.serve_web",
        everywhere=("home", "help"),
    ),
    BuiltIn(
        "connect",
        "Connect a client to this store, or let it go; without a client show what is connected.\n\n"
        "Only the entry for Moss in the client's file changes, everything else stays byte for byte, comments too; the "
        "file as it was is kept beside it as FILE.before-moss. --remove undoes it, and brings back an entry that "
        "was there. A project's file never holds a token, only the name MOSS_TOKEN. A file that cannot be read is left "
        "alone. --hooks (Claude Code, Codex, Gemini CLI, Cursor) also lets a session begin with `moss prime` and "
        "reminds of saving before compaction; else Moss does nothing unasked.",
        "moss connect cursor --dry-run",
        {
            "client": string("whom", enum=list(CLIENTS)),
            "scope": string("for yourself everywhere, or for everyone in this project; user if left out", enum=SCOPES),
            "http": switch("through `moss serve`, instead of starting Moss"),
            "url": string("with --http: where the server is; http://127.0.0.1:8314 if left out"),
            "toolsets": {**_TOOLSETS, "description": "list only the tools of these; core if left out"},
            "hooks": switch("also run `moss prime` when a session begins, and remind of saving before compaction"),
            "remove": switch("take Moss out of the client's files; with --hooks only the hooks"),
            "dry_run": switch("only show what would change, as a unified diff"),
            "check": switch("change nothing, but start or call what is connected and see whether it answers"),
        },
        does="commands.connect_command.connect",
        table="commands.connect_text.connect_text",
        answers={
            "client": text("whom", optional=True),
            "scope": text("whose file", optional=True),
            "file": file_path("the client's file", optional=True),
            "changed": flag("whether the file changed", optional=True),
            "connected": text("how the client reaches Moss now: stdio, http or no", optional=True),
            "backup": file_path("the file as it was", optional=True),
            "next": text("what to do now", optional=True),
            "hooks": object_of(HOOKS, "the hooks, where they are concerned", optional=True),
            "clients": list_of(CONNECTED, "every client", optional=True, shown="answer"),
            "failed": texts("those that are connected and do not answer", optional=True),
        },
    ),
    BuiltIn(
        "init",
        "Give this git repository a workspace of its own, by its name.\n\n"
        "Writes `workspace` into .moss/config.json of the repository and keeps every other setting there. Commit the "
        "file: every clone and worktree then uses the same workspace.",
        "moss init --workspace shop --dry-run",
        {
            "workspace": string("the workspace; if left out: the one that is set, else the name of the repository"),
            "memory_in_repo": switch("also keep the workspace as files in .moss/memory, which `moss sync` updates"),
            "dry_run": switch("only say what would be written"),
        },
        does="commands.init.init",
        table="commands.init.init_text",
        answers={
            "workspace": text("the workspace of this repository"),
            "file": file_path("the file with the setting"),
            "changed": flag("whether the file changes"),
            "dry_run": flag("whether nothing was written"),
            "sync_folder": text("the folder that `moss sync` uses here", optional=True),
            "connect": texts("clients on this machine that are not connected"),
        },
    ),
    BuiltIn(
        "where",
        "Explain which workspace is used in this folder, and why.\n\n"
        "A setting wins: MOSS_WORKSPACE, then .moss/config.json of the repository, then your own. Otherwise `moss "
        "prime`, `moss task`, `moss think` and `moss notes` use the workspace with the repository's name, which all of "
        "its worktrees and subfolders share, or the only one that a clone of it has written to. Capsules then go to "
        "`default`.",
        "moss where",
        does="commands.where.where",
        table="commands.where.where_text",
        answers={
            "workspace": text("the workspace"),
            "reason": text("why"),
            "repository": anything("name, branch, commit and id of the repository", optional=True),
            "written_from": texts("other repositories that wrote to it, if this one did not", optional=True),
        },
    ),
    BuiltIn(
        "prime",
        "Say in a few lines what is open here, for the start of a session.\n\n"
        "Where the focus stands, what comes next, and the title of the latest hand-over: at most 2,000 characters, and "
        "nothing if nothing is open. Without a default workspace it looks in the one that has the name of the git "
        "repository, else it has a line for each workspace with something open. It reads only. `moss connect "
        "claude-code --hooks` begins every session with it.",
        "moss prime -w shop",
        {
            "workspace": string("project namespace; if left out: the default one, the repository's, or all"),
            "before_compaction": switch("say instead what a summary of the session must keep: that its state is saved"),
            "client": string("the client whose hook reads this; claude-code if left out", enum=list(HOOKED_CLIENTS)),
        },
        does="commands.prime.prime",
        everywhere=("home", "help"),
    ),
    BuiltIn(
        "adopt",
        "Take over what another memory holds, without ever writing to it.\n\n"
        "SOURCE is server-memory, basic-memory, memory-keeper, beads, task-master, markdown, claude-code, codex, or "
        "the name of an importer of an installed package; PATH is its file or folder. Without PATH, claude-code is the "
        "memory folder of this project, codex that of all projects. Every file is one transaction; running it "
        "again adds nothing. The report names what was taken, what was left out and why. What looks like a credential "
        "is left out.",
        "moss adopt basic-memory ~/basic-memory -w shop --dry-run",
        {
            "source": string("the program that wrote it", enum=list(SOURCES)),
            "path": string("its file or folder; claude-code and codex have a default"),
            "workspace": string("where it goes; if left out: the default workspace"),
            "dry_run": switch("only count what would be taken"),
            "allow_secrets": switch("take what looks like a credential too"),
        },
        answers={
            "files": integer("files that were read"),
            "taken": map_of(integer("how many"), "what is new, by kind"),
            "already_there": integer("what was taken before"),
            "skipped": list_of(SKIPPED, "what was not taken"),
            "dry_run": flag("whether nothing was written"),
        },
        does="commands.adopt_command.adopt",
        required=("source",),
    ),
    BuiltIn(
        "diff",
        _COMPARES.format("a capsule or artifact", "the text, of an artifact its data and its text"),
        "moss diff shop/auth --version 3 --to 5",
        {"type": string("of what; if left out: capsule", enum=["capsule", "artifact"]), **_COMPARED},
        does="commands.diff.compare",
        everywhere=("home", "help"),
        heading="across everything",
    ),
    BuiltIn(
        "artifact diff",
        _COMPARES.format("an artifact", "its data and its text"),
        "moss artifact diff plan/run-1-code",
        _COMPARED,
        does="commands.diff.compare_artifact",
        everywhere=("home", "help"),
    ),
    BuiltIn(
        "graph draw",
        "Draw what is in a workspace, or the graph of one branch or task, as a picture: an SVG or a PNG.\n\n"
        "Without --target, --branch and --doc it is the checkout's graph and every plan and task with its steps, in "
        "their order. "
        "Nodes are coloured by type and show their status; those that are over (closed, done, rejected …) are faint. "
        "Edges that end in no node are drawn to a dashed one. A picture of that name is replaced, nothing else is; "
        "only its owner may read it. Needs the extra `draw`: pip install 'moss-memory[draw]'.",
        "moss graph draw what-if -w shop --output what-if.svg",
        {
            "workspace": _WORKSPACE,
            "output": string("the file to write, .svg or .png"),
            "target": string("PLAN-001 or TASK-001, instead of branch and doc"),
            "branch": string("default: the checkout"),
            "doc": string("default: graph"),
            "ids": STRINGS,
            "types": STRINGS,
            "status": string("exact status"),
            "tags_any": STRINGS,
            "tags_all": STRINGS,
            "text": string("part of title or text, in any case"),
            "limit": {"type": "integer", "description": "most nodes, the last changed ones; 200 if left out"},
        },
        answers={
            "path": file_path("the picture"),
            "branch": text("branch"),
            "doc": text("document"),
            "nodes": integer("nodes in the picture"),
            "edges": integer("edges in the picture"),
            "missing": integer("nodes that edges end in and that are not there"),
            "tasks": integer("plans and tasks in the picture of a workspace", optional=True),
            "truncated": flag("whether nodes were left out", shown="if_true"),
        },
        does="graph_image.draw.draw",
        required=("workspace", "output"),
        aliases={"ref": "branch"},
    ),
    BuiltIn(
        "task board",
        "Show the plans, tasks and steps of a workspace, what is in their way, and the focus.\n\n"
        "A table on a terminal, JSON elsewhere unless --table. The table marks the focus with `*` and what is in the "
        "way with `!`, and shows nothing below what is DONE; the JSON holds everything.",
        "moss task board -w shop --plan PLAN-001",
        {"workspace": _WORKSPACE, "plan": string("only this plan and its tasks, such as PLAN-001")},
        does="commands.task_board.board",
        table="commands.task_board.board_table",
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
            "dir": string("the folder of kept records"),
            "workspace": string("where the records go; if left out: the default workspace"),
            "dry_run": switch("only check the files and count what would be migrated"),
            "map": string("a JSON file: by collection `rename`, `values` and `constants` of fields"),
            "lenient": switch("also arrays, {body, provenance}, and unknown fields, which are kept in the provenance"),
        },
        answers={
            "files": integer("files that were found"),
            "unmapped": list_of(UNMAPPED, "fields that no capability knows, kept in the provenance", optional=True),
            "migrated": integer("records that are new"),
            "already_there": integer("records that were known"),
            "failed": list_of(FAILED, "what could not be migrated"),
            "verified": integer("records that were read back"),
            "dry_run": flag("whether nothing was written"),
            **FINDINGS,
        },
        does="commands.record_migrate.migrate_folder",
        required=("dir",),
    ),
    *STORE_COMMANDS,
    BuiltIn(
        "edit",
        "Open a capsule's text in your editor ($VISUAL, else $EDITOR) and store it when the editor ends.\n\n"
        "What somebody else changed meanwhile is not overwritten; a text that is refused is kept in a file.",
        "moss edit auth",
        {
            "id": string("ULID; instead of workspace + name"),
            "workspace": string("namespace"),
            "name": string("handle, unique in the workspace"),
            "allow_thin": switch("store it although sections are missing"),
            "allow_secrets": switch("store it although it looks like a secret"),
        },
        does="commands.edit.edit",
        answers={"id": text("ULID"), "version": integer("its version from now on")},
        heading="capsules",
    ),
    BuiltIn(
        "task next",
        "Show the best piece of work that can be started now, or take it with --claim.",
        "moss task next -w shop --claim --agent ada",
        {
            "workspace": _WORKSPACE,
            "claim": switch("take it, so that nobody else does"),
            "agent": string("who works on it"),
        },
        does="commands.task_next.next_work",
        answers={
            "next": object_of(
                ResponseSchema(
                    "NextWork",
                    {
                        "id": text("the task"),
                        "title": text("what is to be done"),
                        "step": text("its step", optional=True),
                        "why": text("why it can be started", optional=True),
                        "agent": text("who has it now", optional=True),
                        "lease_until_ms": moment_ms("until when, unless it is renewed", optional=True),
                    },
                ),
                "the piece of work; null when there is none",
                nullable=True,
                shown="opened",
            )
        },
    ),
    BuiltIn(
        "token add",
        "Make a named token for a person or a program that calls `moss serve`, and print it once.\n\n"
        "Only a hash of it is stored, in the store, so that all servers of one database accept it. Everybody with a "
        "token sees the whole store. What is written with it is by its name (`moss log --by NAME`).",
        "moss token add anna --expires 90d",
        {
            "name": string("1 to 64 letters, digits, `.`, `_`, `-` or `@`"),
            "read_only": switch("tools that write are refused and not listed"),
            "expires": string("after which time it is refused, such as 12h, 90d or 4w; never if left out"),
        },
        does="commands.token_command.add",
        answers={
            "token": text("the token; it cannot be shown again"),
            **{name: NAMED_TOKEN.fields[name] for name in ("name", "created_at", "expires_at", "read_only")},
        },
        required=("name",),
    ),
    BuiltIn(
        "token list",
        "List the named tokens of the store, without the tokens themselves.",
        "moss token list --table",
        does="commands.token_command.list_all",
        answers={"tokens": list_of(NAMED_TOKEN, "by name", shown="answer")},
    ),
    BuiltIn(
        "token revoke",
        "Refuse a token from now on, on every server of the store within 2 seconds; its sessions and streams end.",
        "moss token revoke anna",
        {"name": string("its name")},
        does="commands.token_command.revoke",
        answers={"name": text("its name"), "revoked": flag("that it is refused from now on")},
        required=("name",),
    ),
    BuiltIn(
        "config set",
        "Write one setting into your own config.json; lists are words between commas, or JSON.",
        "moss config set workspace shop",
        {"key": string("the setting"), "value": string("its value from now on")},
        does="commands.config_command.set_setting",
        answers={"key": text("the setting"), "value": anything("its value"), "file": file_path("where it stands")},
        required=("key", "value"),
    ),
    BuiltIn(
        "config",
        "Show the effective settings and where each comes from.\n\n`moss config set workspace shop` changes one.",
        "moss config --table",
        does="commands.config_command.settings",
        table="commands.config_command.settings_table",
    ),
    BuiltIn(
        "doctor",
        "Check the store, its search index, its modes and the settings, and say what to do.\n\n"
        "Exits 1 when a check fails. With --fix, a damaged index is rebuilt and purges are finished. With --secrets, "
        "everything that is stored is looked through for what looks like a credential; its value is never shown.",
        "moss doctor --table",
        {
            "fix": switch("rebuild the search index, finish purges"),
            "secrets": switch("look for credentials in what is stored"),
        },
        does="commands.doctor.examine",
        table="commands.doctor.report_table",
    ),
    BuiltIn(
        "tour",
        "A guided minute on a throw-away store; yours is not touched.",
        "moss tour",
        does="commands.tour.tour",
        everywhere=("help",),
    ),
    BuiltIn(
        "completion",
        "Print the completion script of a shell: bash, zsh or fish.",
        "moss completion bash > ~/.local/share/bash-completion/completions/moss",
        {"shell": string("whose script", enum=list(SHELLS))},
        does="commands.shell_completion.print_script",
        everywhere=("help",),
    ),
    BuiltIn(
        "help",
        "Show the overview, or the help of one command.",
        "moss help store",
        {"command": string("the command to explain")},
        does="commands.help.explain",
        everywhere=("help",),
    ),
)

BUILT_IN = {one.name: one for one in _ALL}
"""Commands by their words."""
