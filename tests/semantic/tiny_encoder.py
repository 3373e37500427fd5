"""A sentence encoder of a few hundred bytes: hand-written ONNX and its tokenizer.

It returns a fixed vector for each word, which a test chooses.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FLOAT, INT64 = 1, 7
WORDS = ("[UNK]", "[CLS]", "[SEP]")


def _number(value: int) -> bytes:
    """Encode an integer as a Protocol Buffers varint."""
    written = b""
    while value > 127:
        written += bytes([value & 127 | 128])
        value >>= 7
    return written + bytes([value])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    content = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | 2) + _number(len(content)) + content


def _tensor_type(kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = b"".join(_field(1, _field(2, size) if isinstance(size, str) else _field(1, size)) for size in shape)
    return _field(1, _field(1, kind) + _field(2, sizes))


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    return _field(1, name) + _field(2, _tensor_type(kind, shape))


def onnx(table: list[list[float]], *, inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> bytes:
    """Return a model that maps each token to its row of the table."""
    flat = [number for row in table for number in row]
    weights = (
        _field(1, len(table)) + _field(1, len(table[0])) + _field(2, FLOAT) + _field(8, "table")
        + _field(9, struct.pack(f"<{len(flat)}f", *flat))
    )  # fmt: skip
    node = _field(1, "table") + _field(1, "input_ids") + _field(2, "last_hidden_state") + _field(4, "Gather")
    graph = _field(1, node) + _field(2, "tiny") + _field(5, weights)
    graph += b"".join(_field(11, _value(name, INT64, ("batch", "pieces"))) for name in inputs)
    graph += _field(12, _value("last_hidden_state", FLOAT, ("batch", "pieces", len(table[0]))))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))


def tokenizer(words: Sequence[str]) -> dict[str, Any]:
    """Return a tokenizer of lower-case words, with a token before and after every text."""
    special = [
        {"id": at, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for at, word in enumerate(WORDS)
    ]  # fmt: skip
    around = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
              {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]  # fmt: skip
    return {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": around,
            "pair": [*around, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {
                word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: at for at, word in enumerate((*WORDS, *words))},
            "unk_token": "[UNK]",
        },
    }


def write_model(
    folder: Path, vectors: dict[str, list[float]], *, pooling: str = "mean_tokens", told_width: int | None = None
) -> Path:
    """Write a model with these words to a folder, in the layout of sentence-transformers."""
    width = len(next(iter(vectors.values())))
    table = [[0.01 * (at + 1)] * width for at in range(len(WORDS))] + list(vectors.values())
    (folder / "onnx").mkdir(parents=True)
    (folder / "1_Pooling").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(onnx(table))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(list(vectors))))
    told = {"word_embedding_dimension": told_width or width, f"pooling_mode_{pooling}": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(told))
    return folder
