"""How much each way of searching finds of what is asked, set by set."""

from __future__ import annotations

from moss_memory import open_store
from moss_memory.search.embedding.embedder import is_installed
from moss_memory.store import Store

from .measure import Line, cached
from .retrieval.sets import TestSet, all_sets

MODES = {"keyword": "words", "semantic": "meaning", "both": "both"}
LOOKED_AT = 100


class Found:
    """How early the answers of a set come: among the first five, the first ten, and the mean of 1 / place."""

    def __init__(self, places: list[int | None]) -> None:
        count = len(places)
        self.five = sum(place is not None and place <= 5 for place in places) / count
        self.ten = sum(place is not None and place <= 10 for place in places) / count
        self.reciprocal = sum(1 / place for place in places if place is not None) / count

    def __str__(self) -> str:
        return f"{self.five:.3f} {self.ten:.3f} {self.reciprocal:.3f}"


def found(store: Store, asked: TestSet, mode: str) -> Found:
    """What one mode finds of a set whose texts the store holds."""
    places: list[int | None] = []
    for question, answers in asked.questions:
        query = {"query": question, "search_mode": mode, "limit": LOOKED_AT}
        titles = [hit["title"] for hit in store.call("capsule_search", query)["items"]]
        places.append(next((place for place, title in enumerate(titles, start=1) if title in answers), None))
    return Found(places)


def shelve(home: str, asked: TestSet) -> None:
    """Stores the texts of a set as capsules and prepares them for search by meaning."""
    with open_store(home) as store:
        for title, text in asked.texts.items():
            capsule = {"title": title, "capsule_text": text, "allow_thin": True, "allow_secrets": True}
            store.call("capsule_store", capsule)
        store.index()


def lines() -> list[Line]:
    """That both finds at least as much as words and as meaning: the worst set."""
    if not is_installed():
        return [Line("what searches find", None, None, note="search by meaning is not installed")]
    found_by = {asked.name: _by_mode(asked) for asked in all_sets()}

    def ratio(by: dict[str, Found]) -> float:
        return max(by["words"].five, by["meaning"].five) / max(by["both"].five, 1e-9)

    name, worst = max(found_by.items(), key=lambda one: ratio(one[1]))
    note = ", ".join(f"{shown} {one}" for shown, one in worst.items())
    what = "questions answered among the first five hits, the better of words and meaning : both"
    return [Line(what, ratio(worst), 1, note=f"worst is “{name}”, R@5 R@10 MRR: {note}")]


def _by_mode(asked: TestSet) -> dict[str, Found]:
    import hashlib

    texts = hashlib.sha256(repr(sorted(asked.texts.items())).encode()).hexdigest()[:12]
    home = cached(f"found-{texts}", lambda folder: shelve(folder, asked))
    with open_store(home) as store:
        store.index()  # where the model is another one than the last time
        return {shown: found(store, asked, mode) for mode, shown in MODES.items()}


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
