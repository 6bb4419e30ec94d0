"""The registry of transport protocols, and the base class of its entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from frontend.fabrics import Fabric
from frontend.schema.base import Problems, description
from frontend.schema.ports import Links, Switches
from frontend.schema.transport import Transport
from topology_gen.registry import Registry

AnyTransport = TypeVar("AnyTransport", bound=Transport)


class Thresholds(NamedTuple):
    """Lengths of egress queues from which packets are marked."""

    begin: NDArray[np.uint64]
    """For each link, from where on some packets are marked."""
    end: NDArray[np.uint64]
    """For each link, from where on all packets are marked."""
    chance: float = 1.0
    """Part of the packets that are marked just below `end`."""
    at_dequeue: bool = False
    """Whether the queue is compared when a packet leaves."""


class Protocol(ABC, Generic[AnyTransport]):
    """A transport protocol: its model, its checks, and its record in the stream.

    Attributes
    ----------
    model : type
        Model of the scenario's `transport` part. It has the key ``protocol: Literal["name"]``,
        whose docstring describes the protocol in one line.
    data_class : int
        Traffic class of data, as far as jobs have none of their own.
    of_network : mapping
        The keys that are the same for all jobs, and why.
    """

    model: type[AnyTransport]
    data_class = 0
    of_network: ClassVar[Mapping[str, str]] = {}

    @property
    def name(self) -> str:
        """The value of `protocol`."""
        name: str = get_args(self.model.model_fields["protocol"].annotation)[0]
        return name

    @property
    def description(self) -> str:
        """The protocol in one line."""
        return description(self.model, "protocol")

    @abstractmethod
    def header_bytes(self, transport: AnyTransport) -> int:
        """Return the bytes of a packet between the header of the link and the payload."""

    def wire_header_bytes(self, transport: AnyTransport, links: Links) -> int:
        """Return the bytes of a packet on the wire beside its payload."""
        return self.header_bytes(transport) + links.header

    def thresholds(
        self, transport: AnyTransport, switches: Switches, rates: NDArray[np.uint64]
    ) -> Thresholds | None:
        """Return where links with some rates begin to mark packets; None: nowhere."""
        return None

    def changes_circuits(self) -> bool:
        """Tell whether its connections can pause while circuits change."""
        return True

    @abstractmethod
    def payload_bytes(self, transport: AnyTransport, links: Links) -> int:
        """Return the payload of a full packet."""

    @abstractmethod
    def window_bytes(self, transport: AnyTransport) -> int:
        """Return the most bytes of payload that a connection has in flight."""

    def format_problems(self, whole: AnyTransport, own: AnyTransport) -> Problems:
        """Yield what gives the packets of a job another format than `of_network` allows.

        Parameters
        ----------
        whole, own : Transport
            The transport of the scenario, and that of the job.
        """
        yield from ()

    @abstractmethod
    def problems(self, transport: AnyTransport, links: Links, fabric: Fabric) -> Problems:
        """Yield problems that the model itself cannot detect."""

    @abstractmethod
    def fields(
        self, transport: AnyTransport, links: Links, switches: Switches
    ) -> Mapping[str, Any]:
        """Return the fields of the protocol's record in the stream's `Settings`."""


PROTOCOLS = Registry[Protocol[Any]]("transport protocol", "cosim.transports", Protocol)
"""Every transport protocol by name."""
