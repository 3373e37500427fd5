"""The clients of others against Moss: too large to install for every test run."""
