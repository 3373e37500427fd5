"""The version of this distribution; a test holds it equal to pyproject.toml."""

__version__ = "0.1.0"
