"""Importers and adapters of other packages, found by their entry points.

A package declares them in its pyproject.toml:

    [project.entry-points."moss_memory.importers"]
    my-notes = "my_package.notes:read"

An importer is a function that gets a path and yields `SourceFile` objects with items (`transfer/importers/items.py`).
An adapter is any object, usually the class that an agent framework uses.
"""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IMPORTERS = "moss_memory.importers"
ADAPTERS = "moss_memory.adapters"


def plugin_names(group: str) -> list[str]:
    """Return the names that installed packages declare in a group, sorted."""
    from importlib.metadata import entry_points  # slow, and needed only for an unknown name

    return sorted({point.name for point in entry_points(group=group)})


def load_plugin(group: str, name: str) -> Any:
    """Return the object that an installed package declares under a name, None if no package does."""
    from importlib.metadata import entry_points

    for point in entry_points(group=group, name=name):
        try:
            return point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.value
            raise MossError(
                "INVALID_REQUEST", f"{name!r} of the package {package} cannot be loaded ({type(error).__name__})"
            ) from error
    return None
