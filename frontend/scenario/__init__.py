"""The model of the whole scenario, including all registered topologies and workloads.

`python -m frontend.scenario` writes the JSON Schema.
"""

from frontend.scenario.model import Scenario, Topology
from frontend.scenario.work import Workload

__all__ = ["Scenario", "Topology", "Workload"]
