"""Superposed rings: every ring of a direct-connect topology carries an equal part of the data.

TopoOpt's shifted rings are used in this way, each in both directions: with degree 4, four quarters
of the data circulate at the same time. All links are always in use, but an all-reduce takes 2(N-1)
steps.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 8.2, where it is called ShiftedRing.
"""

from __future__ import annotations

from frontend.collectives.algorithms.ring_schedules import RingSchedules
from topology_gen.schedules import rings

ALGORITHM = RingSchedules(
    "superposed_rings", rings.all_gather, rings.reduce_scatter, rings.ring_links
).algorithm("every ring of a direct-connect topology carries an equal part of the data")
