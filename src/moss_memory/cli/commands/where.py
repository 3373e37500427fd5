"""`moss where`: the workspace that is used in the current folder, and the reason."""

from __future__ import annotations

from moss_memory.store import Store

from .command_request import DEFAULT_WORKSPACE, load_settings
from .current_workspace import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def where(home: str | None) -> dict[str, Any]:
    """Return the workspace that commands and agents use here, the reason, and the repository."""
    config = load_settings(home)
    with Store(config, actor="cli") as store:
        project = project_of(store)
    answer: dict[str, Any] = {"workspace": project.workspace or DEFAULT_WORKSPACE, "reason": project.reason}
    if project.here is not None:
        answer["repository"] = {**project.here.to_response(), "id": project.here.repository_id}
    if project.others:
        answer["written_from"] = project.others
    return answer


def where_text(answer: dict[str, Any], *, width: int) -> str:
    from moss_memory.cli.render.cell import printable, wrap_text

    repository = answer.get("repository")
    if repository is None:
        third = "Repository: none."
    else:
        branch = f", branch {repository['branch']}" if repository.get("branch") else ""
        third = f"Repository: {repository['repository']}{branch}."
    if answer.get("written_from"):
        names = ", ".join(answer["written_from"])
        third += (
            f" Until now this workspace was written from another repository: {names}. `moss init --workspace NAME` "
        )
        third += "gives this repository its own workspace."
    second = f"Why: {answer['reason']}."
    if answer["workspace"] != DEFAULT_WORKSPACE and not answer["reason"].endswith(" sets it"):
        second += " Capsules still go to `default` unless you name a workspace; `moss init` changes that."
    lines = [f"Workspace: {answer['workspace']}", second, third]
    return "\n".join(part for line in lines for part in wrap_text(printable(line), width, indent=2))
