"""Collective algorithms as programs: per member, send, receive, reduce and copy steps.

To add an algorithm, write a module with an ``ALGORITHM`` and add it to the list below.
"""

from . import (
    bfb,
    direct,
    double_binary_tree,
    halving_doubling,
    hierarchical,
    multi_ring,
    ring,
    superposed_rings,
)
from .check import Traffic, check, problems, traffic
from .composition import Piece, compose
from .errors import CollectiveError, Problem, ScheduleError
from .program import Op, Program, ProgramBuilder
from .registry import OPERATIONS, Algorithm, algorithms, build, describe, options, register

for _algorithm in (
    ring.ALGORITHM,
    direct.ALGORITHM,
    double_binary_tree.ALGORITHM,
    halving_doubling.ALGORITHM,
    hierarchical.ALGORITHM,
    hierarchical.OPTIMAL,
    bfb.ALGORITHM,
    superposed_rings.ALGORITHM,
    multi_ring.ALGORITHM,
):
    register(_algorithm)

__all__ = [
    "OPERATIONS",
    "Algorithm",
    "CollectiveError",
    "Op",
    "Piece",
    "Problem",
    "Program",
    "ProgramBuilder",
    "ScheduleError",
    "Traffic",
    "algorithms",
    "build",
    "check",
    "compose",
    "describe",
    "options",
    "problems",
    "register",
    "traffic",
]
