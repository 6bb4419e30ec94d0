"""The types of `topology`, `transport` and `workload`: unions of all registered models."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import BeforeValidator, Field

from frontend.schema.cluster import ClusterWorkload
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.fat_tree import FatTree
from frontend.schema.topology import FlatTopology, HierarchicalTopology
from frontend.schema.training import TrainingWorkload
from frontend.schema.workload import DlrmWorkload, MoeWorkload
from frontend.topologies import TOPOLOGIES
from frontend.transports import DEFAULT, PROTOCOLS
from frontend.transports.roce import RoceTransport
from frontend.transports.tcp import TcpTransport
from frontend.workloads import WORKLOADS
from frontend.workloads.chakra import ChakraWorkload
from frontend.workloads.collective import CollectiveWorkload
from frontend.workloads.goal import GoalWorkload


def _with_protocol(value: Any) -> Any:
    """Let a transport without `protocol` be that of the default protocol."""
    if isinstance(value, Mapping) and "protocol" not in value:
        return {"protocol": DEFAULT, **value}
    return value


if TYPE_CHECKING:
    # A type checker sees the models of this package, not those of installed plug-ins.
    Topology = FlatTopology | HierarchicalTopology | FatTree | DirectTopology
    Transport = TcpTransport | RoceTransport
    Workload = (
        CollectiveWorkload
        | DlrmWorkload
        | MoeWorkload
        | TrainingWorkload
        | ClusterWorkload
        | ChakraWorkload
        | GoalWorkload
    )
else:
    Topology = Annotated[
        Union[tuple(entry.model for entry in TOPOLOGIES.values())],  # noqa: UP007
        Field(discriminator="family"),
    ]
    _transports = tuple(entry.model for entry in PROTOCOLS.values())
    Transport = (
        Annotated[
            Union[_transports],  # noqa: UP007
            Field(discriminator="protocol"),
            BeforeValidator(_with_protocol),
        ]
        if len(_transports) > 1
        else _transports[0]  # pydantic has no unions of one model
    )
    Workload = Annotated[
        Union[tuple(entry.model for entry in WORKLOADS.values())],  # noqa: UP007
        Field(discriminator="kind"),
    ]
