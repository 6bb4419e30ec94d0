"""Compute the time and memory that an operator takes on each server of its placement.

A server has several GPUs, which divide its samples evenly. Every GPU has all weights of the server
and moves all of them; only the rows of a table are spread over the GPUs. A reduce-scatter and an
all-gather over NVLink sum the gradients of the weights inside the server, before the server sends
them.
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
    """Hardware of a server. Rates and memory are those of one GPU.

    Attributes
    ----------
    gpus : int
        Number of GPUs.
    peak_flops : float
        Floating-point operations per second.
    memory_bandwidth : float
        Memory bandwidth in bytes per second.
    efficiency : float
        Fraction of both rates that operators reach.
    memory_bytes : float
        Memory size.
    link_bandwidth : float
        NVLink bandwidth in bytes per second, in each direction.
    """

    gpus: int
    peak_flops: float
    memory_bandwidth: float
    efficiency: float
    memory_bytes: float
    link_bandwidth: float


class Work(NamedTuple):
    """The work for an operator on each server of its placement, in the order of the servers.

    Attributes
    ----------
    forward, backward : float array
        Time of each phase in seconds. `backward` includes summing gradients inside the server.
    memory_bytes : float array
        Memory on all GPUs of the server: weights and gradients on each GPU (a table is stored
        once, without gradients), and the output of its samples.
    """

    forward: Amounts
    backward: Amounts
    memory_bytes: Amounts


def work(operator: Operator, placement: Placement, batch: int, server: Server) -> Work:
    """Return the work of an operator on each server of its placement.

    If there are more servers than samples, servers without samples only store weights.

    Parameters
    ----------
    operator : Operator
        The operator.
    placement : Placement
        Placement of the operator.
    batch : int
        Number of samples on all servers together.
    server : Server
        Hardware of each server.

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
    # Every GPU moves all weights, so the server moves them once per GPU.
    moved = share * operator.weight_traffic * server.gpus
    forward = _seconds(own * share, operator.forward, moved, server)
    # The backward phase reads the weights for the gradients of the inputs, and writes the gradients
    # of the weights.
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
    """Return the time of some samples on all GPUs of a server, by the roofline model."""
    flop, memory_bytes = cost
    arithmetic = amount * flop / server.peak_flops
    traffic = (amount * memory_bytes + weights_moved) / server.memory_bandwidth
    bound = np.maximum(arithmetic, traffic) / (server.gpus * server.efficiency)
    return np.where(amount > 0, bound, 0)
