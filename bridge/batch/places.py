"""Finds the place of tasks at an address."""

from __future__ import annotations

import re

from bridge.batch.workers import Place, Workers
from bridge.errors import InputError


def place_at(address: str | None) -> Place:
    """Return the place at an address.

    Parameters
    ----------
    address : str or None
        ``ray`` or ``ray://HOST:PORT`` for a Ray cluster; None for the cores of this machine.

    Raises
    ------
    InputError
        This is no address, or nothing can run there.
    """
    if address is None:
        return Workers()
    if address != "ray" and not re.fullmatch(r"ray://[^\s/:]+:\d+", address):
        raise InputError(f"--on {address}: expected ray or ray://HOST:PORT")
    from bridge.batch.ray_cluster import RayCluster

    return RayCluster(address)
