"""The protocol's own conformance suite against `moss serve`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from clients.node import environment, installed, node
from support.http_server import HttpServer

PACKAGE, VERSION = "@modelcontextprotocol/conformance", "0.2.0-alpha.12"
SERVE = "import sys; from support.conformance_server import serve; sys.exit(serve())"

_TEXT_ONLY = "what Moss stores is text and JSON: no tool, prompt or resource answers with it"
_NO_LOGGING = "Moss sends no log messages to clients; its log is on stderr"
_NO_QUESTIONS = "Moss never asks a client for anything: no sampling, no elicitation, no roots"
NOT_OFFERED = {
    "tools-call-image": _TEXT_ONLY,
    "tools-call-audio": _TEXT_ONLY,
    "tools-call-embedded-resource": _TEXT_ONLY,
    "tools-call-mixed-content": _TEXT_ONLY,
    "resources-read-binary": _TEXT_ONLY,
    "prompts-get-with-image": _TEXT_ONLY,
    "logging-set-level": _NO_LOGGING,
    "tools-call-with-logging": _NO_LOGGING,
    "sep-2575-server-no-log-without-loglevel": _NO_LOGGING,
    "tools-call-sampling": _NO_QUESTIONS,
    "tools-call-elicitation": _NO_QUESTIONS,
    "elicitation-": _NO_QUESTIONS,
    "input-required-": _NO_QUESTIONS,
    "sep-2322-": _NO_QUESTIONS,
    "sep-2575-server-rejects-undeclared-capability": _NO_QUESTIONS,
    "sep-2575-missing-capability-http-400": _NO_QUESTIONS,
    "sep-2575-http-server-no-independent-requests-on-stream": _NO_QUESTIONS,
    "tasks-": "the extension `tasks` is about calls that outlive their connection; Moss has none",
    "http-custom-header-": "no tool of Moss asks for its arguments in headers",
    "json-schema-2020-12": "no tool of Moss needs `$defs` or the like in its schema",
}
"""Prefixes of scenarios and checks that fail because Moss does not offer a feature, with the reason."""


def run(revision: str, folder: Path) -> tuple[int, list[str]]:
    """Return the number of passed checks that a revision requires, and the failed ones without a reason above."""
    suite = installed(PACKAGE, VERSION) / "dist" / "index.js"
    results = folder / "results"
    with HttpServer(folder / "home", code=SERVE) as server:
        asked = ["server", "--url", f"{server.address}/mcp", "--requirements", revision, "-o", str(results)]
        subprocess.run([node(), str(suite), *asked], capture_output=True, env=environment(), cwd=folder, timeout=600)
    passed, failed = 0, []
    for file in sorted(results.glob("*/checks.json")):
        scenario = file.parent.name.removeprefix("server-").rpartition(f"-{_year(file)}")[0]
        for check in json.loads(file.read_text(encoding="utf-8")):
            passed += check["status"] == "SUCCESS"
            if check["status"] == "FAILURE" and not _is_not_offered(scenario, check["id"]):
                failed.append(f"{scenario}: {check['id']}: {check.get('errorMessage', '')[:200]}")
    return passed, failed if passed else ["the suite did not run"]


def _year(file: Path) -> str:
    """Return the year in the time that ends a folder's name."""
    return file.parent.name.rpartition("T")[0][-10:-6]


def _is_not_offered(scenario: str, check: str) -> bool:
    """Return whether a check fails for a known reason; the checks of message forms must always pass."""
    return check != "wire-schema-valid" and any(
        one.startswith(known) for one in (scenario, check) for known in NOT_OFFERED
    )
