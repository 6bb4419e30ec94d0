"""Collective algorithms as programs: send, receive, reduce and copy steps for each member.

To add an algorithm, write a module with an entry and add it to the list below, or name the entry in
the entry points `cosim.collectives` of your own package (docs/extending.md).
"""

from frontend.collectives.algorithms import (
    auto,
    bfb,
    direct,
    dissemination,
    double_binary_tree,
    halving_doubling,
    hierarchical,
    multi_ring,
    ring,
    ring_schedules,
    trees,
)
from frontend.collectives.program.composition import Piece, compose
from frontend.collectives.program.errors import CollectiveError, Problem, ScheduleError
from frontend.collectives.program.program import Op, Program, ProgramBuilder
from frontend.collectives.registry import (
    ALGORITHMS,
    OPERATIONS,
    Algorithm,
    algorithm_names,
    build,
    options,
)
from frontend.collectives.verify.check import Traffic, check, problems, traffic

OWN = (
    ring.ALGORITHM,
    direct.ALGORITHM,
    double_binary_tree.ALGORITHM,
    halving_doubling.ALGORITHM,
    hierarchical.ALGORITHM,
    hierarchical.OPTIMAL,
    bfb.ALGORITHM,
    ring_schedules.SUPERPOSED,
    ring_schedules.TORUS,
    multi_ring.ALGORITHM,
    ring.RELAY,
    trees.ALGORITHM,
    double_binary_tree.BINARY_TREE,
    dissemination.ALGORITHM,
    auto.ALGORITHM,
)
"""The algorithms of this package. Tests verify their programs; those of others are verified before
they run."""

for _algorithm in OWN:
    ALGORITHMS.register(_algorithm)

__all__ = [
    "ALGORITHMS",
    "OPERATIONS",
    "OWN",
    "Algorithm",
    "CollectiveError",
    "Op",
    "Piece",
    "Problem",
    "Program",
    "ProgramBuilder",
    "ScheduleError",
    "Traffic",
    "algorithm_names",
    "build",
    "check",
    "compose",
    "options",
    "problems",
    "traffic",
]
