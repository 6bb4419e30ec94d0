"""Rings along the dimensions of a torus, one dimension after the other.

This is the schedule of clusters with a torus before breadth-first broadcast. It takes twice as many
steps, and it leaves links idle if the lengths of the torus differ.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, sections 5.3 and 6.2, where it is called the traditional torus schedule.
"""

from __future__ import annotations

from frontend.collectives.algorithms.ring_schedules import RingSchedules
from topology_gen.expansions import torus_rings

ALGORITHM = RingSchedules(
    "torus_rings", torus_rings.all_gather, torus_rings.reduce_scatter, torus_rings.check_torus
).algorithm("rings along the dimensions of a torus, one dimension after the other")
