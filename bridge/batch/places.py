"""Finds the place of tasks at an address."""

from __future__ import annotations

import re

from bridge.batch.this_process import ThisProcess
from bridge.batch.workers import Place, Workers
from bridge.errors import InputError
from frontend.collectives.registry import ALGORITHMS
from frontend.placements import PLACEMENTS
from frontend.topologies import TOPOLOGIES
from frontend.workloads import WORKLOADS

_SIMULATED = (ALGORITHMS, PLACEMENTS, TOPOLOGIES, WORKLOADS)
"""What a scenario can name; child processes do not know what `cosim.register` has added here."""


def place_at(address: str | None) -> Place:
    """Return the place at an address.

    Parameters
    ----------
    address : str or None
        ``ray`` or ``ray://HOST:PORT`` for a Ray cluster; None for the cores of this machine, or
        for this process if `cosim.register` has added a part to it.

    Raises
    ------
    InputError
        This is no address, or nothing can run there.
    """
    if address is None:
        return ThisProcess() if any(one.has_own for one in _SIMULATED) else Workers()
    if address != "ray" and not re.fullmatch(r"ray://[^\s/:]+:\d+", address):
        raise InputError(f"--on {address}: expected ray or ray://HOST:PORT")
    from bridge.batch.ray_cluster import RayCluster

    return RayCluster(address)
