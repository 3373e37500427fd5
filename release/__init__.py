"""Tools for a release: the bundle for desktop clients, and the check of commit subjects."""
