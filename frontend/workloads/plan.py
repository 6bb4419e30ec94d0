"""What a workload hands to the compiler: one trace for all ranks, and the collectives in it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from frontend.schema.collective import AlgorithmOptions, AnyAlgorithm


class NodeType(IntEnum):
    """As `Trace.Type` of network_api.proto."""

    COMPUTE = 0
    COLLECTIVE = 1


class Node(NamedTuple):
    """A node of the trace; `dependencies` are indices of earlier nodes."""

    name: str
    type: NodeType
    layer: int
    iteration: int
    duration_ps: int
    collective: int
    dependencies: tuple[int, ...]


class Issue(NamedTuple):
    """A collective over all ranks; `bytes` is the buffer of one rank."""

    name: str
    operation: str
    algorithm: AnyAlgorithm
    options: AlgorithmOptions
    bytes: int
    iteration: int
    layer: int


@dataclass
class Plan:
    """Nodes in the order of the compute stream; ids of nodes and collectives are their indices."""

    layers: tuple[str, ...]
    nodes: list[Node] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)

    def compute(
        self,
        name: str,
        layer: str,
        iteration: int,
        duration_ps: int,
        after: Iterable[int] = (),
    ) -> int:
        """Append an operator to the compute stream and return its node."""
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
