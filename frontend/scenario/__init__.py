"""The whole scenario: its parts, and of each kind of thing what is registered.

`python -m frontend.scenario` writes the JSON Schema.
"""

from frontend.scenario.model import Scenario
from frontend.scenario.unions import Topology, Workload

__all__ = ["Scenario", "Topology", "Workload"]
