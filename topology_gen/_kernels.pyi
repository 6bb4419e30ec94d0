"""The compiled part: loops over all pairs of nodes (private; see `topology_gen.bfb`)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids

Sends = tuple[NDArray[np.uint64], Ids, Ids, Ids, Ids]  # step_begin, link, shard, first, count

class Bfb:
    """The balancing problems of a digraph; ValueError if a node does not reach another."""

    def __init__(self, nodes: int, source: Ids, target: Ids, roots: int) -> None: ...
    @property
    def steps(self) -> int: ...
    @property
    def distance_sum(self) -> int: ...  # from all nodes to the roots
    def least_loads(self, roots: int) -> tuple[Ids, Ids]: ...  # U as fractions, [step, root]
    def sends(self, chunks: int) -> Sends: ...

# of each step, the (in-links, number of nodes at that distance which arrive through just these)
def layers(
    nodes: int, source: Ids, target: Ids, root: int
) -> tuple[Sequence[tuple[list[int], int]], ...]: ...

# of each step, the chunks on the most loaded link; ValueError with what is wrong
def replay(
    nodes: int,
    source: Ids,
    target: Ids,
    chunks: int,
    step_begin: NDArray[np.uint64],
    link: Ids,
    shard: Ids,
    first: Ids,
    count: Ids,
    is_reduce_scatter: bool,
) -> NDArray[np.uint64]: ...

# of each node its mate or -1, and twice its dual; edges join two different nodes, weights are ≥ 1
def heaviest_matching(
    nodes: int, first: NDArray[np.int32], second: NDArray[np.int32], weight: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

# of each root and class of links, the load when the root sends 1 to every other node over the
# shortest paths by the lengths of the classes; and of each root the sum of its distances
def tree_loads(
    nodes: int,
    source: Ids,
    target: Ids,
    roots: Ids,
    link_class: Ids,
    length: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

# of each class of links, the load when every root sends 1 to every other node over all walks of at
# most so many hops, each as likely as the product of the weights of its links' classes
def walk_loads(
    nodes: int,
    source: Ids,
    target: Ids,
    roots: Ids,
    link_class: Ids,
    weight: NDArray[np.float64],
    hops: int,
) -> NDArray[np.float64]: ...
