"""An ONNX encoder: what turns texts into vectors whose nearness is nearness in meaning."""

from __future__ import annotations

import os

from .passages import MOST_PASSAGES, PASSAGE_PIECES, passages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]
    PiecesOf = Callable[[str, int], tuple[list[int], list[int]]]
    """The numbers of the first so many pieces of a text, and where the word of each begins."""

    class Embedder(Protocol):
        """What knows the meaning of texts; the same text always gets the same vectors."""

        name: str
        """Stored with each vector; vectors of another name are never compared with these."""
        dimensions: int
        floor: float
        """The least nearness at which a text may be meant by a question."""

        def question(self, text: str) -> Vectors:
            """The vector of a question, of length 1."""

        def passages(self, title: str, text: str) -> tuple[list[int], Vectors]:
            """Where each passage of a text begins, and its vector of length 1, one a row; the first has the title."""


class Encoder:
    """A model in an ONNX file, run by onnxruntime on one thread."""

    def __init__(
        self,
        path: str,
        *,
        name: str,
        dimensions: int,
        floor: float,
        pieces_of: PiecesOf,
        around: tuple[Sequence[int], Sequence[int]],
    ) -> None:
        import numpy as np

        self.name = name
        self.dimensions = dimensions
        self.floor = floor
        self._numpy = np
        self._pieces_of = pieces_of
        self._around = around
        """The pieces that come before and after those of every text."""
        self._session = session(path)

    def question(self, text: str) -> Vectors:
        """The vector of a question, of length 1."""
        return self._vector(self._pieces_of(text, PASSAGE_PIECES)[0])

    def passages(self, title: str, text: str) -> tuple[list[int], Vectors]:
        """Where each passage of a text begins, and its vector of length 1, one a row; the first has the title."""
        whole = f"{title}\n{text}" if title and text else title or text
        numbers, starts = self._pieces_of(whole, PASSAGE_PIECES * MOST_PASSAGES)
        cuts = passages(whole, starts)
        # One passage a run: a quantized model scales its inputs by the batch, so neighbours would change a vector.
        vectors = [self._vector(numbers[first:end]) for first, end in cuts]
        shift = len(whole) - len(text)
        return [max(0, starts[first] - shift) if starts else 0 for first, _ in cuts], self._numpy.stack(vectors)

    def _vector(self, pieces: Sequence[int]) -> Vectors:
        numbers = self._numpy.array([[*self._around[0], *pieces, *self._around[1]]], dtype=self._numpy.int64)
        inputs = {
            "input_ids": numbers,
            "attention_mask": self._numpy.ones_like(numbers),
            "token_type_ids": self._numpy.zeros_like(numbers),
        }
        vector: Vectors = self._session.run(None, inputs)[0][0].mean(axis=0)
        vector /= self._numpy.linalg.norm(vector)
        return vector


def session(path: str) -> Any:
    """The model in a file, ready to run."""
    # From 1.29 on the runtime reports to its maker and keeps an identifier of the machine, unless it is told not to
    # before it is imported. Nothing of Moss calls home; versions between have known either name.
    os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["ORT_TELEMETRY_DISABLED"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread: on two busy cores a second one made every text two to four times slower, for it spins while it waits.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # else the longest text of a server's life is paid for to its end
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
