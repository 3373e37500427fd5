"""Recall of search by words, by meaning and by both, for each test set."""

from __future__ import annotations

from moss_memory import open_store
from moss_memory.search.embedding.embedder import is_installed
from moss_memory.store import Store

from .measure import BenchmarkRow, cached
from .retrieval.sets import TestSet, all_sets

MODES = {"keyword": "words", "semantic": "meaning", "both": "both"}
HITS = 100


class Recall:
    """The shares of questions with an answer among the first five and ten hits, and the mean reciprocal rank."""

    def __init__(self, ranks: list[int | None]) -> None:
        count = len(ranks)
        self.five = sum(rank is not None and rank <= 5 for rank in ranks) / count
        self.ten = sum(rank is not None and rank <= 10 for rank in ranks) / count
        self.reciprocal = sum(1 / rank for rank in ranks if rank is not None) / count

    def __str__(self) -> str:
        return f"{self.five:.3f} {self.ten:.3f} {self.reciprocal:.3f}"


def measure_recall(store: Store, test_set: TestSet, mode: str) -> Recall:
    """Search for all questions of a set; its texts must be in the store."""
    ranks: list[int | None] = []
    for question, answers in test_set.questions:
        query = {"query": question, "search_mode": mode, "limit": HITS}
        titles = [hit["title"] for hit in store.call("capsule_search", query)["items"]]
        ranks.append(next((rank for rank, title in enumerate(titles, start=1) if title in answers), None))
    return Recall(ranks)


def store_texts(home: str, test_set: TestSet) -> None:
    """Store the texts of a set as capsules and embed them."""
    with open_store(home) as store:
        for title, text in test_set.texts.items():
            capsule = {"title": title, "capsule_text": text, "allow_thin": True, "allow_secrets": True}
            store.call("capsule_store", capsule)
        store.index()


def run() -> list[BenchmarkRow]:
    """Compare the better of words and meaning with both, for the set with the worst ratio."""
    if not is_installed():
        return [
            BenchmarkRow(
                "questions answered among the first five hits", None, 1, note="search by meaning is not installed"
            )
        ]
    recalls = {test_set.name: _by_mode(test_set) for test_set in all_sets()}

    def ratio(by: dict[str, Recall]) -> float:
        return max(by["words"].five, by["meaning"].five) / max(by["both"].five, 1e-9)

    name, worst = max(recalls.items(), key=lambda item: ratio(item[1]))
    note = ", ".join(f"{label} {recall}" for label, recall in worst.items())
    title = "questions answered among the first five hits, the better of words and meaning : both"
    return [BenchmarkRow(title, ratio(worst), 1, note=f"worst is “{name}”, R@5 R@10 MRR: {note}")]


def _by_mode(test_set: TestSet) -> dict[str, Recall]:
    import hashlib

    texts = hashlib.sha256(repr(sorted(test_set.texts.items())).encode()).hexdigest()[:12]
    home = cached(f"recall-{texts}", lambda folder: store_texts(folder, test_set))
    with open_store(home) as store:
        store.index()  # embeds the texts again if the model has changed
        return {label: measure_recall(store, test_set, mode) for mode, label in MODES.items()}
