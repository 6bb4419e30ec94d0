"""Topologies that are made for a job's transfers: TopoOpt's, and optical circuits' of a moment."""

import json
from abc import abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ValidationInfo, model_validator

from frontend.schema.base import Count, Model, Whole, cross_check_error
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.edges import FOLDER
from frontend.schema.quantities import Time
from topology_gen import TopologyError
from topology_gen.errors import DemandError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.shards import Shard
from topology_gen.topoopt import (
    Demand,
    data_parallel,
    from_json,
    ocs_reconfig,
    topology_finder,
    traffic_matrix,
)
from topology_gen.topoopt import TopoOptTopology as Found

Discount = Literal["exponential", "linear", "factorial", "none"]
WORKLOAD = "workload"

MOST_CIRCUIT_RANKS = 4096
"""Ranks whose circuits can change, at most: the distances between all of them are kept."""

_ONE_DEMAND = "expected one of n, file and demand"


def _workload_or_mapping(value: Any) -> Any:
    if value != WORKLOAD and not isinstance(value, dict):
        raise ValueError("expected workload, or a mapping with nodes, all_reduce and mp")
    return value


DemandChoice = Annotated[
    Literal["workload"] | dict[str, Any], BeforeValidator(_workload_or_mapping)
]


class DemandTopology(DirectTopology):
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

    @property
    def asks_workload(self) -> bool:
        """Whether the demand is the workload's, and `settle` has to be called with it."""
        return self.demand == WORKLOAD

    def settle(self, demand: Demand) -> None:
        """Take the demand of the workload, and make the digraph.

        Raises
        ------
        PydanticCustomError
            There is none.
        """
        self.__dict__["_transfers"] = demand  # what the cached property cannot know
        self._check_graph()

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return (self.n or 0) if self.asks_workload else super().ranks

    @cached_property
    def _transfers(self) -> Demand:
        if (self.n is None) == (self.demand is None):
            raise DemandError(_ONE_DEMAND)
        if isinstance(self.demand, dict):
            return from_json(self.demand)
        return data_parallel(self.n or 0)

    @abstractmethod
    def _make(self) -> Digraph:
        """Return the digraph; TopologyError if there is none."""

    def _blame(self, problem: str) -> str:
        if problem == _ONE_DEMAND:
            return "topology"
        if problem.startswith("degree"):
            return "topology.d"
        return "topology.n" if self.demand is None else "topology.demand"

    def _check_graph(self) -> None:
        if not self.asks_workload or "_transfers" in self.__dict__:
            super()._check_graph()
        elif self.n is None:
            raise cross_check_error("topology.n", "expected the number of ranks")

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        """Put the demand of the file in its place, so that a stored scenario needs no file."""
        if not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        if value.get("demand") is not None:
            raise cross_check_error("topology.file", "expected either a file or demand, not both")
        path = (info.context or {}).get(FOLDER, Path()) / value["file"]
        try:
            content = json.loads(path.read_bytes())
        except OSError as error:
            problem = f"{error.strerror or error}: expected a readable file"
            raise cross_check_error("topology.file", problem) from None
        except (ValueError, RecursionError) as error:
            raise cross_check_error("topology.file", f"expected JSON ({error})") from None
        try:
            from_json(content)
        except TopologyError as error:
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

    @property
    def shards(self) -> list[Shard]:
        """The parts of a shared cluster, each linked for a job; none if it is not shared."""
        return self.__dict__.get("_shards", [])  # type: ignore[no-any-return]

    def set_shards(self, shards: list[Shard]) -> None:
        """Divide the cluster among jobs."""
        self.__dict__["_shards"] = shards

    @cached_property
    def found(self) -> Found:
        """The rings and matchings."""
        return topology_finder(self._transfers, self.d, duplex=self.duplex, discount=self.discount)

    def _make(self) -> Digraph:
        return self.found.graph


class Reconfiguration(Model):
    """Circuits that change during the run, for the data that waits to be carried."""

    interval: Time = Time.parse("50ms")
    """Time between two measurements of the demand: bytes sent but not yet delivered."""
    latency: Time = Time.parse("10ms")
    """How long all flows pause while circuits change; less than `interval`. No data is lost."""
    forwarding: bool = True
    """true: ranks forward packets for others; false: a pair without a circuit waits for one."""

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

    @property
    def all_reach_all(self) -> bool:
        """Whether there has to be a path from every rank to every other."""
        return self.reconfiguration is None or self.reconfiguration.forwarding

    def _make(self) -> Digraph:
        ranks = self._transfers.nodes
        if self.reconfiguration is not None and ranks > MOST_CIRCUIT_RANKS:
            raise DemandError(
                f"{ranks} ranks whose circuits change: expected at most {MOST_CIRCUIT_RANKS}"
            )
        return ocs_reconfig(
            traffic_matrix(self._transfers),
            self.d,
            discount=self.discount,
            forwarding=self.all_reach_all,
        )
