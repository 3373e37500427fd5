"""The report of `moss connect CLIENT` in sentences."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def connect_text(report: dict[str, Any], *, width: int) -> str:
    """Return the change of one client in sentences; empty for a list of clients, which is a table."""
    if "client" not in report:
        return ""
    from moss_memory.cli.render.cell import printable, wrap_text
    from moss_memory.connect.clients import CLIENTS

    name = CLIENTS[report["client"]].name
    sentences = [_entry(report, name)]
    if report.get("backup"):
        sentences.append(f"A copy of the file as it was: {report['backup']}.")
    if "hooks" in report:
        sentences.append(_hooks(report["hooks"]))
    if report.get("next"):
        sentences.append(f"Next: {report['next']}.")
    return "\n".join(line for sentence in sentences for line in wrap_text(printable(sentence), width))


def _entry(report: dict[str, Any], name: str) -> str:
    connected = report["connected"] != "no"
    how = " over HTTP" if report["connected"] == "http" else ""
    if not report["changed"]:
        return f"{name} is {'' if connected else 'not '}connected{how}; {report['file']} did not change."
    return f"{'Connected' if connected else 'Disconnected'} {name}{how}, in {report['file']}."


def _hooks(hooks: dict[str, Any]) -> str:
    subject = f"Hooks ({', '.join(hooks['events'])})" if hooks["events"] else "No hooks of Moss"
    return f"{subject} {'are now' if hooks['changed'] else 'are'} in {hooks['file']}."
