"""Searches for Cayley digraphs that are better than the named families."""
