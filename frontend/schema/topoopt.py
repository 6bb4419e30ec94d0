"""Topologies that are made for a job's transfers: TopoOpt's, and optical circuits' of a moment."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ValidationInfo, model_validator

from frontend.schema.base import Count, Model, Whole, cross_check_error
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.files import read_json
from frontend.schema.quantities import Time
from topology_gen.topoopt.demand import from_json

Discount = Literal["exponential", "linear", "factorial", "none"]
WORKLOAD = "workload"


def _workload_or_mapping(value: Any) -> Any:
    if value != WORKLOAD and not isinstance(value, dict):
        raise ValueError("expected workload, or a mapping with nodes, all_reduce and mp")
    return value


DemandChoice = Annotated[
    Literal["workload"] | dict[str, Any], BeforeValidator(_workload_or_mapping)
]


class DemandTopology(DirectTopology):
    """Ranks linked as a job's transfers ask for, in so many ports of each."""

    d: Count
    """Degree: ports of a rank."""
    n: Whole | None = None
    """Ranks, for the demand of one all-reduce over all of them, or of the workload's."""
    file: str | None = None
    """Instead of `n`, a JSON file with the demand, looked for beside the scenario; the result holds
    the demand itself."""
    demand: DemandChoice | None = None
    """The demand itself: `nodes`, `all_reduce` (a list of `members` and `bytes`) and `mp`, the
    matrix of model-parallel bytes, as `cosim topo topoopt --demand` reads them; or `workload`, for
    what `n` ranks transfer in an iteration of `workload.kind: training`."""

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
    """TopoOpt: rings for the all-reduces and matchings for the rest."""

    family: Literal["topoopt"]
    """Rings for all-reduces and matchings for other transfers, by TopoOpt's TopologyFinder."""
    duplex: bool = True
    """Whether a ring goes both ways and takes two ports, rather than one way and one."""
    discount: Discount = "exponential"
    """What further links of a matched pair gain."""


class Reconfiguration(Model):
    """Circuits that are set anew for what waits to be carried at the moment."""

    interval: Time = Time.parse("50ms")
    """Between two measurements of what was handed to the network and is not yet delivered."""
    latency: Time = Time.parse("10ms")
    """How long all flows pause while circuits change; less than `interval`. Nothing is lost."""
    forwarding: bool = True
    """Whether ranks pass packets on for others. If not, a pair without a circuit waits for one."""

    @model_validator(mode="after")
    def _leaves_time(self) -> Self:
        if self.latency >= self.interval:
            raise cross_check_error(
                "topology.reconfiguration.latency",
                f"expected less than topology.reconfiguration.interval ({self.interval.written()})",
            )
        return self


class OcsTopology(DemandTopology):
    """The circuits that an optical circuit switch sets for a demand."""

    family: Literal["ocs"]
    """Links by demand, the greatest first, and exchanged until all are connected: OCS-reconfig's
    for one period, or with `discount: none` SiP-ML's."""
    discount: Discount = "exponential"
    """What further links of a pair gain: `none` is SiP-ML's."""
    reconfiguration: Reconfiguration | None = None
    """How circuits change during the run; by default they stay. Parallel links are then one link of
    their joint rate and buffer."""
