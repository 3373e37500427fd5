"""What it costs to move in: a folder of notes adopted, beside the bare inserts of the same texts."""

from __future__ import annotations

import itertools
import os
from time import perf_counter_ns

from moss_memory import open_store

from .in_process import bare_database, bare_store
from .measure import Line, compared_us, scratch_folder
from .texts import Author

NOTES, FOLDERS, NOTE_CHARS = 10_000, 20, 2_000


def lines(notes: int = NOTES) -> list[Line]:
    """One line: every note a transaction on both sides, indexed, folder by folder in turn."""
    author = Author(seed=16)
    each = notes // FOLDERS
    ours = theirs = 0
    with scratch_folder() as folder, open_store(os.path.join(folder, "moss")) as store:
        connection = bare_database(os.path.join(folder, "bare.db"))
        written = [author.prose(NOTE_CHARS) for _ in range(notes)]
        insert = bare_store(connection, itertools.cycle(written))
        for number in range(FOLDERS):
            texts = written[number * each : (number + 1) * each]
            place = _written(os.path.join(folder, f"notes-{number}"), number, texts)
            start = perf_counter_ns()
            report = store.adopt("markdown", place, workspace="shop")
            between = perf_counter_ns()
            for _ in texts:
                insert()
            theirs += perf_counter_ns() - between
            ours += between - start
            assert report["taken"] == {"capsules": each}, report
        connection.close()
    shown = compared_us(ours / 1000, theirs / 1000)
    return [Line(f"adopting {notes:,} notes : bare inserts with index", ours / theirs, 2, note=shown)]


def _written(place: str, number: int, texts: list[str]) -> str:
    os.mkdir(place)
    for note, text in enumerate(texts):
        with open(os.path.join(place, f"note-{number}-{note}.md"), "w", encoding="utf-8") as file:
            file.write(f"---\ntitle: Note {note} of {number}\ntags: [bench]\n---\n{text}\n")
    return place


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
