"""The built-in commands, which are not tools: description, parameters and implementation."""

from __future__ import annotations

from moss_memory.registry.catalog import TOOLSETS
from moss_memory.registry.cli_traits import string, switch
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
from moss_memory.transfer.importers.source_names import SOURCES

from .command_declaration import STRINGS, BuiltIn
from .command_responses import CONNECTED, FAILED, HOOKS, NAMED_TOKEN, SKIPPED, UNMAPPED
from .maintenance_commands import STORE_COMMANDS

SHELLS = ("bash", "zsh", "fish")
CLIENTS = (
    "claude-code", "claude-desktop", "codex", "cursor", "vs-code", "gemini", "windsurf", "zed", "opencode"
)  # fmt: skip
HOOKED_CLIENTS = ("claude-code", "codex", "gemini", "cursor")
"""The clients that can run `moss prime` when a session begins."""
SCOPES = ["user", "project"]


_TOOLSETS = {"type": "array", "items": {"type": "string", "enum": list(TOOLSETS)}}
_WORKSPACE = string("project namespace")

_COMPARED = {
    "id": string("ULID; instead of workspace + name"),
    "workspace": string("namespace"),
    "name": string("handle, unique in the workspace"),
    "version": {
        "type": "integer",
        "minimum": 1,
        "description": "the older version; if left out: the one before the newer",
    },
    "to": {"type": "integer", "minimum": 1, "description": "the newer version; if left out: the current one"},
}
_COMPARES = (
    "Show the changes from one version of {} to another, as a unified diff.\n\n"
    "Without options it shows the last change. Metadata come first, then {}. On a terminal the diff has colours unless "
    "NO_COLOR is set; in a pipe it is plain. Versions of deleted rows can be compared too."
)

