"""`moss tour`: a demonstration of the commands on a temporary store."""

from __future__ import annotations

import os
import shlex

from moss_memory.cli.args.command import find_command
from moss_memory.cli.render.output import show, width
from moss_memory.cli.render.recovery_line import recovery_line
from moss_memory.cli.render.table import table_of
from moss_memory.config import load_config, resolve_home
from moss_memory.connect.moss_command import connecting_lines, moss_for_people
from moss_memory.errors import MossError
from moss_memory.store import Store

from .tool import perform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.cli.args.command import Command


def _capsule(**sections: str) -> str:
    """Return a capsule with these sections."""
    return "\n".join(f"## {name.replace('_', ' ')}\n{text}\n" for name, text in sections.items())


_THIN = _capsule(Objective="Let people sign in with refresh tokens.", Next_actions="TBD")
_AUTH = _capsule(
    Objective="Let people sign in with refresh tokens.",
    Current_status="Login works, logout does not yet.",
    Decisions="Refresh tokens live in an http-only cookie, for 30 days.",
    Next_actions="TBD",
    Key_locations="src/auth/tokens.py, tests/test_tokens.py",
    Open_questions="Should a new device end the older sessions?",
)
_DATABASE = _capsule(
    Objective="Keep sessions in PostgreSQL.",
    Current_status="The table exists.",
    Decisions="One row per device, deleted at logout.",
    Next_actions="- add an index on user_id",
    Key_locations="migrations/0042_sessions.sql",
    Open_questions="None.",
)

_WHAT = """\
Moss is a memory for AI coding agents, on this machine only. What one session found
out and decided, the next one loads: in another agent too, weeks later, by its name or
by a question.

This is a minute with it, on a store that is thrown away afterwards; yours is not touched."""

_WIDE = 100


def _own_home() -> str:
    """Return the folder of the user's own store, with `~` if possible."""
    home = resolve_home()
    folder = os.path.realpath(os.path.expanduser("~"))
    return "~" + home[len(folder) :] if home.startswith(folder + os.sep) else home


def tour(_: str | None) -> int:
    """Run the tour step by step; fail if a step does not have the described effect."""
    import tempfile

    show(_WHAT)
    with tempfile.TemporaryDirectory(prefix="moss-tour-") as home:
        _run_steps(home)
    show(f"\nConnect your agent; all of them share the one store in {_own_home()}, and --remove undoes it:")
    show("")
    moss = moss_for_people()
    for client, line in connecting_lines():
        show(f"  {client + ':':<16}{line}")
    if moss != "moss":
        show(f"\n`moss` is not on your PATH; this one is {moss}. `pipx install '.[all]'` puts it there.")
    show(f"\nNext: `{moss} --help` lists every command, `{moss} doctor` checks your own store.")
    return 0


def _run_steps(home: str) -> None:
    # Ignore the settings of the current folder.
    with Store(load_config(home, cwd=home).replace(workspace="")) as store:
        guide = Guide(store)
        _store_and_repair(guide)
        _read(guide)
        _combine(guide)


def _store_and_repair(guide: Guide) -> None:
    guide.step("A capsule is a hand-over note with six sections. Moss refuses one that is too thin:")
    refusal = guide.refused("store --name auth", file="thin.md", text=_THIN)
    guide.expect(refusal.code == "CAPSULE_TOO_THIN", "the thin capsule was refused")
    guide.step("The same note with the missing sections added is taken:")
    stored = guide.run("store --name auth --tags auth,tokens", file="auth.md", text=_AUTH)
    guide.expect(stored["fetch_key"]["moss_capsule"] == "auth", "the capsule has its name")


def _read(guide: Guide) -> None:
    guide.step("Another session, another agent or a program loads it by its name:")
    fetched = guide.run("fetch auth")
    guide.expect(fetched["capsule_text"] == _AUTH, "the capsule came back as it was")
    guide.step("Nobody remembers the name? Ask in plain words:")
    found = guide.run('search "where do refresh tokens live"')
    guide.expect(len(found["items"]) == 1, "the search found the capsule")


def _combine(guide: Guide) -> None:
    guide.step("Progress goes into one section; the placeholder TBD makes way for it:")
    appended = guide.run('append auth --section "Next actions" --content "- end the session at logout"')
    guide.expect(appended["replaced"] is True, "the placeholder was replaced")
    guide.step("A second capsule, and then the next actions of both in one bundle:")
    guide.run("store --name database", file="database.md", text=_DATABASE)
    bundle = guide.run('compose auth database --sections "Next actions"')
    text = bundle["bundle_text"]
    guide.expect("end the session" in text and "add an index" in text, "the bundle holds both")


class Guide:
    """Runs commands in the temporary store and prints their output."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._steps = 0

    def step(self, says: str) -> None:
        """Print the heading of the next step."""
        self._steps += 1
        show(f"\n{self._steps}. {says}\n")

    def run(self, line: str, *, file: str = "", text: str | None = None) -> dict[str, Any]:
        """Run a command line and print its response."""
        show(f"   $ moss {line}" + (f" < {file}" if file else ""))
        command, answer = self._perform(line, text)
        shown = table_of(answer, command.operation.answers, width=(width() or _WIDE) - 3, reading=True)
        show("\n".join(f"   {part}".rstrip() for part in shown.splitlines()))
        return answer

    def refused(self, line: str, *, file: str, text: str) -> MossError:
        """Run a command line that must be refused, and print the error."""
        show(f"   $ moss {line} < {file}")
        try:
            self._perform(line, text)
        except MossError as error:
            show(f"   {error}")
            if error.recovery:
                show("   " + recovery_line(error.recovery))
            return error
        raise _failure(f"`moss {line}` was not refused")

    def expect(self, held: bool, what: str) -> None:
        """Stop the tour if a statement of it is false."""
        if not held:
            raise _failure(f"not true that {what}")

    def _perform(self, line: str, text: str | None) -> tuple[Command, dict[str, Any]]:
        found = find_command(shlex.split(line))
        if found is None:
            raise _failure(f"there is no command `moss {line}`")
        command, words = found
        request = command.parse(words)
        if text is not None and command.text:
            request.arguments[command.text] = text
        return command, perform(self._store, command, request)


def _failure(what: str) -> MossError:
    return MossError("INTERNAL", f"the tour does not do what it says: {what}")
