"""The types of `topology` and `workload`: unions of all registered families and kinds."""

from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Field

from frontend.schema.cluster import ClusterWorkload
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.fat_tree import FatTree
from frontend.schema.topology import FlatTopology, HierarchicalTopology
from frontend.schema.training import TrainingWorkload
from frontend.schema.workload import DlrmWorkload, MoeWorkload
from frontend.topologies import TOPOLOGIES
from frontend.workloads import WORKLOADS
from frontend.workloads.chakra import ChakraWorkload
from frontend.workloads.collective import CollectiveWorkload
from frontend.workloads.goal import GoalWorkload

if TYPE_CHECKING:
    # A type checker sees the models of this package, not those of installed plug-ins.
    Topology = FlatTopology | HierarchicalTopology | FatTree | DirectTopology
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
    Workload = Annotated[
        Union[tuple(entry.model for entry in WORKLOADS.values())],  # noqa: UP007
        Field(discriminator="kind"),
    ]
