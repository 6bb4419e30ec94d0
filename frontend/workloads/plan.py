"""What a workload hands to the compiler: traces of the ranks' work, and the collectives in them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from frontend.collectives.choices import AnyAlgorithm
from frontend.collectives.group_rings import GroupRings
from frontend.collectives.options import AlgorithmOptions

Ranks = tuple[int, ...]


class NodeType(IntEnum):
    """As `Trace.Type` of network_api.proto."""

    COMPUTE = 0
    COLLECTIVE = 1
    SEND = 2
    RECV = 3
    TIMER = 4


class Node(NamedTuple):
    """A node of a trace; `dependencies` are indices of earlier nodes.

    What its type has no use for is 0: a collective's index, a message's other rank, bytes, tag and
    route. `job` counts from 1; 0 is none.
    """

    name: str
    type: NodeType
    layer: int
    iteration: int
    duration_ps: int
    collective: int
    dependencies: tuple[int, ...]
    peer: int = 0
    bytes: int = 0
    tag: int = 0
    route: int = 0
    job: int = 0


class Issue(NamedTuple):
    """A collective over some ranks, None for all; `bytes` is the buffer of one rank.

    `rings` are those of `multi_ring`, where they are not the topology's for these ranks; `route` is
    the first of the routes that its messages take.
    """

    name: str
    operation: str
    algorithm: AnyAlgorithm
    options: AlgorithmOptions
    bytes: int
    iteration: int
    layer: int
    ranks: Ranks | None = None
    rings: GroupRings | None = None
    route: int = 0


class Trace(NamedTuple):
    """The work of some ranks, None for all: nodes in the order of the compute stream."""

    ranks: Ranks | None
    nodes: tuple[Node, ...]


@dataclass
class Plan:
    """The work of a run; ids of collectives are their indices.

    `nodes` are the work of all ranks. Where ranks differ, it stays empty, and `traces` has theirs.
    """

    layers: tuple[str, ...]
    nodes: list[Node] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    jobs: tuple[str, ...] = ()

    def compute(
        self,
        name: str,
        layer: str,
        iteration: int,
        duration_ps: int,
        after: Iterable[int] = (),
    ) -> int:
        """Append an operator to the compute stream of all ranks and return its node."""
        node = Node(
            f"{layer}.{name}",
            NodeType.COMPUTE,
            self.layers.index(layer),
            iteration,
            duration_ps,
            0,
            tuple(after),
        )
        self.nodes.append(node)
        return len(self.nodes) - 1

    def collective(
        self,
        name: str,
        layer: str,
        iteration: int,
        operation: str,
        algorithm: AnyAlgorithm,
        options: AlgorithmOptions,
        size_bytes: int,
        after: Iterable[int] = (),
    ) -> int:
        """Append a collective that all ranks issue after the given nodes and return its node."""
        index = self.layers.index(layer)
        self.issues.append(Issue(name, operation, algorithm, options, size_bytes, iteration, index))
        number = len(self.issues) - 1
        node = Node(name, NodeType.COLLECTIVE, index, iteration, 0, number, tuple(after))
        self.nodes.append(node)
        return len(self.nodes) - 1

    def all_traces(self) -> list[Trace]:
        """Return the traces of all ranks."""
        return self.traces or [Trace(None, tuple(self.nodes))]
