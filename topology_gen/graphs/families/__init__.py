"""Families of digraphs, one a file; `topology_gen.graphs` has their functions."""
