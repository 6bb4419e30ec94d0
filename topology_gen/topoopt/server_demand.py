"""The transfers between servers of several GPUs, for a topology that joins servers."""

from __future__ import annotations

from topology_gen.topoopt.demand import AllReduce, Demand


def between_servers(demand: Demand, gpus: int) -> Demand:
    """Return what servers transfer to each other if GPUs have a demand.

    A group of GPUs is one of their servers: the GPUs of a server reduce their vectors first. Groups
    of the same servers become one, with their bytes together. What stays inside a server is left
    out.

    Parameters
    ----------
    demand : Demand
        The transfers of GPUs, which are numbered server by server.
    gpus : int
        GPUs of a server, a divisor of the demand's nodes.

    Examples
    --------
    Two rails of two servers, each with an all-reduce of its own:

    >>> import numpy as np
    >>> rails = (AllReduce((0, 2), 8), AllReduce((1, 3), 8))
    >>> between_servers(Demand(4, rails, np.ones((4, 4))), 2).groups
    (AllReduce(members=(0, 1), bytes=16),)
    """
    servers = demand.nodes // gpus
    groups: dict[tuple[int, ...], float] = {}
    for members, total in demand.groups:
        joined = tuple(dict.fromkeys(member // gpus for member in members))
        if len(joined) > 1:
            groups[joined] = groups.get(joined, 0) + total
    blocks = demand.mp.reshape(servers, gpus, servers, gpus).sum(axis=(1, 3))
    return Demand(servers, tuple(AllReduce(*group) for group in groups.items()), blocks)
