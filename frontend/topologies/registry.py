"""The registry of topology families, and what an entry says about its family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from frontend.schema.base import Model, Problems
from frontend.schema.transport import Transport
from frontend.topologies.layout import Layout, WorkloadDemand
from topology_gen.registry import Registry

AnyTopology = TypeVar("AnyTopology", bound=Model)


class Buffer(NamedTuple):
    """The key path of a packet memory, its bytes (0: unlimited), and the ports that share it."""

    path: str
    bytes: int
    ports: int


class TopologyFamily(ABC, Generic[AnyTopology]):
    """A topology family: its model, its checks and its maker.

    Attributes
    ----------
    model : type
        What a scenario says: a model whose first key is ``family: Literal["name"]``, with a
        docstring that describes the family in one line.
    optimised : bool
        Whether `Layout.graph` takes an optimiser, which does not run while a scenario is loaded.
    links_jobs : bool
        Whether the ranks of a job in a shared cluster are linked for that job.
    """

    model: type[AnyTopology]
    optimised: bool = False
    links_jobs: bool = False

    @property
    def name(self) -> str:
        """The value of `family`."""
        name: str = get_args(self.model.model_fields["family"].annotation)[0]
        return name

    @property
    def description(self) -> str:
        """The family in one line."""
        return self.model.model_fields["family"].description or ""

    @property
    def label(self) -> str:
        """What messages call such a topology."""
        return self.name

    @abstractmethod
    def layout(self, topology: AnyTopology, demand: WorkloadDemand | None) -> Layout:
        """Return the layout of a topology.

        Parameters
        ----------
        topology : Model
            Of the entry's model.
        demand : WorkloadDemand, optional
            What the workload transfers, if the topology asks for it (see `asked_ranks`).

        Raises
        ------
        RefusedError
            With the key path of the value that cannot work.
        """

    @abstractmethod
    def buffers(self, topology: AnyTopology) -> Sequence[Buffer]:
        """Return the packet memories, which have to hold a packet for each port."""

    def problems(self, topology: AnyTopology, transport: Transport) -> Problems:
        """Yield what cannot work beyond what the model checks."""
        yield from ()

    def asked_ranks(self, topology: AnyTopology) -> int | None:
        """Return the ranks whose transfers the topology is made for, if the workload has them."""
        return None

    def changes_links(self, topology: AnyTopology) -> bool:
        """Return whether links change during the run."""
        return False


TOPOLOGIES = Registry[TopologyFamily[Any]]("topology family", "cosim.topologies")
"""Every topology family by name."""
