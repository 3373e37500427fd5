"""Texts and questions to measure recall. No search result influenced how they were written or chosen."""
