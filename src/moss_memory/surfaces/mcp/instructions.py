"""What a client tells its model about Moss before the first call."""

from __future__ import annotations

INSTRUCTIONS = """\
Moss is the local memory of this machine: what one session distills, any later session or agent can load.

A capsule is a short hand-over (state, not story; at most about 12,000 characters) with six Markdown \
sections: Objective, Current status, Decisions / constraints, Next actions, Key locations, Open questions / \
risks.

When to use it:
- Starting or resuming work: capsule_latest with include_text, or capsule_fetch by name. If no name is \
known: capsule_search with a plain question, or capsule_inventory.
- Stopping, handing over, or after a decision that must not be lost: capsule_store with a stable name \
(mode "replace" refreshes it), or capsule_append to add to one section.
- Several agents: give run_id, phase and role when storing; gather with capsule_fetch_many or capsule_compose.

Nothing is saved or loaded by itself. Workspaces separate projects; without one, "default" is used. Lists \
and searches never carry full texts: fetch what you need. capsule_delete can be undone (capsule_restore), \
capsule_purge cannot.

An error has a code, a message and often `recovery`: the one call, with its arguments, that is the best \
next step. CAPSULE_TOO_THIN names the missing sections in details.missing.
"""
