"""A process that may open no more files gets a typed error, and calls succeed again once it may."""

from __future__ import annotations

import json
from pathlib import Path

from support.python_process import run


def test_a_call_without_descriptors_is_refused_and_the_next_one_works(home: Path) -> None:
    run(
        """
import os, resource, sys
from support.store_truth import capsule, open_at, refusal

home = sys.argv[1]
with open_at(home) as first:
    first.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
store = open_at(home)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
used = max(int(name) for name in os.listdir("/proc/self/fd"))
for tool, arguments in (
    ("capsule_list", {}),
    ("capsule_store", {"capsule_text": capsule(), "name": "b"}),
    ("capsule_export", {}),
    ("capsule_import", {"path": "x.jsonl"}),
):
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    error = refusal(store.call, tool, arguments)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert error.code == "STORAGE_BUSY", (tool, error.code, error.message, error.__cause__)
    assert "descriptor" in error.message, (tool, error.message)
assert store.call("capsule_list", {})["pagination"]["total"] == 1
store.call("capsule_store", {"capsule_text": capsule(), "name": "b"})
assert store.call("capsule_list", {})["pagination"]["total"] == 2
""",
        home,
    )


def test_a_server_without_descriptors_answers_every_id_and_lives(home: Path) -> None:
    said = run(
        """
import json, os, resource, subprocess, sys
from support.store_truth import capsule, open_at

home = sys.argv[1]
with open_at(home) as store:
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
server = subprocess.Popen(
    [sys.executable, "-m", "moss_memory.cli.main", "mcp", "--home", home],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
)

def ask(number, method, **params):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\\n")
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    assert answer["id"] == number
    return answer

ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (3, hard))
calls = {"capsule_list": {}, "artifact_list": {}, "capsule_store": {"capsule_text": capsule()}, "capsule_export": {}}

def code_of(tool):
    told = ask(1, "tools/call", name=tool, arguments=calls[tool])["result"]
    return json.loads(told["content"][0]["text"]).get("error", {}).get("code", "")

codes = [code_of(tool) for tool in ("capsule_list", "artifact_list", "capsule_export")]
for most in range(3, 30):  # what fails is now this file, now that one
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (most, hard))
    codes += [code_of(tool) for tool in ("capsule_store", "capsule_list")]
resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (soft, hard))
told = ask(9, "tools/call", name="capsule_list", arguments={})["result"]
assert not told.get("isError"), told
server.stdin.close()
assert server.wait(60) == 0
print(json.dumps(codes))
""",
        home,
    )
    codes = json.loads(said)
    assert codes[:3] == ["STORAGE_BUSY"] * 3
    assert set(codes) == {"STORAGE_BUSY", ""}
