"""`moss edit`: opens a capsule in the user's editor and stores the result."""

from __future__ import annotations

import os
import shlex

from moss_memory.cli.render.output import say
from moss_memory.errors import MossError
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def edit(
    home: str | None, *, allow_thin: bool = False, allow_secrets: bool = False, **address: str
) -> dict[str, Any] | int:
    """Open a capsule's text in `$VISUAL` or `$EDITOR`; refuse to overwrite a concurrent change."""
    import shutil
    import tempfile

    with Store(load_settings(home), actor="cli") as store:
        capsule = store.call("capsule_fetch", dict(address))
        folder = tempfile.mkdtemp(prefix="moss-")  # mode 0700
        path = os.path.join(folder, "capsule.md")
        try:
            text = _run_editor(path, capsule["capsule_text"])
            if text == capsule["capsule_text"]:
                say("moss: nothing was changed")
                shutil.rmtree(folder)
                return 0
            change = {"id": capsule["id"], "capsule_text": text, "expected_version": capsule["version"]}
            allowed = {"allow_thin": allow_thin, "allow_secrets": allow_secrets}
            stored = store.call("capsule_update", {**change, **allowed})
        except MossError as error:
            error.add_note(f"your text is saved in {path}")
            raise
    shutil.rmtree(folder)
    return stored


def _run_editor(path: str, text: str) -> str:
    """Return the text after the editor has ended."""
    import subprocess

    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text.encode())
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        code = subprocess.call([*shlex.split(editor), path])
    except (OSError, ValueError) as error:
        raise MossError("INVALID_REQUEST", f"the editor {editor!r} cannot be run ({error}); set EDITOR") from None
    if code:
        raise MossError("INVALID_REQUEST", f"the editor ended with {code}; the capsule is unchanged")
    from moss_memory.cli.args.stdin import read_text

    return read_text(path)
