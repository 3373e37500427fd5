"""`moss tour`: a demonstration of the commands on a temporary store."""

from __future__ import annotations

import os
import shlex

from moss_memory.cli.args.command import find_command
from moss_memory.cli.render.cell import wrap_text
from moss_memory.cli.render.message_lines import wrap_message
from moss_memory.cli.render.output import show, width
from moss_memory.cli.render.recovery_line import recovery_line
from moss_memory.cli.render.table import table_of
from moss_memory.config import load_config, resolve_home
from moss_memory.connect.moss_command import moss_for_people, stdio_connect_commands
from moss_memory.errors import MossError
from moss_memory.store import Store

from .tool import perform, sentence_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.cli.args.command import Command, CommandRequest


def _capsule(**sections: str) -> str:
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

_WHAT = (
    "Moss is a memory for AI coding agents, on this machine only. One session saves its results and decisions; another "
    "loads them weeks later, by name or by a question, even with another agent."
)
_ABOUT = "This tour takes a minute. It uses a temporary store; your own store is not touched."
_WIDE = 80
_INDENT = "   "


def _own_home() -> str:
    """Return the folder of the user's own store, with `~` if possible."""
    home = resolve_home()
    folder = os.path.realpath(os.path.expanduser("~"))
    return "~" + home[len(folder) :] if home.startswith(folder + os.sep) else home


def tour(_: str | None) -> int:
    """Run the tour step by step; fail if a step does not have the described effect."""
    import tempfile

    show(f"{_wrapped(_WHAT)}\n\n{_wrapped(_ABOUT)}")
    with tempfile.TemporaryDirectory(prefix="moss-tour-") as home:
        _run_steps(home)
    text = f"Connect your agent. All agents share the store in {_own_home()}; --remove disconnects one again:"
    show(f"\n{_wrapped(text)}\n")
    moss = moss_for_people()
    for client, line in stdio_connect_commands():
        show(f"  {client + ':':<16}{line}")
    if moss != "moss":
        text = (
            f"`moss` is not on your PATH; this one is {moss}. In the checkout, `pipx install '.[all]'` puts it there."
        )
        show("\n" + _wrapped(text))
    show("\n" + _wrapped(f"Next: `{moss} --help` lists every command, `{moss} doctor` checks your own store."))
    return 0


def _wrapped(text: str) -> str:
    return "\n".join(wrap_text(text, width() or _WIDE))


def _run_steps(home: str) -> None:
    # Ignore the settings of the current folder.
    with Store(load_config(home, cwd=home).replace(workspace=""), actor="cli") as store:
        guide = Guide(store)
        _store_and_repair(guide)
        _read(guide)
        _combine(guide)


def _store_and_repair(guide: Guide) -> None:
    guide.step("A capsule is a hand-over note with six sections. Moss refuses one that is too thin:")
    refusal = guide.refused("save auth", file="thin.md", text=_THIN)
    guide.expect(refusal.code == "CAPSULE_TOO_THIN", "the thin capsule was refused")
    guide.step("With the missing sections added, Moss saves it:")
    stored = guide.run("save auth --tags auth,tokens", file="auth.md", text=_AUTH)
    guide.expect(stored["fetch_key"]["moss_capsule"] == "auth", "the capsule has its name")


def _read(guide: Guide) -> None:
    guide.step("Another session, agent or program loads it by its name:")
    fetched = guide.run("load auth")
    guide.expect(fetched["capsule_text"] == _AUTH, "the capsule came back as it was")
    guide.step("If you forgot the name, ask a question:")
    result = guide.run('search "where do refresh tokens live"')
    guide.expect(len(result["items"]) == 1, "the search found the capsule")


def _combine(guide: Guide) -> None:
    guide.step("Add progress to one section; it replaces the placeholder TBD:")
    appended = guide.run('append auth --section "Next actions" --content "- end the session at logout"')
    guide.expect(appended["replaced"] is True, "the placeholder was replaced")
    guide.step("Save a second capsule, then show the next actions of both:")
    guide.run("save database", file="database.md", text=_DATABASE)
    bundle = guide.run('compose auth database --sections "Next actions"')
    text = bundle["bundle_text"]
    guide.expect("end the session" in text and "add an index" in text, "the bundle holds both")


class Guide:
    """Runs commands in the temporary store and prints their output."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._steps = 0

    def step(self, says: str) -> None:
        self._steps += 1
        show("\n" + "\n".join(wrap_text(f"{self._steps}. {says}", width() or _WIDE, indent=len(_INDENT))))

    def run(self, line: str, *, file: str = "", text: str | None = None) -> dict[str, Any]:
        """Run a command line and print its response."""
        self._show_command(line, file)
        command, request, answer = self._perform(line, text)
        columns = (width() or _WIDE) - len(_INDENT)
        sentence = sentence_for(command, request, answer)
        self._show(sentence or table_of(answer, command.operation.answers, width=columns, reading=True))
        return answer

    def _show_command(self, line: str, file: str) -> None:
        """Print a command as it is typed, on a second line from its last option on if it is too long."""
        typed = f"{_INDENT}$ moss {line}" + (f" < {file}" if file else "")
        if len(typed) > (width() or _WIDE):
            head, option, value = typed.rpartition(" --")
            typed = f"{head} \\\n{_INDENT}   {option}{value}"
        show(typed)

    def _show(self, text: str) -> None:
        columns = (width() or _WIDE) - len(_INDENT)
        show("\n".join(f"{_INDENT}{part}".rstrip() for part in wrap_message(text, columns).splitlines()))

    def refused(self, line: str, *, file: str, text: str) -> MossError:
        """Run a command line that must be refused, and print the error."""
        self._show_command(line, file)
        try:
            self._perform(line, text)
        except MossError as error:
            self._show(str(error))
            if error.recovery:
                self._show(recovery_line(error.recovery))
            return error
        raise _failure(f"`moss {line}` was not refused")

    def expect(self, held: bool, what: str) -> None:
        """Stop the tour if a statement of it is false."""
        if not held:
            raise _failure(f"not true that {what}")

    def _perform(self, line: str, text: str | None) -> tuple[Command, CommandRequest, dict[str, Any]]:
        match = find_command(shlex.split(line))
        if match is None:
            raise _failure(f"there is no command `moss {line}`")
        command, words = match
        request = command.parse(words)
        if text is not None and command.text:
            request.arguments[command.text] = text
        return command, request, perform(self._store, command, request)


def _failure(reason: str) -> MossError:
    return MossError("INTERNAL", f"a step of the tour failed: {reason}")
