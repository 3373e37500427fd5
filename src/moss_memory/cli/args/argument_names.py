"""Facts about arguments by their name, for the commands of all tools that have them.

Facts about one tool are in its declaration: see `registry.cli_traits`.
"""

from __future__ import annotations

ADDRESS = ("id", "workspace", "name", "allow_thin")
"""Arguments that address a row or set how it is written; an update that has only these changes nothing."""

POSITIONAL = ("id", "query", "path", "folder", "shell", "command", "search", "tool", "client")
"""Arguments that may be positional in a command outside of groups; the first one that a tool has is used."""

SCOPES = ("target", "branch", "ref")
"""Arguments of which one is positional in a group: a plan or task, or a branch."""

SEVERAL_WORDS = ("query", "command", "search")
"""Positional arguments that take all words, joined with blanks."""

WITHOUT_NAMES = {"record": "id", "node": "id", "task": "target"}
"""Values of `type` whose rows have no name, and the argument that a word fills instead."""

TEXT = ("capsule_text", "content", "artifact", "data", "card", "note", "thought")
"""Arguments that are read from stdin or `--file` if no option gives them."""

SENTENCES = ("success_criteria", "tests", "blockers", "links", "checks", "texts", "search")
"""Lists of sentences, which commas do not separate; the option is repeated instead."""

PAIRS = ("properties",)
"""Objects that may be given as NAME=VALUE; the option may be repeated."""

SHORT_OPTIONS = {"workspace": "-w", "output": "-o", "help": "-h"}

LISTING_COMMANDS = {"capability_id": "record capabilities"}
"""Arguments, and the command that lists their values."""

FILES = ("file", "path", "output", "dir")
"""Arguments and options for which a shell completes paths."""

STORED = {
    "workspace": "workspaces",
    "new_workspace": "workspaces",
    "target": "tasks",
    "plan": "tasks",
    "branch": "branches",
    "ref": "branches",
    "from": "branches",
    "into": "branches",
}
"""Arguments that a shell completes from the store, and the kind of their values."""

DESCRIPTIONS = {
    "ids": "their ids",
    "types": "of any of these types",
    "tags_any": "with any of these tags",
    "tags_all": "with all of these tags",
    "docs": "the documents to add it to",
    "supports": "ids of the cards that it supports",
    "blocks": "ids of the cards that it blocks",
    "candidate_ids": "only these cards",
    "depends_on": "ids of the tasks that must be done before",
    "success_criteria": "conditions of success",
    "tests": "checks of these conditions",
    "blockers": "reasons why it cannot start",
    "links": "URLs or paths",
    "checks": "commands that were run, and their results",
    "texts": "observations",
    "thought_number": "the number of this thought",
    "total_thoughts": "the expected number of thoughts",
    "revises_thought": "the number of the thought that it revises",
    "branch_from_thought": "the number of the thought that it branches off",
}
"""Descriptions of arguments that have none in the schema, to keep the tool list of agents short."""
