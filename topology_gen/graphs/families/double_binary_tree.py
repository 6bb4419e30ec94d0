"""Double binary tree: two trees; inner nodes of one tree are leaves of the other."""

from __future__ import annotations

from topology_gen.graphs.digraph import Digraph, from_pairs
from topology_gen.graphs.families.parameters import check_least, check_size


def double_binary_tree(nodes: int) -> Digraph:
    """Return a double binary tree: the links of two trees in both directions.

    Links that both trees use appear twice. The digraph is not regular: most nodes have three or
    four links, and the roots have fewer.

    Parameters
    ----------
    nodes : int
        Number of nodes, at least 2.

    Raises
    ------
    ParameterError
        There are fewer than 2 nodes, or too many.

    References
    ----------
    P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction
    and scan", Parallel Computing 35 (2009). The trees are NCCL's.

    Examples
    --------
    >>> graph = double_binary_tree(8)
    >>> graph.links, graph.diameter
    (28, 3)
    """
    check_least(2, nodes=nodes)
    check_size(nodes, 4)
    pairs = []
    for node in range(1, nodes):
        # The parent is the node with the lowest set bit moved up by one place, if it exists.
        bit = node & -node
        parent = (node ^ bit) | (bit << 1)
        pairs.append((node, parent if parent < nodes else node ^ bit))
    # The second tree is the first one mirrored, or shifted by one node if their number is odd.
    place = [nodes - 1 - v if nodes % 2 == 0 else (v + 1) % nodes for v in range(nodes)]
    pairs += [(place[node], place[parent]) for node, parent in pairs]
    return from_pairs(f"DoubleBinaryTree({nodes})", nodes, pairs)
