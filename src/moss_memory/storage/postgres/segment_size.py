"""The size of a segment of the index."""

from __future__ import annotations

SEGMENT = 4096
"""The number of documents in a segment; fewer if their postings take `SEGMENT_BYTES`."""
SEGMENT_BYTES = 4 << 20
