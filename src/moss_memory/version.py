"""The version of this distribution; a test holds it equal to pyproject.toml."""

__version__ = "0.2.0"
