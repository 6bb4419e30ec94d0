"""Programs by rotation: all members run the same steps, each turned to its place in the group."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from frontend.collectives.program.program import (
    Array,
    Ints,
    Program,
    is_message,
    narrowed,
)
from frontend.collectives.program.repetition import Repetition
from frontend.collectives.program.symmetric import symmetric


@dataclass(frozen=True, eq=False)
class Rotation:
    """A program given by the T steps of member 0, in one phase.

    Member g runs them with other peers and addresses. Its peer is the one of member 0, plus g,
    modulo N. An address with the turn t is ``g * t`` units further in its region. The region has
    ``N * t`` units and begins at a multiple of this size; its first unit follows its last one. An
    address with turn 0 is the same for all members.

    Parameters
    ----------
    name, operation, group_size, units, space, equal_units, phase_dimension, root
        As in `Program`; `space` defaults to `units`.
    op, peer, offset, count, target, route : array of uint32, shape (T,)
        As in `Program`, for member 0. For messages, `target` is the index of the partner step,
        which is the same for every member. `route` may be empty.
    edges : array, shape (m, 2)
        Dependencies, sorted by the first index. Each row is the index of a step and the index of a
        step that it waits for.
    offset_turn, target_turn : array of uint32, shape (T,)
        Turns of `offset`, and of `target` if it is an address.
    """

    name: str
    operation: str
    group_size: int
    units: int
    phase_dimension: tuple[str, ...]
    op: Array
    peer: Array
    offset: Array
    count: Array
    target: Array
    edges: Ints
    offset_turn: Array
    target_turn: Array
    space: int
    equal_units: bool = False
    route: Array = field(default_factory=lambda: np.zeros(0, np.uint32))
    root: int = 0

    @property
    def steps(self) -> int:
        """Total number of steps of all members."""
        return self.group_size * int(self.op.size)

    def table(self) -> Program:
        """Return the program with the steps of every member."""
        member = np.arange(self.group_size)[:, None]
        return symmetric(
            self.name,
            self.operation,
            self.group_size,
            units=self.units,
            space=self.space,
            equal_units=self.equal_units,
            dimension=self.phase_dimension[0],
            op=self.op,
            peer=(self.peer + member) % self.group_size,
            offset=self._turned(self.offset, self.offset_turn),
            count=self.count,
            target=self._turned(self.target, self.target_turn),
            edges=self.edges,
            route=np.tile(self.route, self.group_size),
        )

    def _turned(self, address: Array, turn: Array) -> Ints:
        """Return an address of each member and step, shape (N, T)."""
        size = np.maximum(self.group_size * turn.astype(np.int64), 1)
        region, place = np.divmod(address.astype(np.int64), size)
        further = np.arange(self.group_size)[:, None] * turn.astype(np.int64)
        return region * size + (place + further) % size


Stepped = Program | Rotation | Repetition
"""A program by its own steps: all of them, those of member 0, or those of one repetition."""


def rotation(
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
    edges: Ints | None = None,
    count: npt.ArrayLike = 1,
    offset_turn: npt.ArrayLike = 1,
    target_turn: npt.ArrayLike = 0,
    space: int | None = None,
    equal_units: bool = False,
    route: npt.ArrayLike = (),
) -> Rotation:
    """Return the `Rotation` of some steps of member 0; single values stand for all steps."""
    ops = narrowed(op)

    def column(values: npt.ArrayLike) -> Array:
        return narrowed(np.broadcast_to(np.asarray(values), ops.shape))

    return Rotation(
        name=name,
        operation=operation,
        group_size=group_size,
        units=units,
        space=space or units,
        equal_units=equal_units,
        phase_dimension=(dimension,),
        op=ops,
        peer=np.where(is_message(ops), column(peer), np.uint32(0)),
        offset=column(offset),
        count=column(count),
        target=column(target),
        edges=np.zeros((0, 2), np.int64) if edges is None else edges,
        offset_turn=column(offset_turn),
        target_turn=np.where(is_message(ops), np.uint32(0), column(target_turn)),
        route=narrowed(route),
    )
