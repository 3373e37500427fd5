"""The forms that capsules and artifacts share: restore and revert."""

from __future__ import annotations

from starlette.responses import Response

from .page_context import PageContext, PageRequest, parse_number


def restore_row(family: str, context: PageContext, request: PageRequest) -> Response:
    key = request.path_parameters["id"]
    context.call(f"{family}_restore", id=key)
    return context.redirect(f"/{family}s/{key}", notice="restored")


def revert_row(family: str, context: PageContext, request: PageRequest) -> Response:
    key = request.path_parameters["id"]
    expected = parse_number(request.form.get("expected")) or None
    version = parse_number(request.form.get("version")) or 0
    context.call("moss_revert", type=family, id=key, version=version, expected_version=expected)
    return context.redirect(f"/{family}s/{key}", notice="reverted")
