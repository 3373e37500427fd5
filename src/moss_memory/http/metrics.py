"""Counters of this process in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.version import __version__

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels, float]

KIND = b"text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REASONS = {401: "token", 403: "origin", 404: "not_found", 408: "body", 413: "body", 421: "host", 429: "rate"}


class Metrics:
    """The calls and refusals of a process; any thread may count."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: dict[tuple[str, str], int] = {}
        self._times: dict[str, list[float]] = {}
        self._refused: dict[str, int] = dict.fromkeys((*dict.fromkeys(_REASONS.values()), "read_only", "other"), 0)

    def observe(self, tool: str, outcome: str, took_s: float) -> None:
        """Count a call of a tool with its outcome, `ok` or an error code, and its time."""
        with self._lock:
            self._calls[tool, outcome] = self._calls.get((tool, outcome), 0) + 1
            times = self._times.setdefault(tool, [0.0] * (len(BUCKETS_S) + 2))
            for index, bound in enumerate(BUCKETS_S):
                times[index] += took_s <= bound
            times[-2] += 1
            times[-1] += took_s
            if outcome == "READ_ONLY":
                self._refused["read_only"] += 1

    def refuse(self, status: int) -> None:
        with self._lock:
            self._refused[_REASONS.get(status, "other")] += 1

    def text(self, gauges: Iterable[tuple[str, str, float]]) -> str:
        """Return all counters, and gauges given as name, meaning and value."""
        with self._lock:
            calls, refused = dict(self._calls), dict(self._refused)
            times = {tool: list(counts) for tool, counts in self._times.items()}
        lines = _family("moss_calls", "counter", "Tool calls by tool and outcome (ok, or an error code).", [
            ("moss_calls_total", (("tool", tool), ("outcome", outcome)), count)
            for (tool, outcome), count in sorted(calls.items())
        ])  # fmt: skip
        lines += _family("moss_call_seconds", "histogram", "The time of tool calls.", _histogram(times))
        lines += _family("moss_refused", "counter", "Refused requests and calls by reason.", [
            ("moss_refused_total", (("reason", reason),), count) for reason, count in sorted(refused.items())
        ])  # fmt: skip
        for name, meaning, value in gauges:
            lines += _family(name, "gauge", meaning, [(name, (), value)])
        lines += _family("moss_schema_version", "gauge", "The version of the schema.", [
            ("moss_schema_version", (), SCHEMA_VERSION)
        ])  # fmt: skip
        lines += _family("moss_build_info", "gauge", "The version of Moss.", [
            ("moss_build_info", (("version", __version__),), 1)
        ])  # fmt: skip
        return "\n".join(lines) + "\n"


def _histogram(times: dict[str, list[float]]) -> list[Sample]:
    samples: list[Sample] = []
    for tool, counts in sorted(times.items()):
        tool_label = (("tool", tool),)
        for bound, count in zip(BUCKETS_S, counts, strict=False):
            samples.append(("moss_call_seconds_bucket", (*tool_label, ("le", f"{bound:g}")), count))
        samples.append(("moss_call_seconds_bucket", (*tool_label, ("le", "+Inf")), counts[-2]))
        samples.append(("moss_call_seconds_count", tool_label, counts[-2]))
        samples.append(("moss_call_seconds_sum", tool_label, counts[-1]))
    return samples


def _family(name: str, kind: str, meaning: str, samples: Iterable[Sample]) -> list[str]:
    # A counter's name has the suffix of its samples in this format.
    family = f"{name}_total" if kind == "counter" else name
    lines = [f"# HELP {family} {meaning}", f"# TYPE {family} {kind}"]
    for sample, labels, value in samples:
        label_list = ",".join([f'{label}="{text}"' for label, text in labels])
        lines.append(f"{sample}{{{label_list}}} {value:g}" if label_list else f"{sample} {value:.17g}")
    return lines


METRICS = Metrics()
