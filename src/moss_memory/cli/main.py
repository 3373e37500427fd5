"""The `moss` command: finds the command, runs it and exits with its code."""

from __future__ import annotations

import os
import sys

from moss_memory.cli.args.built_in_commands import BUILT_IN
from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import STDIN, Unwritable, is_terminal, print_error, say, secure_descriptors, show
from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
COMPLETE = "__complete"
"""The command of the completion scripts."""


def main() -> NoReturn:
    """Run the command line of this process and exit without the interpreter's teardown.

    Everything is closed at this point. Teardown costs milliseconds, and in a server with idle threads and drivers it
    may exceed the time limit for stopping.
    """
    # numpy's threads have little to do in vector search, take time to start and spin on a busy machine.
    # A program that uses Moss as a library keeps its own setting.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED  # Ctrl-C a second time, while the first is reported
    os._exit(code)  # no buffer to flush: output.py writes to the descriptors


def run(words: list[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 refused, 2 usage error, 130 interrupted."""
    if sys.platform == "win32":
        say("moss runs on Linux and macOS; on Windows use it inside WSL (https://aka.ms/wsl)")
        return FAILED
    try:
        return _dispatch(words)
    except UsageError as mistake:
        say(f"moss: {mistake.message}")
        say(f"see: moss {mistake.command} --help" if mistake.command else "see: moss --help")
        return MISUSED
    except MossError as error:
        if error.code == "INTERNAL" and error.__cause__ is not None:
            _report_bug(error.__cause__)
            return FAILED
        if "pip install" in error.message:
            from moss_memory.cli.render.install_hint import with_working_install

            error.message = with_working_install(error.message)
        print_error(error)
        return INTERRUPTED if error.code == "CANCELLED" else FAILED
    except BrokenPipeError:
        return DONE  # the reader closed the pipe
    except Unwritable as problem:
        say(f"moss: the answer could not be written: {problem}")
        return FAILED
    except KeyboardInterrupt:
        say("[CANCELLED] interrupted; nothing was changed")
        return INTERRUPTED
    except Exception as bug:
        _report_bug(bug)
        return FAILED


def _dispatch(words: list[str]) -> int:
    if words[:1] == [COMPLETE]:
        from moss_memory.cli.commands.complete import complete

        secure_descriptors()
        return complete(words[1:])
    _refuse_bytes(words)
    home, verbose, words = _leading_options(words)
    if verbose or "MOSS_LOG" in os.environ:
        from moss_memory.log import configure

        configure(verbose=verbose)
    if not words:
        return _run_without_command(home)
    first = words[0]
    if first == "mcp" and len(words) == 1:
        return _serve(home)
    if first in ("--version", "-V", "version"):
        from moss_memory.version import __version__

        show(f"moss {__version__}")
        return DONE
    secure_descriptors()
    if first in ("--help", "-h"):
        words = ["help"]
    for count in (2, 1):
        built_in = BUILT_IN.get(" ".join(words[:count]))
        if built_in is not None:
            from moss_memory.cli.commands.run_command import run_built_in

            return run_built_in(built_in, words[count:], home)
    from moss_memory.cli.commands.tool import run_tool

    return run_tool(words, home)


def _refuse_bytes(words: list[str]) -> None:
    """Refuse words that are not valid UTF-8; Python decodes such bytes to lone surrogates."""
    for number, word in enumerate(words, start=1):
        if not word.isascii():
            try:
                word.encode()
            except UnicodeEncodeError:
                escaped = word.encode("ascii", "backslashreplace").decode()[:80]
                raise UsageError(f"word {number} of the command line is not valid UTF-8: {escaped}") from None


def _leading_options(words: list[str]) -> tuple[str | None, bool, list[str]]:
    """Return the value of a leading `--home DIR`, whether there is a leading `--verbose`, and the remaining words."""
    home, verbose = None, False
    while words:
        first, has_value, value = words[0].partition("=")
        if words[0] == "--verbose":
            verbose, words = True, words[1:]
        elif first == "--home" and home is None:
            words = words[1:]
            home, words = (value, words) if has_value else (words[0], words[1:]) if words else ("", words)
            if not home:
                raise UsageError("--home needs the name of a folder")
        else:
            break
    return home, verbose, words


def _run_without_command(home: str | None) -> int:
    if not is_terminal(STDIN):
        return _serve(home)
    from moss_memory.cli.commands.help import help_overview

    show(help_overview())
    return DONE


def _serve(home: str | None) -> int:
    from moss_memory.cli.commands.serve import serve_client

    return serve_client(home)


def _report_bug(bug: BaseException) -> None:
    """Report an unexpected exception; print its traceback only if MOSS_DEBUG is set."""
    if os.environ.get("MOSS_DEBUG"):
        import traceback

        say("".join(traceback.format_exception(bug)).rstrip())
        say("[INTERNAL] an unexpected error in Moss; the details are above")
    else:
        say(
            "[INTERNAL] an unexpected error in Moss; nothing was logged, "
            "run the command again with MOSS_DEBUG=1 to see the details on stderr"
        )


if __name__ == "__main__":
    main()
