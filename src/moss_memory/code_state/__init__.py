"""The state of the code around a process: repository, branch and commit; and the freshness of text about files."""
