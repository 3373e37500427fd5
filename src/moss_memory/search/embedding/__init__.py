"""The model that turns text into vectors: `embedder` loads it, `encoder` runs it on the `chunks` of a text."""
