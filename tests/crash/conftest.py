"""These tests use a store with the real clock."""

from __future__ import annotations

from support.real_store import home, store

__all__ = ["home", "store"]
