"""Tests of Moss with external clients, which are too large to install for every test run."""
