"""Long trials of what storage promises; `make soak` runs them all."""
