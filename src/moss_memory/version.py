"""The version of this distribution; a test compares it with pyproject.toml."""

__version__ = "0.2.0"
