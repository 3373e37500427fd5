"""Workspaces as a whole: which there are, and one of them renamed or removed with all that is in it."""
