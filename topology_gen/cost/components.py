"""What the parts of a network cost, and how many of each one has.

Source: W. Wang et al., "TopoOpt: Co-optimizing network topology and parallelization strategy for
distributed training jobs", NSDI 2023, Appendix G and its Table 2.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from topology_gen.errors import CostError

DOLLARS_PER_METRE = 0.3
"""Of a fibre."""

LONGEST_METRES = 1000.0
"""A fibre's length is uniform between 0 and this."""

PATCH_PANEL_PORT = 100.0
OCS_PORT = 520.0
OPTICAL_SWITCH = 25.0
"""Dollars, whatever the bandwidth: a port of a patch panel, one of an optical circuit switch, and a
1×2 switch."""


class Prices(NamedTuple):
    """Dollars for a bandwidth: a transceiver, a NIC of two ports, and a port of a packet switch.

    At 200 Gbps transceivers, switch ports and fibres are two of 100 Gbps.
    """

    rate_bps: int
    transceiver: float
    nic: float
    switch_port: float
    fibres: int


PRICES = (
    Prices(10 * 10**9, 20, 185, 94, 1),
    Prices(25 * 10**9, 39, 185, 144, 1),
    Prices(40 * 10**9, 39, 354, 144, 1),
    Prices(100 * 10**9, 99, 678, 187, 1),
    Prices(200 * 10**9, 198, 815, 374, 2),
)

NIC_PORTS = 2
"""Ports of a NIC: two of them count as one of four ports."""


def prices_for(rate_bps: int) -> Prices:
    """Return the prices of the slowest parts that are fast enough.

    Raises
    ------
    CostError
        A rate below 1 bit/s, or above the fastest there are.

    Examples
    --------
    >>> prices_for(50 * 10**9).nic
    678
    """
    for prices in PRICES:
        if 1 <= rate_bps <= prices.rate_bps:
            return prices
    fastest = PRICES[-1].rate_bps // 10**9
    raise CostError(f"{rate_bps / 10**9:g} Gbps a port: expected more than 0, at most {fastest}")


@dataclass(frozen=True)
class Bill:
    """Dollars for each kind of part of a network."""

    nics: float = 0.0
    transceivers: float = 0.0
    switch_ports: float = 0.0
    patch_panel_ports: float = 0.0
    ocs_ports: float = 0.0
    optical_switches: float = 0.0
    fibres: float = 0.0

    @property
    def total(self) -> float:
        """Dollars for all of them."""
        return float(sum(getattr(self, part.name) for part in fields(self)))


def fibre_cost(count: int, seed: int = 1) -> float:
    """Return the dollars for some fibres, whose lengths are drawn at random.

    Of one seed, more fibres are the same ones and some more.

    Examples
    --------
    >>> round(fibre_cost(100_000) / 100_000)
    150
    """
    lengths = np.random.default_rng(seed).uniform(0, LONGEST_METRES, count)
    return float(DOLLARS_PER_METRE * lengths.sum())
