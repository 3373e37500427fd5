"""`python -m moss_memory` is `moss`."""

from __future__ import annotations

from runpy import run_module

run_module("moss_memory.cli.main", run_name="__main__", alter_sys=True)
