"""Argument types of task tools, and validation of texts."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated, Any, Literal
from moss_memory.tools.reasoning.reasoning_arguments import PageLimit, RequiredWorkspace, as_list
from moss_memory.tools.task.model.task_rows import CHECKPOINTS

Texts = Annotated[str | list[str], {}]
TaskKind = Annotated[Literal["plan", "task"], {}]
TaskId = Annotated[str, "e.g. TASK-001"]
TaskTitle = Annotated[str, "the work to do"]
Description = Annotated[str, "details; empty clears"]
Priority = Annotated[Literal["low", "normal", "high"], {}]
TaskStatus = Annotated[Literal["TODO", "ACTIVE", "DONE"], {}]
Revision = Annotated[int, "refuse if it is at another revision"]
Steps = Annotated[
    list[dict[str, Any]],
    {
        "items": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "success_criteria": Texts, "tests": Texts, "blockers": Texts},
            "required": ["title"],
            "additionalProperties": False,
        }
    },
]
StepId = Annotated[str, "STEP-001"]
StepPath = Annotated[str, "or s:0.s:2"]
ClosingAgent = Annotated[str, "the agent that closes it", {"unlisted": True}]
Checkpoints = Annotated[
    dict[str, Any],
    {"properties": {name: {"type": "boolean"} for name in CHECKPOINTS}, "additionalProperties": False},
    "true for checked ones; false takes back",
]
Contract = Annotated[dict[str, Any], "plans only; e.g. {goal, done_when}; {} clears"]

TITLE_MAX_CHARS = 1000
ITEMS_MAX = 200

__all__ = [
    "Checkpoints", "ClosingAgent", "Contract", "Description", "PageLimit", "Priority", "RequiredWorkspace",
    "Revision", "StepId", "StepPath", "Steps", "TaskId", "TaskKind", "TaskStatus", "TaskTitle", "Texts",
]  # fmt: skip


def normalize_title(raw: str, *, what: str = "title") -> str:
    """Return a trimmed title; refuse a blank or long one."""
    title = raw.strip()
    if not title:
        raise invalid_request(f"`{what}` is blank; say what is to be done", path=what)
    if len(title) > TITLE_MAX_CHARS:
        raise invalid_request(f"`{what}` has {len(title)} characters; at most {TITLE_MAX_CHARS} are allowed", path=what)
    return title


def check_texts(raw: str | list[str] | None, *, what: str) -> list[str]:
    """Return one text or several as a trimmed list; refuse blank ones."""
    texts = [text.strip() for text in as_list(raw)]
    if len(texts) > ITEMS_MAX:
        raise invalid_request(f"`{what}` has {len(texts)} entries; at most {ITEMS_MAX} are allowed", path=what)
    for index, text in enumerate(texts):
        if not text:
            raise invalid_request(f"`{what}[{index}]` is blank; leave it out", path=f"{what}[{index}]")
    return texts
