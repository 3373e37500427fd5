"""The answer of a write as one sentence for a terminal, such as `Saved shop/auth, version 2.`"""

from __future__ import annotations

from moss_memory.rows.names import pluralize

from .cell import format_time, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.cli_traits import Sentence

    Answer = dict[str, Any]

NOTABLE = ("findings", "similar_workspace", "copies", "skipped", "meta_keys", "warning", "ids", "conflicts")
"""Fields that a terminal shows below the sentence."""
_TITLE_CHARS = 60


def sentence_of(sentence: Sentence, answer: Answer, arguments: dict[str, Any]) -> str:
    """Return the sentence that confirms a write, empty if there is none for this answer."""
    template = sentence if isinstance(sentence, str) else sentence(answer, arguments)
    nested = [answer[name] for name in ("entry", "branch") if isinstance(answer.get(name), dict)]
    fields = {**answer, **{name: value for part in nested for name, value in part.items()}}
    return "" if template is None else template.format_map(_Words(fields, arguments))


class _Words(dict):  # type: ignore[type-arg]  # subscripting costs an import at start-up
    """The words of a template: fields of the answer, else arguments, else names computed from both."""

    def __init__(self, answer: Answer, arguments: dict[str, Any]) -> None:
        super().__init__()
        self._answer = answer
        self._arguments = arguments

    def __missing__(self, word: str) -> str:
        computed = getattr(self, f"_{word}", None)
        if computed is not None:
            return str(computed())
        value = self._answer.get(word, self._arguments.get(word, ""))
        return line_of(str(value))

    def _it(self) -> str:
        key = self._answer.get("fetch_key") or {}
        fields = {**self._arguments, **{name: value for name, value in self._answer.items() if value}}
        for prefix in ("moss_capsule", "moss_artifact"):
            if prefix in key:
                return line_of(f"{key['moss_workspace']}/{key[prefix]}")
        if "name" in fields:
            return line_of(f"{fields['workspace']}/{fields['name']}" if "workspace" in fields else str(fields["name"]))
        return line_of(str(fields.get("id", "")))

    def _task(self) -> str:
        title = self._answer.get("title")
        if isinstance(title, str) and len(title) > _TITLE_CHARS:
            title = title[: _TITLE_CHARS - 1].rstrip() + "\u2026"
        return line_of(f"{self._answer['id']} ({title})" if title else str(self._answer["id"]))

    def _step(self) -> str:
        step = self._answer.get("step")
        return f"step {step['path']} of " if step else ""

    def _steps(self) -> str:
        return pluralize(len(self._answer.get("steps", ())), "step")

    def _section(self) -> str:
        return line_of(self._answer["section_hit"].lstrip("#"))

    def _status(self) -> str:
        return line_of(str(self._arguments.get("status", "DONE")))

    def _lease(self) -> str:
        return format_time(self._answer["lease_until_ms"] // 1000)

    def _commit(self) -> str:
        return str(self._answer["saved_in"]["commit"][:10])

    def _expires(self) -> str:
        return format_time(self._answer["expires_at"])

    def _graph_changes(self) -> str:
        parts = []
        for name, count in self._answer["applied"].items():
            subject, _, verb = name.partition("_")
            if count:
                parts.append(f"{pluralize(count, subject[:-1])} {'written' if verb == 'upserted' else verb}")
        return ", ".join(parts) or "nothing changed"
