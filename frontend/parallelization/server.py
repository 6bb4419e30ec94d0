"""Compute the time and memory that an operator takes on each server of its placement.

A server has several GPUs, which divide its samples or its columns evenly.

If they divide the samples, every GPU has all weights of the server and moves all of them; only the
rows of a table are spread over the GPUs. A reduce-scatter and an all-gather over NVLink sum the
gradients of the weights inside the server, before the server sends them.

If they divide the columns, every GPU has a part of the weights. An all-gather over NVLink gives
every GPU the inputs of all samples, and an all-to-all gives every GPU all columns of its samples of
the output. In the backward phase, gradients move the other way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.parallelization.operators import Operator, StrategyError
from frontend.parallelization.strategy import Placement, bounds
from frontend.parallelization.transfers import columns, rows, samples

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
        Time of each phase in seconds.
    summing : float array
        Time of summing the gradients of weights inside the server in seconds, after the backward
        phase of the last micro-batch.
    memory_bytes : float array
        Memory on all GPUs of the server: weights and gradients on each GPU (a table is stored
        once, without gradients), and the output of its samples.
    """

    forward: Amounts
    backward: Amounts
    summing: Amounts
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

    Raises
    ------
    StrategyError
        If the GPUs divide the columns, and there are more GPUs than parts.

    Examples
    --------
    >>> from frontend.roofline import Cost
    >>> layer = Operator("layer", (), Cost(1000, 8), Cost(2000, 16))
    >>> server = Server(2, 1e3, 1e9, 0.5, 1e9, 1e9)
    >>> done = work(layer, Placement((0, 1)), 8, server)
    >>> done.forward.tolist(), done.backward.tolist()
    ([4.0, 4.0], [8.0, 8.0])
    """
    if placement.gpus == "columns" and operator.parts < server.gpus:
        raise StrategyError(
            f"operator {operator.name}: gpus columns: {server.gpus} GPUs, expected at most "
            f"{operator.parts}, its number of parts"
        )
    first, end = samples(placement, batch)
    own = (end - first).astype(np.float64)
    low, high = columns(placement, operator, operator.parts)
    top, bottom = rows(placement, operator, operator.rows)
    share = (high - low) / operator.parts * ((bottom - top) / operator.rows)
    low, high = columns(placement, operator, operator.output_bytes)
    output = own * (high - low)
    weights = np.array(weight_bytes(operator, placement), dtype=np.float64)
    divided = placement.gpus == "columns"
    # Every GPU moves its weights: all of the server, or a part of the columns.
    copies = 1 if divided else server.gpus
    moved = share * operator.weight_traffic * copies
    forward = _seconds(own * share, operator.forward, moved, server)
    # The backward phase reads the weights for the gradients of the inputs, and writes the gradients
    # of the weights.
    backward = _seconds(own * share, operator.backward, 2 * moved, server)
    summing = np.zeros_like(backward)
    others = (server.gpus - 1) / server.gpus
    if divided:
        # Forward, every GPU gathers the inputs, and the outputs move to the GPUs of the samples.
        # Backward, as much moves the other way.
        read = own * operator.input_bytes * ((bottom - top) / operator.rows)
        regrouped = others * (read + output / server.gpus) / server.link_bandwidth
        forward += regrouped
        backward += regrouped
    elif not operator.table:
        summing = np.where(own > 0, 2 * others * weights / server.link_bandwidth, 0)
    stored = 1 if operator.table else 2 * copies
    return Work(forward, backward, summing, stored * weights + output)


def weight_bytes(operator: Operator, placement: Placement) -> list[int]:
    """Return the bytes of the weights on each server of a placement."""
    low, high = columns(placement, operator, operator.weight_bytes)
    if placement.rows == 1:
        whole: list[int] = (high - low).tolist()
        return whole
    place = np.arange(len(placement.servers)) % placement.rows
    cuts = bounds(operator.rows, placement.rows)
    return [
        size * cuts[row + 1] // operator.rows - size * cuts[row] // operator.rows
        for size, row in zip((high - low).tolist(), place.tolist(), strict=True)
    ]


def _seconds(
    amount: Amounts, cost: tuple[int, int], weights_moved: Amounts, server: Server
) -> Amounts:
    """Return the time of some samples on all GPUs of a server, by the roofline model."""
    flop, memory_bytes = cost
    arithmetic = amount * flop / server.peak_flops
    traffic = (amount * memory_bytes + weights_moved) / server.memory_bandwidth
    bound = np.maximum(arithmetic, traffic) / (server.gpus * server.efficiency)
    return np.where(amount > 0, bound, 0)
