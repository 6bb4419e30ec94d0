"""Expansions: make larger digraphs, and schedules for them, from smaller ones.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 5 and appendices A.6 and D.
"""

from topology_gen.expansions.cartesian import (
    cartesian_power,
    cartesian_product,
    power_schedule,
    product_schedule,
)
from topology_gen.expansions.degree import degree_expansion, degree_schedule
from topology_gen.expansions.line_graphs import line_graph, line_schedule
from topology_gen.expansions.reversal import bidirectional, bidirectional_schedule

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
    "product_schedule",
]
