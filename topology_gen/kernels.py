"""Imports the compiled module, in one place, so that one message explains why it is missing."""

from __future__ import annotations

try:
    from topology_gen._kernels import (
        Bfb,
        add_loads,
        balance_uneven,
        distances,
        hashed_paths,
        heaviest_matching,
        last_writers,
        layers,
        numbered_paths,
        pack_trees,
        participants,
        remove_switches,
        replay,
        rule_distances,
        shallow_trees,
        share_chunks,
        step_lines,
        sum_distances,
        tightest_cut,
        tree_loads,
        walk_loads,
    )
except ModuleNotFoundError as error:
    if error.name != "topology_gen._kernels":
        raise
    raise ModuleNotFoundError(
        "the compiled module topology_gen._kernels is missing: did you forget to build? "
        "(`make setup`)",
        name=error.name,
    ) from None

__all__ = [
    "Bfb",
    "add_loads",
    "balance_uneven",
    "distances",
    "hashed_paths",
    "heaviest_matching",
    "last_writers",
    "layers",
    "numbered_paths",
    "pack_trees",
    "participants",
    "remove_switches",
    "replay",
    "rule_distances",
    "shallow_trees",
    "share_chunks",
    "step_lines",
    "sum_distances",
    "tightest_cut",
    "tree_loads",
    "walk_loads",
]
