"""Collective schedules on digraphs: BFB, all-to-all, all-reduce, and their replay."""
