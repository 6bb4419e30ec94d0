"""Collective algorithms as programs: send, receive, reduce and copy steps for each member.

To add an algorithm, write a module with an entry and add it to the list below, or name the entry in
the entry points `cosim.collectives` of your own package (docs/extending.md).
"""

from frontend.collectives.algorithms import (
    auto,
    direct,
    double_binary_tree,
    halving_doubling,
    hierarchical,
    in_network,
    link_schedules,
    nccl,
    ring,
)
from frontend.collectives.program.composition import Piece, compose
from frontend.collectives.program.program import (
    CollectiveError,
    Op,
    Problem,
    Program,
    ProgramBuilder,
    ScheduleError,
)
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
    ring.RING,
    direct.ALGORITHM,
    double_binary_tree.ALGORITHM,
    halving_doubling.HALVING_DOUBLING,
    hierarchical.ALGORITHM,
    hierarchical.OPTIMAL,
    link_schedules.BFB,
    link_schedules.SUPERPOSED,
    link_schedules.TORUS,
    ring.MULTI_RING,
    ring.RELAY,
    link_schedules.TREES,
    double_binary_tree.BINARY_TREE,
    halving_doubling.DISSEMINATION,
    in_network.NVLS,
    in_network.SHARP,
    auto.ALGORITHM,
    nccl.ALGORITHM,
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
