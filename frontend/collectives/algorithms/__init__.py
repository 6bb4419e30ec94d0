"""Collective algorithms, one per file. Each one builds programs for some operations."""
