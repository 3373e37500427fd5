"""Run an ONNX sentence encoder, which turns texts into vectors; similar texts have similar vectors."""

from __future__ import annotations

import os
from _thread import allocate_lock

from moss_memory.errors import MossError

from .chunks import CHUNK_TOKENS, MAX_CHUNKS, chunk_spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]
    PiecesOf = Callable[[str, int], tuple[list[int], list[int]]]
    """Returns the ids of the first N tokens of a text, and the offset of each token's word."""

    class Embedder(Protocol):
        """An embedding model; equal texts have equal vectors."""

        name: str
        """Stored with each vector; only vectors of one name are compared."""
        dimensions: int
        floor: float
        """The least cosine of a hit: scaled to `FLOOR`, which is the same for all models."""

        def question(self, text: str) -> Vectors:
            """Return the vector of a question, of length 1."""

        def encode_chunks(self, title: str, text: str) -> tuple[list[int], Vectors]:
            """Return the offset of each chunk, and the vectors of length 1 as rows; the first includes the title."""


FLOOR = 0.2
"""The least similarity of a hit. In the test set, with the model of the extra, every answer among the first five is
above it, and nine of ten unrelated texts are below. 0.25 would lose nine of 125 answers."""

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
        special_tokens: tuple[Sequence[int], Sequence[int]],
        pooling: str = "mean",
        query_prefix: str = "",
        text_prefix: str = "",
        fused: bool = True,
        defer_optimization: bool = False,
    ) -> None:
        import functools

        import numpy as np

        self.name = name
        self.floor = floor
        self._numpy = np
        self._pieces_of = pieces_of
        self._special_tokens = special_tokens
        """The tokens before and after those of every text."""
        self._pooling = pooling
        self._query_prefix = query_prefix
        self._text_prefix = pieces_of(text_prefix, CHUNK_TOKENS)[0] if text_prefix else []
        self._session = load_session(path, fused=fused, folded=not defer_optimization)
        self._load_optimized = functools.partial(load_session, path, fused=fused) if defer_optimization else None
        """Loads the optimized model after the first question. Many processes ask only one, and optimizing takes longer
        than one run without it. The vectors are equal up to a cosine of 0.9999999."""
        self._optimize_lock = allocate_lock()
        self._first_lock = allocate_lock()
        self._first: tuple[str, Vectors] | None = None
        """The first question and its vector. The optimized model would change the seventh digit, which can change the
        order of two documents, and so the next page."""
        self._inputs = [(arg.name, np.int32 if "int32" in arg.type else np.int64) for arg in self._session.get_inputs()]
        if unknown := [input_name for input_name, _ in self._inputs if input_name not in _INPUTS]:
            raise ValueError(f"the encoder takes {', '.join(unknown)[:200]}; known are {', '.join(_INPUTS)}")
        outputs: list[str] = [output.name for output in self._session.get_outputs()]
        self._output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
        """The output with one vector for the text if there is one, else with one for each token."""
        self.dimensions = dimensions or len(self.question("a"))

    def question(self, text: str) -> Vectors:
        """Return the vector of a question, of length 1."""
        with self._first_lock:
            if self._first is None:
                self._first = text, self._embed_question(text)
        if text == self._first[0]:
            return self._first[1]
        self._optimize()
        return self._embed_question(text)

    def _embed_question(self, text: str) -> Vectors:
        return self._vector(self._pieces_of(self._query_prefix + text, CHUNK_TOKENS)[0])

    def encode_chunks(self, title: str, text: str) -> tuple[list[int], Vectors]:
        """Return the offset of each chunk, and the vectors of length 1 as rows; the first includes the title."""
        self._optimize()
        whole = f"{title}\n{text}" if title and text else title or text
        numbers, starts = self._pieces_of(whole, CHUNK_TOKENS * MAX_CHUNKS)
        cuts = chunk_spans(whole, starts)
        # One chunk per run: a quantized model scales its inputs by batch, so a vector would depend on the others.
        vectors = [self._vector([*self._text_prefix, *numbers[first:end]]) for first, end in cuts]
        shift = len(whole) - len(text)
        return [max(0, starts[first] - shift) if starts else 0 for first, _ in cuts], self._numpy.stack(vectors)

    def _optimize(self) -> None:
        """Load the optimized model if it is not loaded yet."""
        with self._optimize_lock:
            if self._load_optimized is not None:
                try:
                    self._session = self._load_optimized()
                except Exception as error:  # the file may have been deleted
                    reason = str(error)[:_REASON_CHARS]
                    raise unusable_error(f"the model {self.name} cannot be loaded ({reason})") from error
                self._load_optimized = None

    def _vector(self, pieces: Sequence[int]) -> Vectors:
        np = self._numpy
        numbers = np.array([[*self._special_tokens[0], *pieces, *self._special_tokens[1]] or [0]], dtype=np.int64)
        inputs = {name: _INPUTS[name](np, numbers).astype(kind) for name, kind in self._inputs}
        try:
            output = self._session.run([self._output], inputs)[0][0]
        except Exception as error:  # the runtime has many error types, and a model may be anything
            raise unusable_error(f"the model {self.name} failed ({str(error)[:_REASON_CHARS]})") from error
        vector: Vectors = (_POOLINGS[self._pooling](output) if output.ndim == 2 else output).astype(np.float32)
        length = np.linalg.norm(vector)
        if vector.ndim != 1 or not 0 < length < np.inf:
            raise unusable_error(f"the model {self.name} gives no vector for a text")
        vector /= length
        return vector


_INPUTS: dict[str, Callable[[Any, Any], Any]] = {
    "input_ids": lambda np, numbers: numbers,
    "attention_mask": lambda np, numbers: np.ones_like(numbers),
    "token_type_ids": lambda np, numbers: np.zeros_like(numbers),
    "position_ids": lambda np, numbers: np.arange(numbers.shape[1])[None],
}
"""The inputs of encoders, computed from the token ids."""

_POOLINGS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda pieces: pieces.mean(axis=0),
    "first": lambda pieces: pieces[0],
    "last": lambda pieces: pieces[-1],
    "max": lambda pieces: pieces.max(axis=0),
}
"""The functions that reduce the vectors of tokens to one."""


def unusable_error(problem: str) -> MossError:
    """Return the error of a search by vectors without a usable model."""
    return MossError("SEMANTIC_UNAVAILABLE", f'{problem}; search with `search_mode: "keyword"`, or see `moss doctor`')


def load_session(path: str, *, fused: bool = True, folded: bool = True) -> Any:
    """Load a model from a file.

    Fusing of operators and folding of constants, such as quantized weights, make loading slower and some models faster.
    """
    # From 1.29 on the runtime sends telemetry and stores an identifier of the machine, unless this is set before it is
    # imported. The name of the variable differs between versions.
    os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["ORT_TELEMETRY_DISABLED"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread: on two busy cores a second one, which spins while idle, made every text two to four times slower.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # else a server never frees the memory of its longest text
    options.log_severity_level = 3
    if not folded:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    elif not fused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
