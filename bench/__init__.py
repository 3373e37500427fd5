"""Benchmarks: almost every line is a ratio of two times, measured in turn in one run."""
