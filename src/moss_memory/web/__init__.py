"""The pages: stored data in a browser, read and changed."""
