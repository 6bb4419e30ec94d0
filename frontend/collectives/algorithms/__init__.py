"""Collective algorithms, one a file: each offers operations as programs."""
