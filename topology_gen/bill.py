"""What any network costs, and the power that it takes, by a list of prices.

The parts are those of `topology_gen.cost`: a transceiver at each end of a cable, a port of a NIC or
of a switch behind it, and fibres.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topology_gen.cost import DOLLARS_PER_METRE, LONGEST_METRES, NIC_PORTS, PRICES
from topology_gen.networks.inventory import cables
from topology_gen.networks.network import Network
from topology_gen.networks.parts import ends_of_servers


@dataclass(frozen=True)
class Part:
    """A part that one can buy."""

    dollars: float | None = None
    """Its price; None if it is not known."""
    watts: float | None = None
    """Its power; None if it is not known."""


@dataclass(frozen=True)
class Parts:
    """The parts of links of a rate."""

    rate_bps: int
    transceiver: Part
    nic: Part
    switch_port: Part
    nic_ports: int = NIC_PORTS
    """Ports of a NIC."""
    fibres: int = 1
    """Fibres of a cable."""


@dataclass(frozen=True)
class PriceList:
    """Parts by rate, the slowest first."""

    parts: Sequence[Parts]
    fibre: Part
    """A fibre of mean length."""

    def parts_for(self, rate_bps: int) -> tuple[Parts, int]:
        """Return the slowest parts that are fast enough, and how many make a link in parallel."""
        fitting = next((one for one in self.parts if rate_bps <= one.rate_bps), self.parts[-1])
        return fitting, -(-rate_bps // fitting.rate_bps)


_40G, _100G, _200G = 40 * 10**9, 100 * 10**9, 200 * 10**9

TRANSCEIVER_WATTS = {_40G: 1.3, _100G: 3.5, _200G: 2 * 3.5}
"""Power of a transceiver [W] by its rate. 40 Gb/s: typical of NVIDIA's MMA1B00-B150D
(docs.nvidia.com/networking/display/mma1b00b150dspec/specifications); 100 Gb/s: greatest of a
100GBASE-SR4 module, Genuine Optronics MTRQ-4S101 (www.genuine-opto.com/yysqsfp28/277.jhtml). As in
the prices, 200 Gb/s are two of 100 Gb/s."""

SWITCH_PORT_WATTS = {_100G: round(169 / 32, 2), _200G: round(2 * 169 / 32, 2)}
"""Power of a switch [W] for each of its ports, without transceivers: NVIDIA's SN2700, which has 32
ports of 100 Gb/s, takes 169 W (``EPS_POWER_CONSUMPTIONS`` in
github.com/minyee/reconf_network_eval/blob/b4818fef60ebb82ef510e6d949cf6c0a5999baff/
power_consumption_analysis/power_analysis.py, from its data sheet)."""


def default_prices() -> PriceList:
    """Return the prices of Table 2 of the TopoOpt paper, and the power where a source is public.

    No source was found for the power of NICs.
    """
    return PriceList(
        [
            Parts(
                one.rate_bps,
                Part(one.transceiver, TRANSCEIVER_WATTS.get(one.rate_bps)),
                Part(one.nic),
                Part(one.switch_port, SWITCH_PORT_WATTS.get(one.rate_bps)),
                fibres=one.fibres,
            )
            for one in PRICES
        ],
        Part(DOLLARS_PER_METRE * LONGEST_METRES / 2, 0.0),
    )


@dataclass(frozen=True)
class Entry:
    """How many parts of a kind and rate a network needs."""

    kind: str
    """nic, transceiver, switch_port or fibre."""
    rate_bps: int
    count: int
    part: Part


def bill(network: Network, prices: PriceList) -> list[Entry]:
    """Return the parts of a network between servers.

    A node has whole NICs. Switches cost by their used ports.
    """
    found = cables(network)
    is_end = ends_of_servers(network)
    counts: Counter[tuple[str, int]] = Counter()
    parts: dict[tuple[str, int], Part] = {}
    for rate in np.unique(found.rate_bps).tolist():
        fitting, lanes = prices.parts_for(rate)
        ends = found.ends[found.rate_bps == rate]
        ports = np.bincount(ends[is_end[ends]], minlength=network.nodes) * lanes
        for kind, part, count in (
            ("nic", fitting.nic, int(np.sum(-(-ports // fitting.nic_ports)))),
            ("transceiver", fitting.transceiver, ends.size * lanes),
            ("switch_port", fitting.switch_port, ends.size * lanes - int(ports.sum())),
            ("fibre", prices.fibre, len(ends) * lanes * fitting.fibres),
        ):
            counts[kind, fitting.rate_bps] += count
            parts[kind, fitting.rate_bps] = part
    return [
        Entry(kind, rate, count, parts[kind, rate])
        for (kind, rate), count in counts.items()
        if count
    ]
