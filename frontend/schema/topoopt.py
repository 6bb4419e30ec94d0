"""Topologies that are made for a job's transfers: TopoOpt's, and optical circuits' of a moment."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from frontend.schema.base import Count, Model, Whole, cross_check_error
from frontend.schema.direct_connect import LinkedTopology
from frontend.schema.files import read_json
from frontend.schema.quantities import Delay
from topology_gen.topoopt.demand import from_json
from topology_gen.topoopt.routes import PATHS

Discount = Literal["exponential", "linear", "factorial", "none"]
WORKLOAD = "workload"


def _workload_or_mapping(value: Any) -> Any:
    if value != WORKLOAD and not isinstance(value, dict):
        raise ValueError("expected workload, or a mapping with nodes, all_reduce and mp")
    return value


DemandChoice = Annotated[
    Literal["workload"] | dict[str, Any], BeforeValidator(_workload_or_mapping)
]


class DemandTopology(LinkedTopology):
    """Ranks linked according to the transfers of a job, with `d` ports each."""

    d: Count
    """Degree: number of ports of each rank."""
    n: Whole | None = None
    """Number of ranks. Alone: the demand is one all-reduce over all of them. Needed with `demand:
    workload`."""
    file: str | None = None
    """Instead of `n`: a JSON file with the demand; the path is relative to the scenario's folder.
    The result stores the demand itself."""
    demand: DemandChoice | None = None
    """The demand: `nodes`, `all_reduce` (a list of `members` and `bytes`) and `mp`, the matrix of
    model-parallel bytes, as in a `--demand` file of `cosim topo topoopt`. `workload`: what `n`
    ranks transfer in an iteration of `workload.kind: training`."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        """Put the demand of the file in its place, so that a stored scenario needs no file."""
        if not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        if value.get("demand") is not None:
            raise cross_check_error("topology.file", "expected either a file or demand, not both")
        try:
            content = read_json(value["file"], info)
            from_json(content)
        except ValueError as error:
            raise cross_check_error("topology.file", str(error)) from None
        return {key: item for key, item in value.items() if key != "file"} | {"demand": content}


class TopoOptTopology(DemandTopology):
    """TopoOpt: rings for all-reduces and matchings for all other transfers."""

    family: Literal["topoopt"]
    """Rings for all-reduces and matchings for other transfers, from TopoOpt's TopologyFinder."""
    duplex: bool = True
    """true: rings go both ways and take two ports of each rank; false: one way and one port."""
    discount: Discount = "exponential"
    """Value of the x-th link between the same two ranks, relative to the first link. exponential
    (TopoOpt): 1/2^(x-1); linear: 1/x; factorial: 1/x!; none: 1."""
    paths: Annotated[int, Field(ge=1, le=64)] = PATHS
    """k: messages between two ranks are spread over so many shortest paths."""


class Reconfiguration(Model):
    """Circuits that change during the run, for the data that waits to be carried."""

    interval: Delay = Delay.parse("50ms")
    """Time between two measurements of the demand: bytes sent but not yet delivered."""
    latency: Delay = Delay.parse("10ms")
    """How long all flows pause while circuits change; less than `interval`. No data is lost."""
    forwarding: bool = True
    """true: ranks forward packets for others; false: a pair without a circuit waits for one."""
    initial: Literal["uniform", "demand"] = "uniform"
    """Circuits before the first measurement. uniform: spread evenly over all ranks, whatever the
    demand is. demand: those for `n`, `file` or `demand`, as if it had been measured."""
    acknowledgements: Literal["control", "circuits"] = "control"
    """How acknowledgements return, because circuits are one-way. control: over a control network
    beside the circuits, with the latency and the rate of a circuit and without queues. circuits:
    over circuits, through other ranks if they forward; as with control if no circuit leads back."""

    @model_validator(mode="after")
    def _leaves_time(self) -> Self:
        if self.latency >= self.interval:
            raise cross_check_error(
                "topology.reconfiguration.latency",
                f"expected less than topology.reconfiguration.interval ({self.interval.written()})",
            )
        return self


class OcsTopology(DemandTopology):
    """The circuits that an optical circuit switch (OCS) sets for a demand."""

    family: Literal["ocs"]
    """Sets links by demand, the greatest first, and exchanges links until all ranks are connected.
    These are the circuits of OCS-reconfig for one period, or with `discount: none` of SiP-ML."""
    discount: Discount = "exponential"
    """Value of the x-th link between the same two ranks, relative to the first link. exponential:
    1/2^(x-1); linear: 1/x; factorial: 1/x!; none (SiP-ML): 1."""
    reconfiguration: Reconfiguration | None = None
    """How circuits change during the run; null: they stay. If they change, parallel links act as
    one link with their total rate and buffer."""
