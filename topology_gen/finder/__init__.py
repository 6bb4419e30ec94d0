"""Finds the best topologies and schedules for a number of nodes and a degree."""

from topology_gen.finder.costs import Candidate, Choice, Fabric, chosen
from topology_gen.finder.pool import Pool, frontier

__all__ = ["Candidate", "Choice", "Fabric", "Pool", "chosen", "frontier"]
