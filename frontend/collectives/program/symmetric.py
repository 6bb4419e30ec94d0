"""Build programs in which all members run the same steps, without a Python loop over members."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from frontend.collectives.program.program import Array, Ints, Program, is_message, narrowed


def symmetric(
    name: str,
    operation: str,
    group_size: int,
    *,
    units: int,
    dimension: str,
    op: npt.ArrayLike,
    peer: npt.ArrayLike,
    offset: npt.ArrayLike,
    target: npt.ArrayLike,
    edges: Ints,
    count: npt.ArrayLike = 1,
    space: int | None = None,
    equal_units: bool = False,
    route: npt.ArrayLike = (),
) -> Program:
    """Return the program in which each of N members runs T steps in one phase.

    Parameters
    ----------
    op : array_like, shape (T,)
        Operation of each step.
    peer, offset, count, target : array_like, broadcast to (N, T)
        Values for each member and step. For messages, `target` is the index (0 … T-1) of the
        partner step in the list of the peer.
    edges : array, shape (m, 2)
        Dependencies, which are the same for each member. Each row is the index of a step and the
        index of a step that it waits for. Rows are sorted by the first index.
    route : array_like, shape (N · T,), optional
        As in `Program`.
    """
    ops = np.asarray(op, np.uint32)
    steps = ops.size
    shape = (group_size, steps)
    own = np.arange(group_size, dtype=np.uint32)[:, None]
    message = is_message(ops)
    peers = np.where(message, np.broadcast_to(np.asarray(peer, np.uint32), shape), own)
    targets = np.broadcast_to(np.asarray(target, np.uint32), shape)
    targets = np.where(message, peers * np.uint32(steps) + targets, targets)
    waits = np.bincount(edges[:, 0], minlength=steps).astype(np.uint32)
    first = own * np.uint32(steps)

    def flat(array: npt.ArrayLike) -> Array:
        return np.ascontiguousarray(
            np.broadcast_to(np.asarray(array, np.uint32), shape), np.uint32
        ).reshape(-1)

    return Program(
        name,
        operation,
        group_size,
        units,
        space or units,
        equal_units,
        (dimension,),
        np.arange(group_size + 1, dtype=np.uint32) * np.uint32(steps),
        flat(ops),
        np.zeros(group_size * steps, np.uint32),
        flat(peers),
        flat(offset),
        flat(count),
        flat(targets),
        np.concatenate(([0], np.cumsum(np.tile(waits, group_size)))).astype(np.uint32),
        (first + edges[:, 1].astype(np.uint32)[None, :]).reshape(-1),
        narrowed(route),
    )


def edge_list(pairs: list[tuple[int, int]]) -> Ints:
    """Return (step, step that it waits for) pairs as the sorted array that `symmetric` takes."""
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)
