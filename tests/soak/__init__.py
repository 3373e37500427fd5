"""Long trials of the guarantees of the storage layer; `make soak` runs them all."""
