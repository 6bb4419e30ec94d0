"""The result of a run: its fields, and reading and writing it."""
