"""The result of a run: its fields, and how to read and write it."""
