"""One binary tree, through which all data goes up to the root and down again.

Each edge of the tree carries the D bytes once up and once down, so a member sends at most 3·D, and
the depth is ceil(log2(N)) + 1 at most. The tree is the second one of `dbt`. A double binary tree
divides the data and takes half the time for large sizes; ASTRA-sim sends each chunk through one of
the two trees, as a whole (`segments: 1`).

Source: ASTRA-sim, "doubleBinaryTree".
"""

from __future__ import annotations

from typing import Any

from frontend.collectives.algorithms.double_binary_tree import over_trees
from frontend.collectives.binary_trees import double_tree
from frontend.collectives.program.program import Program
from frontend.collectives.program.repetition import Repetition
from frontend.collectives.program.segments import segments_of
from frontend.collectives.registry import Algorithm, always_works
from frontend.collectives.setting import Setting


def all_reduce(
    group_size: int, *, segments: int = 1, dimension: str = "scale_out"
) -> Program | Repetition:
    """Return the program that reduces to the root and broadcasts, pipelined in `segments`."""
    _, tree = double_tree(group_size)
    return over_trees("binary_tree", [tree], segments=segments, dimension=dimension)


def _choose(setting: Setting) -> dict[str, Any]:
    given = setting.given.segments
    segments = segments_of(given, setting.chunks, setting.chunk_bytes, trees=1)
    return {"dimension": setting.dimension, "segments": segments}


ALGORITHM = Algorithm(
    "binary_tree",
    "one binary tree, pipelined in segments",
    {"all_reduce": all_reduce},
    choose=_choose,
    check=always_works,
)
