"""The state of the code around a process: repository, branch and commit; and whether text about files is still true."""
