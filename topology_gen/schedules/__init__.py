"""Schedules of collectives on digraphs: BFB, all-to-all and all-reduce, and their replay."""
