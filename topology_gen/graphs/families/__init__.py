"""Families of digraphs, one in each file; `topology_gen.graphs` exports their functions."""
