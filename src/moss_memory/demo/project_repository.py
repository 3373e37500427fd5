"""The git repository of the demonstration's project: two commits, so that some capsules name files that changed since.

Git is not needed to write it, only to compare its commits.
"""

from __future__ import annotations

import hashlib
import os
import zlib

from moss_memory.code_state.work_tree import code_state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.code_state.work_tree import CodeState

REPOSITORY = "atlas"
_FILES = {
    ".ci/plan.py": "MACHINES = 4\n",
    "README.md": "# Atlas\n",
    "admin/api/refunds.py": "def refund(line): ...\n",
    "admin/permissions.py": "SECOND_SIGNATURE_ABOVE = 500\n",
    "admin/refund_form.tsx": "export function RefundForm() {}\n",
    "archive/checksums.sql": "create table checksums (file text primary key, sha256 text);\n",
    "archive/copy.py": "def copy(invoice): ...\n",
    "auth/sessions.py": "LIFETIME_DAYS = 30\n",
    "deploy/roll.py": "CANARY_SHARE = 0.05\n",
    "flags/registry.toml": "[old_totals]\n",
    "install/install.sh": "set -eu\n",
    "install/test_install.py": "def test_it_installs(): ...\n",
    "ledger/refunds.py": "def book(refund): ...\n",
    "migrations/0042_sessions.sql": "create table sessions (id text primary key);\n",
    "money/rounding.py": "def share(amount, parts): ...\n",
    "payments/client.py": "TIMEOUT_S = 5\n",
    "platform/scan.py": "HIDDEN = ('card', 'mail')\n",
    "scans/header.py": "KINDS = 7\n",
    "tests/test_refund_retry.py": "def test_a_retry_has_the_same_key(): ...\n",
    "tests/test_shares.py": "def test_shares_add_up(): ...\n",
    "webhooks/inbox.py": "def keep(event): ...\n",
}
_REMOVED = ("archive/copy.py", "scans/header.py")
_PRESENT = {path: text for path, text in _FILES.items() if path not in _REMOVED} | {
    "admin/refund_form.tsx": "export function RefundForm({ left }) {}\n",
    "payments/client.py": "TIMEOUT_S = 30\n",
    "platform/scan.py": "HIDDEN = ('card', 'mail', 'phone')\n",
}
_AUTHOR = "Atlas <atlas@example.com> 1760000000 +0000"


def make_repository(folder: str) -> list[CodeState]:
    """Make the repository in a new folder; return its state at each of its two commits."""
    git = os.path.join(folder, ".git")
    for part in ("objects", "refs/heads"):
        os.makedirs(os.path.join(git, part), mode=0o700)
    _write(os.path.join(git, "HEAD"), b"ref: refs/heads/main\n")
    _write(os.path.join(git, "config"), b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    states, parent = [], ""
    for message, files in (("Begin", _FILES), ("Wait longer for the provider", _PRESENT)):
        tree = _tree(git, files)
        header = f"parent {parent}\n" if parent else ""
        parent = _object(git, "commit", f"tree {tree}\n{header}author {_AUTHOR}\ncommitter {_AUTHOR}\n\n{message}\n")
        _write(os.path.join(git, "refs/heads/main"), f"{parent}\n".encode())
        state = code_state_of(folder)
        if state is not None:
            states.append(state)
    for path, text in _PRESENT.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), mode=0o700, exist_ok=True)
        _write(os.path.join(folder, path), text.encode())
    return states


def _tree(git: str, files: dict[str, str]) -> str:
    folders: dict[str, dict[str, str]] = {}
    entries: list[tuple[str, str, str]] = []
    for path, text in files.items():
        entry_name, _, inner_path = path.partition("/")
        if inner_path:
            folders.setdefault(entry_name, {})[inner_path] = text
        else:
            entries.append((entry_name, "100644", _object(git, "blob", text)))
    entries += [(name, "40000", _tree(git, inside)) for name, inside in folders.items()]
    entries.sort(key=lambda entry: entry[0] + "/" * (entry[1] == "40000"))
    return _object(
        git, "tree", b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(key) for name, mode, key in entries)
    )


def _object(git: str, kind: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    stored = f"{kind} {len(data)}\0".encode() + data
    key = hashlib.sha1(stored, usedforsecurity=False).hexdigest()
    path = os.path.join(git, "objects", key[:2], key[2:])
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _write(path, zlib.compress(stored))
    return key


def _write(path: str, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
