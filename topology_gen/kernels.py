"""The compiled part, imported once and here only, so that its absence is explained in one place."""

from __future__ import annotations

try:
    from topology_gen._kernels import (
        Bfb,
        heaviest_matching,
        layers,
        replay,
        tree_loads,
        walk_loads,
    )
except ModuleNotFoundError as error:
    if error.name != "topology_gen._kernels":
        raise
    raise ModuleNotFoundError(
        "topology_gen._kernels, the compiled part, is not there: did you forget to build? "
        "(`make setup`)",
        name=error.name,
    ) from None

__all__ = ["Bfb", "heaviest_matching", "layers", "replay", "tree_loads", "walk_loads"]
