"""Adds a part of the user's own to this process, such as an algorithm of a notebook."""

from __future__ import annotations

from typing import Any, TypeVar

from bridge.errors import InputError
from bridge.present.outputs import OUTPUTS, Output
from frontend.collectives.registry import ALGORITHMS, Algorithm
from frontend.placements import PLACEMENTS, PlacementPolicy
from frontend.scenario.model import add_kind
from frontend.topologies import TOPOLOGIES, TopologyFamily
from frontend.workloads import WORKLOADS, WorkloadKind
from topology_gen.registry import Registry

Entry = TypeVar(
    "Entry",
    bound="Algorithm | Output | PlacementPolicy | TopologyFamily[Any] | WorkloadKind[Any]",
)

_KINDS: dict[type, tuple[Registry[Any], str | None]] = {
    Algorithm: (ALGORITHMS, None),
    TopologyFamily: (TOPOLOGIES, "topology"),
    WorkloadKind: (WORKLOADS, "workload"),
    PlacementPolicy: (PLACEMENTS, None),
    Output: (OUTPUTS, None),
}
"""For each class of entries: its registry, and the block of a scenario that gets its keys."""


def register(entry: Entry) -> Entry:
    """Let scenarios of this process use a part of your own, and return it.

    Sweeps then run in this process, one point after the other, because their child processes know
    the parts of installed packages only.

    Parameters
    ----------
    entry : Algorithm, TopologyFamily, WorkloadKind, PlacementPolicy or Output
        What an entry point of a package would name. An entry that `register` has added before is
        replaced by one of its name, as when a cell of a notebook runs again.

    Raises
    ------
    InputError
        The object is no such entry, or cosim or a package has an entry of its name.

    Examples
    --------
    >>> from frontend.collectives.program.program import empty
    >>> from frontend.collectives.registry import Algorithm
    >>> def nothing(group_size):
    ...     return empty("mine", "barrier", "scale_out")
    >>> register(Algorithm("mine", "does nothing", {"barrier": nothing})).name
    'mine'
    """
    for kind, (registry, block) in _KINDS.items():
        if isinstance(entry, kind):
            try:
                registry.register_own(entry)
            except ValueError as error:
                raise InputError(str(error)) from None
            if block is not None:
                add_kind(block)
            return entry
    accepted = ", ".join(kind.__name__ for kind in _KINDS)
    raise InputError(f"{entry!r:.60}: expected an object of one of the classes {accepted}")
