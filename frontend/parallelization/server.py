"""A server's work: what an operator's placement asks of each of its servers, and how long it takes.

A server has several GPUs. They divide its samples evenly, and all of them have the weights, so that
each moves all of these; a table's rows are spread over them. The gradients of the weights are
summed inside the server by reduce-scatter and all-gather over NVLink before anything leaves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.parallelization.operators import Operator
from frontend.parallelization.strategy import Placement
from frontend.parallelization.transfers import part_bounds, samples

Amounts = NDArray[np.float64]


class Server(NamedTuple):
    """What every server is made of; rates and memory are those of one of its GPUs.

    Attributes
    ----------
    gpus : int
    peak_flops : float
        Floating-point operations a second.
    memory_bandwidth : float
        Bytes a second.
    efficiency : float
        Fraction of both that operators reach.
    memory_bytes : float
    link_bandwidth : float
        Of NVLink, bytes a second each way.
    """

    gpus: int
    peak_flops: float
    memory_bandwidth: float
    efficiency: float
    memory_bytes: float
    link_bandwidth: float


class Work(NamedTuple):
    """What each server of a placement does for an operator, in the order of the servers.

    Attributes
    ----------
    forward, backward : float array
        Seconds; backward holds the sum of gradients inside the server.
    memory_bytes : float array
        Of all its GPUs: weights and as many gradients on each GPU, but a table once, and the
        output of its samples.
    """

    forward: Amounts
    backward: Amounts
    memory_bytes: Amounts


def work(operator: Operator, placement: Placement, batch: int, server: Server) -> Work:
    """Return the work of an operator.

    A server without samples, as there are more servers than samples, only stores weights.

    Parameters
    ----------
    operator : Operator
    placement : Placement
        Of the operator.
    batch : int
        Samples of all servers.
    server : Server
        What every server is made of.

    Examples
    --------
    >>> from frontend.roofline import Cost
    >>> layer = Operator("layer", (), Cost(1000, 8), Cost(2000, 16))
    >>> server = Server(2, 1e3, 1e9, 0.5, 1e9, 1e9)
    >>> done = work(layer, Placement("data", (0, 1)), 8, server)
    >>> done.forward.tolist(), done.backward.tolist()
    ([4.0, 4.0], [8.0, 8.0])
    """
    first, end = samples(placement, batch)
    own = (end - first).astype(np.float64)
    share = np.ones(own.size)
    weights = np.full(own.size, float(operator.weight_bytes))
    output = own * operator.output_bytes
    if placement.kind == "attribute":
        weights = np.diff(part_bounds(placement, operator, operator.weight_bytes)).astype(float)
        share = np.diff(part_bounds(placement, operator, operator.parts)) / operator.parts
        output = batch * np.diff(part_bounds(placement, operator, operator.output_bytes))
    # Every GPU moves the weights: as a server, it moves them so many times.
    moved = share * operator.weight_traffic * server.gpus
    forward = _seconds(own * share, operator.forward, moved, server)
    # Backward reads the weights for the inputs' gradients, and writes the weights' gradients.
    backward = _seconds(own * share, operator.backward, 2 * moved, server)
    copies = 1
    if not operator.table:
        copies = 2 * server.gpus
        sent = 2 * (server.gpus - 1) / server.gpus * weights
        backward += np.where(own > 0, sent / server.link_bandwidth, 0)
    return Work(forward, backward, copies * weights + output)


def _seconds(
    amount: Amounts, cost: tuple[int, int], weights_moved: Amounts, server: Server
) -> Amounts:
    """Return how long some samples' cost takes on all GPUs of a server: the roofline."""
    flop, memory_bytes = cost
    arithmetic = amount * flop / server.peak_flops
    traffic = (amount * memory_bytes + weights_moved) / server.memory_bandwidth
    bound = np.maximum(arithmetic, traffic) / (server.gpus * server.efficiency)
    return np.where(amount > 0, bound, 0)
