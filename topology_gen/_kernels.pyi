"""The compiled module: loops over all pairs of nodes (private; see `topology_gen.kernels`)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids, Numbers

Sends = tuple[NDArray[np.uint64], Ids, Ids, Ids, Ids]  # step_begin, link, shard, first, count

class Bfb:
    """The balancing problems of a digraph; ValueError if a node cannot reach another."""

    def __init__(self, nodes: int, source: Ids, target: Ids, roots: int) -> None: ...
    @property
    def steps(self) -> int: ...
    @property
    def distance_sum(self) -> int: ...  # sum of the distances from all nodes to the roots
    def least_loads(self, roots: int) -> tuple[Ids, Ids]: ...  # U as fractions, [step, root]
    def sends(self, chunks: int) -> Sends: ...

# For each step, the nodes at that distance from the root, counted by the set of in-links over which
# their shards arrive: (in-links, number of nodes).
def layers(
    nodes: int, source: Ids, target: Ids, root: int
) -> tuple[Sequence[tuple[list[int], int]], ...]: ...

# For each pair, its number of hops, and the links of all paths one after another. Links enter
# places, of which the first ones are the nodes; the paths of a pair end at the place `end`. Pairs
# with the same target follow each other. ValueError if a pair has no path.
#
# Where a shortest path can continue over several links, a hash of the pair, its route and its hop,
# plus `salt`, selects one: `topology_gen.networks.shortest_paths.flow_hash`.
def hashed_paths(
    nodes: int,
    places: int,
    source: Ids,
    target: Ids,
    place: Ids,
    cost: NDArray[np.float64],
    from_: Ids,
    to: Ids,
    end: Ids,
    route: NDArray[np.uint64],
    salt: int,
) -> tuple[NDArray[np.int64], Ids]: ...

# The same, where a pair takes number (first + turn % turns * paths // turns) % paths of its
# shortest paths. At every node, the paths over the link with the smallest id have the smallest
# numbers.
def numbered_paths(
    nodes: int,
    places: int,
    source: Ids,
    target: Ids,
    place: Ids,
    cost: NDArray[np.float64],
    from_: Ids,
    to: Ids,
    end: Ids,
    first: NDArray[np.int64],
    turn: NDArray[np.int64],
    turns: int,
) -> tuple[NDArray[np.int64], Ids]: ...

# Boxes: servers, their first samples and those after their last, their first bytes and those after
# their last.
_Boxes = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
]

# Number of pairs that exchange data if servers need what others have, and which of both take part.
def participants(
    has: _Boxes, needs: _Boxes
) -> tuple[int, NDArray[np.uint8], NDArray[np.uint8]]: ...

# Add to `loads` the bytes that links carry if such an exchange takes some paths: those to the
# servers place[1] and following, from place[0] servers each. `paths` are begin, links, propagation
# and stored; `sending` are the bytes of a segment and of headers, the route and the number of
# routes. The result is the latest arrival of a first packet [s]. ValueError says what is wrong.
def add_loads(
    has: _Boxes,
    needs: _Boxes,
    paths: tuple[Ids, Ids, NDArray[np.float64], NDArray[np.float64]],
    place: tuple[int, int],
    sending: tuple[int, int, int, int],
    rates: NDArray[np.float64],
    loads: NDArray[np.float64],
) -> float: ...

# For each step, the chunks on the most loaded link; ValueError says what is wrong.
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
    owners: Ids,  # for each shard, the node whose shard it is
    is_reduction: bool,
) -> NDArray[np.uint64]: ...

# For each path, its number of chunks, and the load of the most loaded class. The paths of pair i
# are pair_begin[i] … pair_begin[i + 1]-1. Path j uses times[k] links of class kind[k], for k in
# use_begin[j] … use_begin[j + 1]-1. `given` is rounded down where `is_rounded`.
def share_chunks(
    pair_begin: Ids,
    use_begin: Ids,
    kind: Ids,
    times: Ids,
    kinds: int,
    given: Ids,
    is_rounded: NDArray[np.uint8],
    chunks: int,
    rounds: int,
) -> tuple[Ids, int]: ...

# Pairs of an instruction and the last that wrote a place before it reads it. Instructions come in
# an order in which they can be executed; a place is the code of a buffer times `width` and an
# offset, or -1. ValueError if the arrays do not fit together.
def last_writers(
    rank: Numbers, read: Numbers, write: Numbers, count: Numbers, width: int
) -> tuple[Numbers, Numbers]: ...

# The steps of a thread block as lines of MSCCL XML. `steps` has the columns of
# `topology_gen.lowering.algorithm.Table`; ValueError if a code has no name.
def step_lines(steps: Numbers, kinds: list[str], buffers: list[str]) -> str: ...

# The greatest distance and the sum of the distances from the roots to all others; ValueError if a
# node is not reached.
def distances(nodes: int, source: Ids, target: Ids, roots: Ids) -> tuple[int, int]: ...

# The same from the nodes 0 … roots-1, where rule i links node x to target[i·nodes + x].
def rule_distances(nodes: int, target: Ids, roots: int) -> tuple[int, int]: ...

# For each node, its mate or -1, and twice its dual variable. Every edge joins two different nodes,
# and every weight is at least 1.
def heaviest_matching(
    nodes: int, first: NDArray[np.int32], second: NDArray[np.int32], weight: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

# For each root and class of links, the load if the root sends 1 to every other node over shortest
# paths, where `length` gives the length of each class; and for each root, the sum of its distances.
def tree_loads(
    nodes: int,
    source: Ids,
    target: Ids,
    roots: Ids,
    link_class: Ids,
    length: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

# The sum of the distances from the roots to all other nodes, where `length` gives the length of
# each class of links; ValueError if a node is not reached.
def sum_distances(
    nodes: int,
    source: Ids,
    target: Ids,
    roots: Ids,
    link_class: Ids,
    length: NDArray[np.float64],
) -> float: ...

# For each class of links, the load if every root sends 1 to every other node over all walks of at
# most `hops` links. The probability of a walk is in proportion to the product of the weights of its
# links' classes.
def walk_loads(
    nodes: int,
    source: Ids,
    target: Ids,
    roots: Ids,
    link_class: Ids,
    weight: NDArray[np.float64],
    hops: int,
) -> NDArray[np.float64]: ...

# None if each of the first `receivers` nodes can get what all nodes supply. Otherwise a cut that is
# too small: for each node, 1 if it is on the senders' side.
def tightest_cut(
    nodes: int,
    source: Ids,
    target: Ids,
    capacity: NDArray[np.int64],
    supply: NDArray[np.int64],
    receivers: int,
) -> NDArray[np.uint8] | None: ...

# Spanning trees, `wanted[v]` from each node v, as (root, number of equal trees, links); ValueError
# if the capacities do not suffice. The link into a node precedes the links out of it.
def pack_trees(
    nodes: int,
    source: Ids,
    target: Ids,
    capacity: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> list[tuple[int, int, list[int]]]: ...

# As `pack_trees`, but each tree has shortest paths; None if such trees do not fit the capacities.
def shallow_trees(
    nodes: int,
    source: Ids,
    target: Ids,
    capacity: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> list[tuple[int, int, list[int]]] | None: ...

# The links between the first `ranks` nodes, and paths over the others that replace all other links,
# as (source, target, capacity, links). Ranks can get as much from each other as before.
def remove_switches(
    nodes: int,
    source: Ids,
    target: Ids,
    capacity: NDArray[np.int64],
    supply: NDArray[np.int64],
    ranks: int,
) -> list[tuple[int, int, int, list[int]]]: ...

# Chunks on links that differ, such that the last link is done as early as possible. Group i may use
# links[begin[i]:begin[i + 1]]; the answer has the chunks of each of these entries.
def balance_uneven(
    begin: Ids,
    links: Ids,
    chunks: NDArray[np.int64],
    latency: NDArray[np.float64],
    chunk_time: NDArray[np.float64],
) -> NDArray[np.int64]: ...
