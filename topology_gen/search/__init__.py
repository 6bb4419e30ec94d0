"""A search for Cayley digraphs that are better than the families with a name."""
