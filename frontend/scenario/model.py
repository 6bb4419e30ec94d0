"""The model of the whole scenario."""

from typing import Any, Literal

from pydantic import Field

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.scenario.unions import Topology, Workload
from frontend.schema.base import Count, Model
from frontend.schema.measurement import Measurement
from frontend.schema.system import System
from frontend.schema.transport import Transport
from frontend.workloads import WORKLOADS

ESTIMATORS = ("flow", "analytical")
"""The fabrics that carry messages as wholes, and estimate."""


def _default_collective(data: dict[str, Any]) -> CollectiveAlgorithms | None:
    workload = data.get("workload")
    return WORKLOADS[workload.kind].default_collective() if workload is not None else None


class Scenario(Model):
    """Everything that a run depends on."""

    schema_version: Literal[1] = 1
    """Version of this format."""
    name: str = Field(default="scenario", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """A short name for files and titles, of letters, digits, dots, dashes and underscores."""
    description: str = ""
    """What the scenario is about."""
    seed: Count = 1
    """Seed of every random choice."""
    fabric: Literal["express", "native", "flow", "analytical"] = "express"
    """Network model: fast TCP datapath, ns-3's stock datapath, flows that share links fairly, or
    whole messages one behind the other on each link."""
    hooks: str | None = None
    """Python file whose `on_built(ns, sim)` is called before the run (extra `scripting`)."""
    topology: Topology
    """Nodes and links."""
    workload: Workload
    """What the ranks do."""
    collective: CollectiveAlgorithms | None = Field(default_factory=_default_collective)
    """Algorithms of a workload with several collectives."""
    system: System = System()
    """Chunking, concurrency and scheduling."""
    transport: Transport = Transport()
    """TCP."""
    measurement: Measurement = Measurement()
    """Sampling and limits."""

    def resolved(self) -> dict[str, Any]:
        """Return the scenario as a JSON-able dict with every default; loading it gives it back."""
        return self.model_dump(mode="json")
