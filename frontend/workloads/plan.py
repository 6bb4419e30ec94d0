"""Plans: the traces and collectives that a workload passes to the compiler."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.choices import AnyAlgorithm, CollectiveAlgorithms
from frontend.collectives.group_rings import GroupRings
from frontend.collectives.program.program import Blocks
from frontend.nodes import NodeColumns, NodeType, slices

__all__ = ["Issue", "Node", "NodeType", "Plan", "Ranks", "Trace", "columns"]

Ranks = tuple[int, ...]


class Node(NamedTuple):
    """A node of a trace. Fields that do not apply to its type are 0."""

    name: str
    type: NodeType
    layer: int
    """Index of its layer in `Plan.layers`."""
    iteration: int
    duration_ps: int = 0
    """Duration of a COMPUTE or TIMER node."""
    collective: int = 0
    """Index of a COLLECTIVE node's collective in `Plan.issues`."""
    dependencies: tuple[int, ...] = ()
    """Indices of the earlier nodes that it waits for."""
    peer: int = 0
    """Rank at the other end of a message (SEND and RECV)."""
    bytes: int = 0
    """Size of a message."""
    tag: int = 0
    """Tag of a message, equal for its SEND and its RECV. TIMER nodes with the same tag other than 0
    start together on all ranks."""
    route: int = 0
    """Index of the message's route among the paths of the pair."""
    job: int = 0
    """Number of its job, from 1; 0 for no job."""


class Issue(NamedTuple):
    """A collective that ranks issue."""

    name: str
    operation: str
    algorithm: AnyAlgorithm
    options: AlgorithmOptions
    bytes: int
    """Buffer of one rank."""
    iteration: int
    layer: int
    """Index of its layer in `Plan.layers`."""
    ranks: Ranks | None = None
    """Ranks of its group; None for all ranks."""
    rings: GroupRings | None = None
    """Rings for `multi_ring`, if they differ from the topology's rings for these ranks."""
    route: int = 0
    """First of the routes that its messages take."""
    root: int = 0
    """Rank at which a broadcast or scatter starts, or a reduce or gather ends; of several groups,
    that of the first one. The others have it at the same place."""
    blocks: Blocks | None = None
    """All-to-all with unequal blocks: parts of `bytes` that each member sends to each member."""
    groups: int = 1
    """Number of groups of equal size, one after the other in `ranks`. Each group runs the
    collective on its own."""
    priority: int = 0
    """Of the collectives that wait, those with the greatest priority start first."""
    protocol: str = ""
    """Name of the protocol of its connections; empty: that of the scenario."""
    slows_ppm: int = 0
    """By how much the computations of a member take longer while its part runs [10^-6]."""


class Trace(NamedTuple):
    """The work of some ranks, which all do the same."""

    ranks: Ranks | None
    """The ranks; None for all ranks."""
    nodes: tuple[Node, ...]
    """Nodes in the order of the compute stream."""
    peer_modulus: int = 0
    """0: `Node.peer` is a rank. Otherwise it is added to the rank that runs the node, modulo this
    number, so that ranks with different peers can share a trace."""


@dataclass
class Plan:
    """The work of a run."""

    layers: tuple[str, ...]
    """Names of the layers."""
    nodes: list[Node] = field(default_factory=list)
    """Work of every rank, if all ranks do the same; empty otherwise."""
    issues: list[Issue] = field(default_factory=list)
    """Collectives. The index of a collective is its id."""
    traces: list[Trace] = field(default_factory=list)
    """Work of each set of ranks, if ranks differ; empty otherwise."""
    tables: list[tuple[Ranks, NodeColumns]] = field(default_factory=list)
    """Work of sets of ranks as columns, in place of nodes and traces, for traces from files."""
    jobs: tuple[str, ...] = ()
    """Names of the jobs in a shared cluster."""

    def compute(
        self,
        name: str,
        layer: str,
        iteration: int,
        duration_ps: int,
        after: Iterable[int] = (),
    ) -> int:
        """Append an operator to the compute stream of all ranks, and return the node's index."""
        index, waits = self.layers.index(layer), tuple(after)
        node = Node(f"{layer}.{name}", NodeType.COMPUTE, index, iteration, duration_ps, 0, waits)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def collective(
        self,
        name: str,
        layer: str,
        iteration: int,
        operation: str,
        algorithms: CollectiveAlgorithms,
        size_bytes: int,
        after: Iterable[int] = (),
    ) -> int:
        """Append a collective that all ranks issue after `after`, and return its node's index."""
        index, algorithm = self.layers.index(layer), algorithms.of(operation)
        self.issues.append(
            Issue(name, operation, algorithm, algorithms, size_bytes, iteration, index)
        )
        number = len(self.issues) - 1
        node = Node(name, NodeType.COLLECTIVE, index, iteration, 0, number, tuple(after))
        self.nodes.append(node)
        return len(self.nodes) - 1

    def all_traces(self) -> list[Trace]:
        """Return the traces of all ranks."""
        return self.traces or [Trace(None, tuple(self.nodes))]

    def work(self, ranks: int) -> list[tuple[Sequence[int], NodeColumns]]:
        """Return the work of every set of ranks as columns; `ranks` is the number of all ranks."""
        if self.tables:
            return list(self.tables)
        return [
            (
                range(ranks) if trace.ranks is None else trace.ranks,
                columns(trace.nodes, trace.peer_modulus),
            )
            for trace in self.all_traces()
        ]


def columns(nodes: Sequence[Node], peer_modulus: int = 0) -> NodeColumns:
    """Return nodes as columns. `peer_modulus` is as in `Trace`."""
    return NodeColumns(
        names=[node.name for node in nodes],
        type=np.array([node.type for node in nodes], np.uint32),
        duration_ps=np.array([node.duration_ps for node in nodes], np.uint64),
        peer=np.array([node.peer for node in nodes], np.uint32),
        bytes=np.array([node.bytes for node in nodes], np.uint64),
        tag=np.array([node.tag for node in nodes], np.uint64),
        dep_begin=slices([len(node.dependencies) for node in nodes]),
        dep=np.array([dep for node in nodes for dep in node.dependencies], np.uint32),
        collective=np.array([node.collective for node in nodes], np.uint32),
        layer=np.array([node.layer for node in nodes], np.uint32),
        iteration=np.array([node.iteration for node in nodes], np.uint32),
        route=np.array([node.route for node in nodes], np.uint32),
        job=np.array([node.job for node in nodes], np.uint32),
        peer_modulus=peer_modulus,
    )
