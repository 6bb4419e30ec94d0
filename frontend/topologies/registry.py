"""The registry of topology families, and the base class of its entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from frontend.schema.base import Model, Problems, description
from frontend.topologies.layout import Layout, WorkloadDemand
from topology_gen.registry import Registry

AnyTopology = TypeVar("AnyTopology", bound=Model)


class Buffer(NamedTuple):
    """A packet buffer: its key path, its size in bytes (0: unlimited), and the ports sharing it."""

    path: str
    bytes: int
    ports: int


class TopologyFamily(ABC, Generic[AnyTopology]):
    """A topology family: its model, its checks, and a method that builds the layout.

    Attributes
    ----------
    model : type
        Model of the scenario's `topology` part. Its first key is ``family: Literal["name"]``, whose
        docstring describes the family in one line.
    optimised : bool
        Whether `Layout.graph` runs an optimiser. Optimisers do not run while a scenario is loaded.
    links_jobs : bool
        Whether each job in a shared cluster gets links of its own.
    joins_gpus : bool
        Whether the topology has the links between the GPUs of a server, so that a rank is a GPU.
    lists_shared_links : bool
        Whether results list the links between switches that several flows share.
    """

    model: type[AnyTopology]
    optimised: bool = False
    links_jobs: bool = False
    joins_gpus: bool = False
    lists_shared_links: bool = False

    @property
    def name(self) -> str:
        """The value of `family`."""
        name: str = get_args(self.model.model_fields["family"].annotation)[0]
        return name

    @property
    def description(self) -> str:
        """The family in one line."""
        return description(self.model, "family")

    @property
    def label(self) -> str:
        """The name of such a topology in error messages."""
        return self.name

    @abstractmethod
    def layout(self, topology: AnyTopology, demand: WorkloadDemand | None) -> Layout:
        """Return the layout of a topology.

        Parameters
        ----------
        topology : Model
            The topology, an instance of `model`.
        demand : WorkloadDemand, optional
            The workload's transfers, given if `asked_ranks` returns a number.

        Raises
        ------
        RefusedError
            If a value cannot work; the error has its key path.
        """

    @abstractmethod
    def buffers(self, topology: AnyTopology) -> Sequence[Buffer]:
        """Return the packet buffers. Each must hold at least one packet per port."""

    def problems(self, topology: AnyTopology, window_bytes: int) -> Problems:
        """Yield problems that the model itself cannot detect.

        Parameters
        ----------
        topology : Model
            The topology, an instance of `model`.
        window_bytes : int
            The most bytes that a connection has on the wire, headers included.
        """
        yield from ()

    def asked_ranks(self, topology: AnyTopology) -> int | None:
        """Return the number of ranks if the workload's transfers determine the links."""
        return None

    def loses_packets(self, topology: AnyTopology) -> bool:
        """Return whether some link loses packets."""
        return False

    def changes_links(self, topology: AnyTopology) -> bool:
        """Return whether links change during the run."""
        return False


TOPOLOGIES = Registry[TopologyFamily[Any]]("topology family", "cosim.topologies", TopologyFamily)
"""Every topology family by name."""
