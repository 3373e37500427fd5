"""Texts and questions to measure what a search finds with. None was written, or chosen, by what a search found."""