_ALL = (
    BuiltIn(
        "mcp",
        "Serve the store to an MCP client on stdin and stdout.\n\n"
        "`moss` without a command does the same if stdin is a pipe.",
        "moss mcp --toolsets capsule",
        {"toolsets": {**_TOOLSETS, "description": "list only the tools of these toolsets"}},
        does="commands.serve.serve_client",
        common_options=("home", "verbose", "help"),
    ),
    BuiltIn(
        "serve",
        "Serve the store over HTTP: MCP for programs, pages for people.\n\n"
        "One process listens at 127.0.0.1:8314 until Ctrl-C. It prints a link that signs a browser in, and the command "
        "that connects each client. Programs send the token in the home folder; its file is created once. If the port "
        "is in use, the command fails instead of choosing another: clients would send their token to the program on "
        "this port. Needs the extra `http`: pip install 'moss-memory[http]'.",
        "moss serve --read-only",
        {
            "port": {"type": "integer", "description": "the port; 8314 if left out"},
            "read_only": switch("refuse every tool that writes"),
            "upgrade": switch("upgrade the schema first, as `moss upgrade` does"),
            "demo": switch(
                "serve a temporary store with an example project, on the next free port; your store is not touched"
            ),
            "log": switch("log every request to stderr; without it only refused ones"),
            "log_format": string(
                "json: log every request as one line of JSON; text if left out", enum=["text", "json"]
            ),
            "host": string("listen at another address than 127.0.0.1; needs --allowed-host and TLS"),
            "allowed_host": {**STRINGS, "description": "host names by which clients on other machines call the server"},
            "behind_proxy": switch("a reverse proxy in front of the server does TLS"),
            "tls_cert": string("the TLS certificate, a PEM file"),
            "tls_key": string("the key of the certificate, a PEM file"),
            "oauth_issuer": string("also accept OAuth tokens (JWT) of this issuer, a URL; needs the extra `oauth`"),
            "oauth_audience": string("the audience (`aud`) that those tokens must have"),
        },
        does="commands.serve.serve_web",
        common_options=("home", "verbose", "help"),
    ),
    BuiltIn(
        "connect",
        "Connect a client to this store, or disconnect it; without a client list all clients.\n\n"
        "Only the entry for Moss in the client's configuration file changes; all other bytes stay, comments too. A "
        "copy of the original file is kept as FILE.before-moss. --remove undoes the change and restores an entry that "
        "was there before. A project's file never contains a token, only the name MOSS_TOKEN. A file that cannot be "
        "read is not changed. With --hooks (Claude Code, Codex, Gemini CLI, Cursor) the client also runs `moss prime` "
        "when a session begins, and a reminder to save before compaction; without it Moss does nothing unasked.",
        "moss connect cursor --dry-run",
        {
            "client": string("the client", enum=list(CLIENTS)),
            "scope": string(
                "user: all of your projects; project: everyone in this project; user if left out", enum=SCOPES
            ),
            "http": switch("connect through `moss serve`, instead of starting Moss"),
            "url": string("with --http: the URL of the server; http://127.0.0.1:8314 if left out"),
            "toolsets": {**_TOOLSETS, "description": "list only the tools of these toolsets; core if left out"},
            "hooks": switch("also run `moss prime` when a session begins, and a reminder to save before compaction"),
            "remove": switch("remove Moss from the client's files; with --hooks only the hooks"),
            "dry_run": switch("only show the changes, as a unified diff"),
            "check": switch("change nothing; start or call each connected Moss and check that it answers"),
        },
        does="commands.connect_command.connect",
        table="commands.connect_text.connect_text",
        answers={
            "client": text("the client", optional=True),
            "scope": text("user or project", optional=True),
            "file": file_path("the client's file", optional=True),
            "changed": flag("whether the file changed", optional=True),
            "connected": text("how the client reaches Moss now: stdio, http or no", optional=True),
            "backup": file_path("the copy of the original file", optional=True),
            "next": text("the next step for the user", optional=True),
            "hooks": object_of(HOOKS, "the hooks, if they changed", optional=True),
            "clients": list_of(CONNECTED, "every client", optional=True, shown="answer"),
            "failed": texts("connected clients that do not answer", optional=True),
        },
    ),
    BuiltIn(
        "init",
        "Give this git repository a workspace of its own, named after it.\n\n"
        "Writes the setting `workspace` to .moss/config.json in the repository and keeps all other settings. Commit "
        "the file: every clone and worktree then uses the same workspace.",
        "moss init --workspace shop --dry-run",
        {
            "workspace": string("the workspace; if left out: the one in the file, else the name of the repository"),
            "memory_in_repo": switch("also keep the workspace as files in .moss/memory, which `moss sync` updates"),
            "dry_run": switch("write nothing, only report"),
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
        "Show the workspace of this folder and the reason for it.\n\n"
        "A setting has priority: MOSS_WORKSPACE, then .moss/config.json of the repository, then your own. Without one, "
        "`moss prime`, `moss task`, `moss think` and `moss notes` use the workspace with the repository's name, which "
        "all of its worktrees and subfolders share, or the only workspace that a clone of it has written to. Capsules "
        "then go to `default`.",
        "moss where",
        does="commands.where.where",
        table="commands.where.where_text",
        answers={
            "workspace": text("the workspace"),
            "reason": text("the reason"),
            "repository": anything("name, branch, commit and id of the repository", optional=True),
            "written_from": texts("other repositories that wrote to it, if this one did not", optional=True),
        },
    ),
    BuiltIn(
        "prime",
        "Print a short summary of open work, for the start of a session.\n\n"
        "It has the state of the focus, the next step and the title of the latest hand-over, in at most 2,000 "
        "characters; without open work it is empty. Without a default workspace it uses the one with the name of the "
        "git repository, else it has a line for each workspace with open work. It only reads. `moss connect "
        "claude-code --hooks` runs it at the start of every session.",
        "moss prime -w shop",
        {
            "workspace": string("project namespace; if left out: the default one, the repository's, or all"),
            "before_compaction": switch("print a reminder to save the state of the session instead, for its summary"),
            "client": string("the client whose hook reads this; claude-code if left out", enum=list(HOOKED_CLIENTS)),
        },
        does="commands.prime.prime",
        common_options=("home", "verbose", "help"),
    ),
    BuiltIn(
        "adopt",
        "Import the data of another memory, without writing to it.\n\n"
        f"SOURCE is {', '.join(SOURCES)}, or the name of an importer of an installed package; PATH is its file or "
        "folder. Without PATH, claude-code is the memory folder of this project, codex that of all projects. Every "
        "file is one transaction; a second run adds nothing. The report counts the imported items and names the "
        "skipped ones with the reason. Suspected credentials are skipped.",
        "moss adopt basic-memory ~/basic-memory -w shop --dry-run",
        {
            "source": string("the program that wrote it", enum=list(SOURCES)),
            "path": string("its file or folder; claude-code and codex have a default"),
            "workspace": string("the workspace for the data; if left out: the default workspace"),
            "dry_run": switch("write nothing, only count"),
            "allow_secrets": switch("import suspected credentials too"),
        },
        answers={
            "files": integer("files that were read"),
            "taken": map_of(integer("how many"), "new items, by kind"),
            "already_there": integer("items of earlier runs"),
            "skipped": list_of(SKIPPED, "skipped items"),
            "dry_run": flag("whether nothing was written"),
        },
        does="commands.adopt_command.adopt",
        required=("source",),
        positional=("source", "path"),
    ),
    BuiltIn(
        "diff",
        _COMPARES.format("a capsule or artifact", "the text, of an artifact its data and its text"),
        "moss diff shop/auth --version 3 --to 5",
        {"type": string("capsule if left out", enum=["capsule", "artifact"]), **_COMPARED},
        does="commands.diff.compare",
        common_options=("home", "verbose", "help"),
    ),
    BuiltIn(
        "artifact diff",
        _COMPARES.format("an artifact", "its data and its text"),
        "moss artifact diff plan/run-1-code",
        _COMPARED,
        does="commands.diff.compare_artifact",
        common_options=("home", "verbose", "help"),
    ),
    BuiltIn(
        "graph draw",
        "Draw a workspace, or the graph of one branch or task, as a picture: an SVG or a PNG.\n\n"
        "Without --target, --branch and --doc it shows the checkout's graph and every plan and task with its steps, in "
        "their order. Nodes have a colour for each type and show their status; final ones (closed, done, rejected …) "
        "are pale. Edges to a missing node end in a dashed one. An existing picture is replaced, no other file; "
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
            "limit": {
                "type": "integer",
                "description": "maximum number of nodes, the last changed ones; 200 if left out",
            },
        },
        answers={
            "path": file_path("the picture"),
            "branch": text("branch"),
            "doc": text("document"),
            "nodes": integer("nodes in the picture"),
            "edges": integer("edges in the picture"),
            "missing": integer("nodes that edges name and that do not exist"),
            "tasks": integer("plans and tasks in the picture of a workspace", optional=True),
            "truncated": flag("whether nodes were left out", shown="if_true"),
        },
        does="graph_image.draw.draw",
        required=("workspace", "output"),
        aliases={"ref": "branch"},
    ),
    BuiltIn(
        "task board",
        "Show the plans, tasks and steps of a workspace, their blockers, and the focus.\n\n"
        "A table on a terminal, JSON elsewhere unless --table. The table marks the focus with `*` and blockers with "
        "`!`, and does not expand plans and tasks that are DONE; the JSON has everything.",
        "moss task board -w shop --plan PLAN-001",
        {"workspace": _WORKSPACE, "plan": string("only this plan and its tasks, such as PLAN-001")},
        does="commands.task_board.board",
        table="commands.task_board.board_table",
        required=("workspace",),
    ),
    BuiltIn(
        "record migrate",
        "Import records that were written to files while the store was unavailable, and verify each.\n\n"
        "DIR is the folder with the collections, .cursor/memory. The files stay in place; a second run adds no record "
        "twice. A file that fails is reported with the reason and does not stop the others; the exit code is then 1. A "
        "folder with links to files outside of it is refused.",
        "moss record migrate .cursor/memory -w shop --dry-run",
        {
            "dir": string("the folder with the record files"),
            "workspace": string("the workspace of the records; if left out: the default workspace"),
            "dry_run": switch("write nothing, only check the files and count"),
            "map": string("a JSON file: by collection `rename`, `values` and `constants` of fields"),
            "lenient": switch("also accept arrays, {body, provenance}, and unknown fields, which go to the provenance"),
        },
        answers={
            "files": integer("files that were found"),
            "unmapped": list_of(UNMAPPED, "fields of no capability, stored in the provenance", optional=True),
            "migrated": integer("new records"),
            "already_there": integer("records of earlier runs"),
            "failed": list_of(FAILED, "files that could not be imported"),
            "verified": integer("records that were read back"),
            "dry_run": flag("whether nothing was written"),
            **FINDINGS,
        },
        does="commands.record_import_command.import_folder",
        required=("dir",),
    ),
    *STORE_COMMANDS,
    BuiltIn(
        "edit",
        "Open a capsule's text in your editor ($VISUAL, else $EDITOR) and store it when the editor ends.\n\n"
        "A concurrent change is not overwritten; a refused text stays in a file.",
        "moss edit auth",
        {
            "id": string("ULID; instead of workspace + name"),
            "workspace": string("namespace"),
            "name": string("handle, unique in the workspace"),
            "allow_thin": switch("store it even if sections are missing"),
            "allow_secrets": switch("store it even if it looks like a credential"),
        },
        does="commands.edit.edit",
        answers={"id": text("ULID"), "version": integer("the new version")},
    ),
    BuiltIn(
        "task next",
        "Show the best task or step that can be started now, or claim it with --claim.",
        "moss task next -w shop --claim --agent ada",
        {
            "workspace": _WORKSPACE,
            "claim": switch("claim it, so that no other agent does"),
            "agent": string("the name of the agent"),
        },
        does="commands.task_next.next_work",
        answers={
            "next": object_of(
                ResponseSchema(
                    "NextWork",
                    {
                        "id": text("the task"),
                        "title": text("its title"),
                        "step": text("the step of the task", optional=True),
                        "why": text("why it can be started", optional=True),
                        "agent": text("the agent that claimed it", optional=True),
                        "lease_until_ms": moment_ms("the end of the claim, unless it is renewed", optional=True),
                    },
                ),
                "the task or step; null if there is none",
                nullable=True,
                shown="opened",
            )
        },
    ),
    BuiltIn(
        "token add",
        "Create a named token for a person or a program that calls `moss serve`, and print it once.\n\n"
        "The store has only its hash; all servers of one database accept it. Everybody with a token can read the whole "
        "store. Changes made with it have its name as the author (`moss log --by NAME`).",
        "moss token add anna --expires 90d",
        {
            "name": string("1 to 64 letters, digits, `.`, `_`, `-` or `@`"),
            "read_only": switch("refuse tools that write, and do not list them"),
            "expires": string("the lifetime, such as 12h, 90d or 4w; unlimited if left out"),
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
        "Revoke a token: every server of the store refuses it within 2 seconds, and its sessions and streams end.",
        "moss token revoke anna",
        {"name": string("the name of the token")},
        does="commands.token_command.revoke",
        answers={"name": text("its name"), "revoked": flag("true")},
        required=("name",),
    ),
    BuiltIn(
        "config set",
        "Write one setting to your own config.json; a list is words separated by commas, or JSON.",
        "moss config set workspace shop",
        {"key": string("the name of the setting"), "value": string("its new value")},
        does="commands.config_command.set_setting",
        answers={
            "key": text("the setting"),
            "value": anything("its value"),
            "file": file_path("the configuration file"),
        },
        required=("key", "value"),
    ),
    BuiltIn(
        "config",
        "Show the effective settings and the source of each.\n\n`moss config set workspace shop` changes one.",
        "moss config --table",
        does="commands.config_command.settings",
        table="commands.config_command.settings_table",
    ),
    BuiltIn(
        "doctor",
        "Check the store, its search index, file modes and settings, and suggest repairs.\n\n"
        "Exits 1 if a check fails. --fix rebuilds a damaged index and finishes purges. --secrets scans all stored data "
        "for credentials; their values are never shown.",
        "moss doctor --table",
        {
            "fix": switch("rebuild a damaged search index, finish purges"),
            "secrets": switch("scan all stored data for credentials"),
        },
        does="commands.doctor.examine",
        table="commands.doctor.report_table",
    ),
    BuiltIn(
        "tour",
        "Take a guided tour of one minute on a temporary store; your store is not touched.",
        "moss tour",
        does="commands.tour.tour",
        common_options=("help",),
    ),
    BuiltIn(
        "completion",
        "Print the completion script of a shell: bash, zsh or fish.",
        "moss completion bash > ~/.local/share/bash-completion/completions/moss",
        {"shell": string("the shell", enum=list(SHELLS))},
        does="commands.shell_completion.print_script",
        common_options=("help",),
    ),
    BuiltIn(
        "help",
        "Show the overview, or the help of one command.",
        "moss help store",
        {"command": string("the command to explain")},
        does="commands.help.print_help",
        common_options=("help",),
    ),
)

BUILT_IN = {built_in.name: built_in for built_in in _ALL}
"""Commands by their words."""
