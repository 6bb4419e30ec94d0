"""Double binary tree: two trees, where interior nodes of one are leaves of the other."""

from __future__ import annotations

from topology_gen.graphs.digraph import Digraph, from_pairs
from topology_gen.graphs.families.parameters import check_least, check_size


def double_binary_tree(nodes: int) -> Digraph:
    """Return the links of both trees, each way; links that the trees share are kept twice.

    Not regular: most nodes have three or four links, the roots fewer.

    Parameters
    ----------
    nodes : int
        At least 2.

    Raises
    ------
    ParameterError
        Fewer than 2 nodes, or more than fit.

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
        # The parent has the lowest set bit moved one place up, where that is a node.
        bit = node & -node
        parent = (node ^ bit) | (bit << 1)
        pairs.append((node, parent if parent < nodes else node ^ bit))
    # The second tree is the first mirrored, or shifted by one node where their number is odd.
    place = [nodes - 1 - v if nodes % 2 == 0 else (v + 1) % nodes for v in range(nodes)]
    pairs += [(place[node], place[parent]) for node, parent in pairs]
    return from_pairs(f"DoubleBinaryTree({nodes})", nodes, pairs)
