"""The registry of workload kinds, and the base class of its entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, get_args

from frontend.collectives.choices import AnyAlgorithm, CollectiveAlgorithms
from frontend.goodput import Period
from frontend.schema.base import Model, Problems, description
from frontend.schema.training import Training
from frontend.topologies.registry import Layout, TopologyFamily
from frontend.workloads.plan import Issue, Plan
from topology_gen.registry import Registry
from topology_gen.topoopt import Demand

AnyWorkload = TypeVar("AnyWorkload", bound=Model)


class Chosen(NamedTuple):
    """An operation that a workload uses, the key path of its algorithm, and the algorithm."""

    operation: str
    path: str
    algorithm: AnyAlgorithm


class TrainingWork(NamedTuple):
    """What the ranks do in one iteration of training, for the rates in the result."""

    tokens: int
    """Tokens of the global batch."""
    flop: int
    """FLOPs of the model, without those that are computed again."""
    peak_flops: int
    """Peak compute rate of all ranks together."""
    memory_bytes: int
    """Memory that the rank with the most needs."""
    pipeline_layer: str
    """Name of the layer that the waits for other pipeline stages count for."""
    period: Period | None = None
    """What failures and checkpoints cost, if the workload has any."""
    interval_s: float = 0.0
    """Training between two checkpoints."""


class Costs(Protocol):
    """How long communication takes by an estimate, without contention."""

    @property
    def super_node(self) -> int | None:
        """Consecutive ranks of a super-node, if the topology has them."""

    def collective_ps(self, issue: Issue) -> float:
        """Return the time of a collective."""

    def message_ps(self, source: int, target: int, size: int) -> float:
        """Return the time of a message from one rank to another."""


class Estimate(NamedTuple):
    """A layout that a search has estimated."""

    changes: Mapping[str, Any]
    """The keys of the workload that it changes."""
    seconds: float
    """Time of an iteration."""
    memory_bytes: int
    """Memory that the rank with the most needs."""
    mfu: float
    """Model FLOPs utilization."""


class WorkloadKind(ABC, Generic[AnyWorkload]):
    """A workload kind: its model, its checks, and a method that builds the plan.

    Attributes
    ----------
    model : type
        Model of the scenario's `workload` part. It has the key ``kind: Literal["name"]``, whose
        docstring describes the kind in one line.
    files : tuple of str
        Keys of the model whose values are paths of files, relative to the scenario's folder.
    layout_keys : tuple of str
        Keys that differ between the layouts that a search tries.
    own_algorithms : str
        Why the scenario has no `collective`, if `default_collective` returns None.
    """

    model: type[AnyWorkload]
    files: tuple[str, ...] = ()
    layout_keys: tuple[str, ...] = ()
    own_algorithms: str = "workload.algorithm selects the algorithm"

    @property
    def name(self) -> str:
        """The value of `kind`."""
        name: str = get_args(self.model.model_fields["kind"].annotation)[0]
        return name

    @property
    def description(self) -> str:
        """The kind in one line."""
        return description(self.model, "kind")

    def paths(self, workload: AnyWorkload, key: str) -> Iterator[Path]:
        """Yield the files that the value of a key in `files` names."""
        name = getattr(workload, key)
        if name is not None:
            yield Path(name)

    def default_collective(self) -> CollectiveAlgorithms | None:
        """Return the default of `collective`; None if the workload names its only algorithm."""
        return CollectiveAlgorithms()

    def algorithms(
        self, workload: AnyWorkload, collective: CollectiveAlgorithms | None
    ) -> Iterator[Chosen]:
        """Yield the algorithms that a workload uses for certain."""
        if collective is not None:
            yield Chosen("all_reduce", "collective.all_reduce", collective.all_reduce)
            yield Chosen("all_to_all", "collective.all_to_all", collective.all_to_all)

    def problems(self, workload: AnyWorkload, ranks: int, family: TopologyFamily[Any]) -> Problems:
        """Yield the problems that the workload has on `ranks` ranks of a topology family."""
        yield from ()

    def job(self, workload: AnyWorkload) -> Training | None:
        """Return the training job, if the workload is one job whose strategy can be searched."""
        return None

    def layouts(
        self, workload: AnyWorkload, ranks: int, kept: Collection[str] = ()
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the keys of each layout that a search tries; none if the kind has no layouts.

        Keys in `kept`, of those in `layout_keys`, have the values of the workload.
        """
        yield from ()

    def orders(self, workload: AnyWorkload, ranks: int) -> Iterator[Mapping[str, Any]]:
        """Yield the keys of each other order of the ranks that a search tries."""
        yield from ()

    def estimates(
        self, workload: AnyWorkload, ranks: int, costs: Costs, every: Iterable[Mapping[str, Any]]
    ) -> Iterator[Estimate]:
        """Yield the estimates of the layouts that fit, of those that change some keys each."""
        yield from ()

    def demand(self, workload: AnyWorkload, ranks: int) -> Demand | None:
        """Return the transfers of one iteration, if they are known before the layout."""
        return None

    def training(self, workload: AnyWorkload, ranks: int) -> TrainingWork | None:
        """Return the work of one iteration, if the workload trains a model on tokens."""
        return None

    @abstractmethod
    def plan(
        self, workload: AnyWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the work of all ranks.

        Parameters
        ----------
        workload : Model
            The workload, an instance of `model`.
        layout : Layout
            The layout of the topology that it runs on.
        collective : CollectiveAlgorithms, optional
            The collective algorithms. None if and only if `default_collective` returns None.

        Raises
        ------
        ScenarioError
            If the work cannot be simulated.
        """


WORKLOADS = Registry[WorkloadKind[Any]]("workload kind", "cosim.workloads", WorkloadKind)
"""Every workload kind by name."""
