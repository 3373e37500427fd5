"""Argument types of task tools, and validation of texts."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.tools.reasoning.reasoning_arguments import PageLimit, RequiredWorkspace, as_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Kind = Literal["plan", "task"]
    TaskId = str
    TaskTitle = str
    Description = str
    Priority = Literal["low", "normal", "high"]
    TaskStatus = Literal["TODO", "ACTIVE", "DONE"]
    Revision = int
    Steps = list[dict[str, Any]]
    StepId = str
    StepPath = str
    ClosingAgent = str
    Texts = str | list[str]
    Checkpoints = dict[str, Any]
    Contract = dict[str, Any]
else:

    def _text(description):
        return {"type": "string", "description": description}

    Texts = {"type": ["string", "array"], "items": {"type": "string"}}
    Kind = {"type": "string", "enum": ["plan", "task"]}
    TaskId = _text("e.g. TASK-001")
    TaskTitle = _text("what is to be done")
    Description = _text("details; empty clears")
    Priority = {"type": "string", "enum": ["low", "normal", "high"]}
    TaskStatus = {"type": "string", "enum": ["TODO", "ACTIVE", "DONE"]}
    Revision = {"type": "integer", "description": "refuse if it is at another revision"}
    Steps = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "success_criteria": Texts,
                "tests": Texts,
                "blockers": Texts,
            },
            "required": ["title"],
            "additionalProperties": False,
        },
    }
    StepId = _text("STEP-001")
    StepPath = _text("or s:0.s:2")
    ClosingAgent = {"type": "string", "description": "who closes it", "unlisted": True}
    Checkpoints = {
        "type": "object",
        "properties": {
            "criteria": {"type": "boolean"},
            "tests": {"type": "boolean"},
            "security": {"type": "boolean"},
            "perf": {"type": "boolean"},
            "docs": {"type": "boolean"},
        },
        "additionalProperties": False,
        "description": "true for what you checked; false takes back",
    }
    Contract = {"type": "object", "description": "plans only; e.g. {goal, done_when}; {} clears"}

TITLE_MAX_CHARS = 1000
ITEMS_MAX = 200

__all__ = [
    "Checkpoints", "ClosingAgent", "Contract", "Description", "Kind", "PageLimit", "Priority",
    "RequiredWorkspace", "Revision", "StepId", "StepPath", "Steps", "TaskId", "TaskStatus", "TaskTitle", "Texts",
]  # fmt: skip


def check_title(raw: str, *, what: str = "title") -> str:
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
