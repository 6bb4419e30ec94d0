"""Expansions: larger digraphs, and schedules for them, from smaller ones.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 5 and appendices A.6 and D.
"""

from topology_gen.expansion.bidirectional import bidirectional, bidirectional_schedule
from topology_gen.expansion.cartesian import cartesian_power, cartesian_product, power_schedule
from topology_gen.expansion.degree import degree_expansion, degree_schedule
from topology_gen.expansion.line_graph import line_graph, line_schedule

__all__ = [
    "bidirectional",
    "bidirectional_schedule",
    "cartesian_power",
    "cartesian_product",
    "degree_expansion",
    "degree_schedule",
    "line_graph",
    "line_schedule",
    "power_schedule",
]
