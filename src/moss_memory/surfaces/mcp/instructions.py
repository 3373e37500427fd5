"""What a client tells its model about Moss before the first call."""

from __future__ import annotations

INSTRUCTIONS = """\
Moss is the local memory of this machine: what one session distills, any later session or agent can load. \
Nothing is saved or loaded by itself.

- Resuming: capsule_latest with include_text, or capsule_fetch by name; for planned work tasks_radar, whose \
`next` is the call to make; branchmind_context_pack brings notes, trace and cards together. No name known: \
moss_search with a plain question.
- Stopping, or after a decision that must not be lost: capsule_store with a stable name (mode "replace" \
refreshes it), capsule_append for one section, tasks_handoff for planned work. A capsule is state, not story, \
at most about 12,000 characters, with six Markdown sections: Objective, Current status, Decisions, Next actions, \
Key locations, Open questions.
- Working: branchmind_notes_commit for what happened and why, branchmind_think_card for hypotheses, questions, \
tests, evidence and decisions; branchmind_branch_create to try an answer, branchmind_merge and \
branchmind_graph_merge to bring it back. submit_payload for facts to be asked for months later.
- Several agents: give run_id, phase and role; artifacts are typed JSON for code.

Workspaces separate projects: reasoning and task tools need one, the others use "default". max_chars bounds an \
answer; `truncated` says that something was left out. capsule_delete can be undone, purge cannot.

An error has a code, a message and often `recovery`: the one call, with its arguments, that is the best next step.
"""
