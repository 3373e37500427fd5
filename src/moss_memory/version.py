"""The version of this distribution; a test holds it equal to pyproject.toml."""

VERSION = "0.1.0"
