"""The pages: what is stored, read and changed in a browser."""
