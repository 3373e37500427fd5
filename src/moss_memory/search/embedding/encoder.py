"""An ONNX encoder: what turns texts into vectors whose nearness is nearness in meaning."""

from __future__ import annotations

import os
from _thread import allocate_lock

from moss_memory.errors import MossError

from .chunks import CHUNK_TOKENS, MAX_CHUNKS, passages

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
        """The cosine at which a text may be meant by a question: what is `FLOOR` on the one scale of all models."""

        def question(self, text: str) -> Vectors:
            """The vector of a question, of length 1."""

        def passages(self, title: str, text: str) -> tuple[list[int], Vectors]:
            """Where each passage of a text begins, and its vector of length 1, one a row; the first has the title."""


FLOOR = 0.2
"""What may be meant by a question is as near as this at least. With the model of the extra no answer among the first
five of the test set lies below, and 0.25 would lose nine of 125; nine in ten of the texts that have nothing to do with
a question do."""

_REASON_CHARS = 300


class Encoder:
    """A model in an ONNX file, run by onnxruntime on one thread."""

    def __init__(
        self,
        path: str,
        *,
        name: str,
        dimensions: int = 0,
        floor: float = 0.0,
        pieces_of: PiecesOf,
        around: tuple[Sequence[int], Sequence[int]],
        pooling: str = "mean",
        before_question: str = "",
        before_text: str = "",
        fused: bool = True,
        quick: bool = False,
    ) -> None:
        import functools

        import numpy as np

        self.name = name
        self.floor = floor
        self._numpy = np
        self._pieces_of = pieces_of
        self._around = around
        """The pieces that come before and after those of every text."""
        self._pooling = pooling
        self._before_question = before_question
        self._before_text = pieces_of(before_text, CHUNK_TOKENS)[0] if before_text else []
        self._session = session(path, fused=fused, folded=not quick)
        self._for_good = functools.partial(session, path, fused=fused) if quick else None
        """How to load it for all that comes after one question. Many processes ask one, and to make ready what a model
        needs for the next takes longer than to run it as it is. Questions mean the same to a cosine of 0.9999999."""
        self._settling = allocate_lock()
        self._asking = allocate_lock()
        self._first: tuple[str, Vectors] | None = None
        """The first question. Asked again its vector would differ in the seventh digit, which can be enough to change
        the order of two documents, and so the next page."""
        self._inputs = [(one.name, np.int32 if "int32" in one.type else np.int64) for one in self._session.get_inputs()]
        if unknown := [one for one, _ in self._inputs if one not in _INPUTS]:
            raise ValueError(f"the encoder takes {', '.join(unknown)[:200]}; known are {', '.join(_INPUTS)}")
        self._output = _output(self._session)
        self.dimensions = dimensions or len(self.question("a"))

    def question(self, text: str) -> Vectors:
        """The vector of a question, of length 1."""
        with self._asking:
            if self._first is None:
                self._first = text, self._asked(text)
        if text == self._first[0]:
            return self._first[1]
        self._settle()
        return self._asked(text)

    def _asked(self, text: str) -> Vectors:
        return self._vector(self._pieces_of(self._before_question + text, CHUNK_TOKENS)[0])

    def passages(self, title: str, text: str) -> tuple[list[int], Vectors]:
        """Where each passage of a text begins, and its vector of length 1, one a row; the first has the title."""
        self._settle()
        whole = f"{title}\n{text}" if title and text else title or text
        numbers, starts = self._pieces_of(whole, CHUNK_TOKENS * MAX_CHUNKS)
        cuts = passages(whole, starts)
        # One passage a run: a quantized model scales its inputs by the batch, so neighbours would change a vector.
        vectors = [self._vector([*self._before_text, *numbers[first:end]]) for first, end in cuts]
        shift = len(whole) - len(text)
        return [max(0, starts[first] - shift) if starts else 0 for first, _ in cuts], self._numpy.stack(vectors)

    def _settle(self) -> None:
        """Loads the model for good, if it is not."""
        with self._settling:
            if self._for_good is not None:
                try:
                    self._session = self._for_good()
                except Exception as error:  # the file may be gone by now
                    raise unusable(f"the model {self.name} cannot be loaded ({str(error)[:_REASON_CHARS]})") from error
                self._for_good = None

    def _vector(self, pieces: Sequence[int]) -> Vectors:
        np = self._numpy
        numbers = np.array([[*self._around[0], *pieces, *self._around[1]] or [0]], dtype=np.int64)
        inputs = {name: _INPUTS[name](np, numbers).astype(kind) for name, kind in self._inputs}
        try:
            given = self._session.run([self._output], inputs)[0][0]
        except Exception as error:  # its own are many, and a model may be anything
            raise unusable(f"the model {self.name} failed ({str(error)[:_REASON_CHARS]})") from error
        vector: Vectors = (_POOLED[self._pooling](given) if given.ndim == 2 else given).astype(np.float32)
        length = np.linalg.norm(vector)
        if vector.ndim != 1 or not 0 < length < np.inf:
            raise unusable(f"the model {self.name} gives no vector for a text")
        vector /= length
        return vector


_INPUTS: dict[str, Callable[[Any, Any], Any]] = {
    "input_ids": lambda np, numbers: numbers,
    "attention_mask": lambda np, numbers: np.ones_like(numbers),
    "token_type_ids": lambda np, numbers: np.zeros_like(numbers),
    "position_ids": lambda np, numbers: np.arange(numbers.shape[1])[None],
}
"""What encoders take, made of the numbers of the pieces."""

_POOLED: dict[str, Callable[[Any], Any]] = {
    "mean": lambda pieces: pieces.mean(axis=0),
    "first": lambda pieces: pieces[0],
    "last": lambda pieces: pieces[-1],
    "max": lambda pieces: pieces.max(axis=0),
}
"""How the vectors of the pieces become one."""


def unusable(problem: str) -> MossError:
    """The refusal of a search by meaning for which there is no model, with what to do."""
    return MossError("SEMANTIC_UNAVAILABLE", f'{problem}; search with `search_mode: "keyword"`, or see `moss doctor`')


def _output(session: Any) -> str:
    """The output with one vector for all pieces where there is one, else with one for each."""
    names: list[str] = [one.name for one in session.get_outputs()]
    return "sentence_embedding" if "sentence_embedding" in names else names[0]


def session(path: str, *, fused: bool = True, folded: bool = True) -> Any:
    """The model in a file, ready to run.

    Fusing its parts takes a while, and is of use to some models. So does folding what never changes, such as weights
    that are kept in fewer bits than they are used in.
    """
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
    if not folded:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    elif not fused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
