"""The prices of the parts of a network, and the bill that adds them up.

Source: W. Wang et al., "TopoOpt: Co-optimizing network topology and parallelization strategy for
distributed training jobs", NSDI 2023, Appendix G and its Table 2.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from topology_gen.errors import CostError

DOLLARS_PER_METRE = 0.3
"""Price of a fibre for each metre."""

LONGEST_METRES = 1000.0
"""Length of the longest fibre; lengths are uniformly distributed between 0 and this."""

PATCH_PANEL_PORT = 100.0
OCS_PORT = 520.0
OPTICAL_SWITCH = 25.0
"""Dollars at any bandwidth: a port of a patch panel, a port of an optical circuit switch, and a 1×2
switch."""


class Prices(NamedTuple):
    """Prices in dollars at one bandwidth: a transceiver, a NIC with two ports, and a switch port.

    At 200 Gbps, a link consists of two links of 100 Gbps, so it takes two fibres.
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
"""Number of ports of a NIC."""


def prices_for(rate_bps: int) -> Prices:
    """Return the prices of the slowest parts that are fast enough.

    Parameters
    ----------
    rate_bps : int
        The bandwidth of a port in bit/s.

    Raises
    ------
    CostError
        The bandwidth is below 1 bit/s, or above that of the fastest parts.

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
        """Dollars for all parts together."""
        return float(sum(getattr(self, part.name) for part in fields(self)))


def fibre_cost(count: int, seed: int = 1) -> float:
    """Return the dollars for some fibres of random lengths.

    With the same seed, a larger number of fibres includes the fibres of a smaller number.

    Examples
    --------
    >>> round(fibre_cost(100_000) / 100_000)
    150
    """
    lengths = np.random.default_rng(seed).uniform(0, LONGEST_METRES, count)
    return float(DOLLARS_PER_METRE * lengths.sum())
