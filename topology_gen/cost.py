"""The cost of a network in dollars, by architecture (TopoOpt's cost model).

In architectures without packet switches, a server has `degree` ports of a bandwidth B. In the
others, a server has one link of degree·B.

Source: W. Wang et al., "TopoOpt: Co-optimizing network topology and parallelization strategy for
distributed training jobs", NSDI 2023, sections 5.1 and 5.2, and Appendix G with its Table 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def direct_connect(servers: int, degree: int, rate_bps: int, seed: int = 1) -> Bill:
    """Return the bill of an expander, in which fibres link ports directly, without switches."""
    bill = _interfaces(servers, degree, rate_bps)
    return Bill(
        nics=bill.nics,
        transceivers=bill.transceivers,
        fibres=fibre_cost(-(-servers * degree // 2), seed),
    )


def topoopt(servers: int, degree: int, rate_bps: int, seed: int = 1) -> Bill:
    """Return the bill of TopoOpt on patch panels.

    A 1×2 switch at each port connects it to two patch panels: one in use, and one on which the
    topology of the next job is prepared. Each port therefore needs two patch panel ports. The bill
    counts one fibre for each port, from the server to the panels.
    """
    bill = _interfaces(servers, degree, rate_bps)
    interfaces = servers * degree
    return Bill(
        nics=bill.nics,
        transceivers=bill.transceivers,
        patch_panel_ports=2 * interfaces * PATCH_PANEL_PORT,
        optical_switches=interfaces * OPTICAL_SWITCH,
        fibres=fibre_cost(interfaces, seed),
    )


def ocs_reconfig(servers: int, degree: int, rate_bps: int, seed: int = 1) -> Bill:
    """Return the bill of optical circuit switches, also if they run TopoOpt.

    Circuit switches change links fast enough that a port needs no second switch port.
    """
    bill = _interfaces(servers, degree, rate_bps)
    interfaces = servers * degree
    return Bill(
        nics=bill.nics,
        transceivers=bill.transceivers,
        ocs_ports=interfaces * OCS_PORT,
        fibres=fibre_cost(interfaces, seed),
    )


def ideal_switch(servers: int, degree: int, rate_bps: int, seed: int = 1) -> Bill:
    """Return the bill of one ideal switch: a fat tree of full bisection bandwidth."""
    _check(servers, degree)
    return fat_tree(servers, degree * rate_bps, seed)


def oversubscribed_fat_tree(servers: int, degree: int, rate_bps: int, seed: int = 1) -> Bill:
    """Return the bill of a fat tree with 2:1 oversubscription: half the links above tier 1."""
    _check(servers, degree)
    return fat_tree(servers, degree * rate_bps, seed, oversubscription=2)


def fat_tree(servers: int, link_bps: int, seed: int = 1, oversubscription: int = 1) -> Bill:
    """Return the bill of a three-tier fat tree in which each server has one NIC and one link.

    A k-ary fat tree has k³/4 servers. It has 5 switch ports and 3 links for each server, and a
    transceiver at each end of each link. Other numbers of servers cost in proportion. If links are
    faster than the fastest parts, several parts in parallel form a link. The cheapest parts are
    used.

    Parameters
    ----------
    servers : int
        Number of servers, at least 1.
    link_bps : int
        Bandwidth of every link in bit/s, at least 1.
    seed : int
        Seed of the random lengths of the fibres.
    oversubscription : int
        The factor by which there are fewer links above the first tier.

    Raises
    ------
    CostError
        There are no servers, or the bandwidth is below 1 bit/s.
    Examples
    --------
    >>> bill = fat_tree(128, 100 * 10**9)
    >>> bill.switch_ports, bill.transceivers, bill.nics
    (119680.0, 76032.0, 86784.0)
    """
    _check(servers, 1)
    if link_bps < 1:
        raise CostError(f"{link_bps} bit/s a link: expected at least 1")
    fastest = PRICES[-1].rate_bps
    usable = [p for p in PRICES if p.rate_bps >= min(link_bps, fastest)]
    bills = [_fat_tree(servers, p, -(-link_bps // p.rate_bps), oversubscription) for p in usable]
    best, fibres = min(bills, key=lambda bill: bill[0].total)
    return Bill(best.nics, best.transceivers, best.switch_ports, fibres=fibre_cost(fibres, seed))


def _fat_tree(servers: int, prices: Prices, lanes: int, oversubscription: int) -> tuple[Bill, int]:
    """Return the bill without fibres, and the number of fibres."""
    above = 2 * servers / oversubscription  # links of the two upper tiers
    bill = Bill(
        nics=float(servers * -(-lanes // NIC_PORTS) * prices.nic),
        transceivers=2 * (servers + above) * lanes * prices.transceiver,
        switch_ports=(servers + 2 * above) * lanes * prices.switch_port,
    )
    return bill, round((servers + above) * lanes * prices.fibres)


def _interfaces(servers: int, degree: int, rate_bps: int) -> Bill:
    """Return the bill of the servers' NICs and transceivers in a direct-connect network."""
    _check(servers, degree)
    prices = prices_for(rate_bps)
    return Bill(
        nics=servers * degree * prices.nic / NIC_PORTS,
        transceivers=float(servers * degree * prices.transceiver),
    )


def _check(servers: int, degree: int) -> None:
    if servers < 1:
        raise CostError(f"{servers} servers: expected at least 1")
    if degree < 1:
        raise CostError(f"degree {degree}: expected at least 1")


class Architecture(NamedTuple):
    """An architecture: a one-line description, and the function that computes its bill."""

    text: str
    bill: Callable[[int, int, int, int], Bill]


ARCHITECTURES: Mapping[str, Architecture] = {
    "topoopt": Architecture("TopoOpt on patch panels with look-ahead ports", topoopt),
    "ocs_reconfig": Architecture("optical circuit switches, also under TopoOpt", ocs_reconfig),
    "ideal_switch": Architecture("a full-bisection fat tree of links of degree × B", ideal_switch),
    "oversubscribed_fat_tree": Architecture(
        "the same fat tree with half the links above tier 1", oversubscribed_fat_tree
    ),
    "expander": Architecture("servers linked directly by fixed links", direct_connect),
}
"""The paper's architectures, except SiP-ML: its parts have no market price."""


def equivalent_bandwidth(servers: int, degree: int, rate_bps: int, seed: int = 1) -> float:
    """Return B′, the port bandwidth at which a fat tree costs as much as TopoOpt does.

    The fat tree has full bisection bandwidth, and each server has one link of degree·B′. Parts come
    in fixed speeds; the cost between two speeds is interpolated.

    Parameters
    ----------
    servers, degree : int
        Size and degree of the TopoOpt network, at least 1.
    rate_bps : int
        B, the bandwidth of each of its ports in bit/s.
    seed : int
        Seed of the random lengths of the fibres.

    Returns
    -------
    float
        B′ in bit/s.

    Raises
    ------
    CostError
        A parameter is out of range, or the budget is too small for any fat tree.

    Examples
    --------
    >>> round(equivalent_bandwidth(128, 4, 100 * 10**9) / 10**9)
    32
    """
    return _link_rate(servers, topoopt(servers, degree, rate_bps, seed).total, seed) / degree


def _link_rate(servers: int, budget: float, seed: int) -> float:
    """Return the link bandwidth of the fat tree that costs exactly the budget."""
    fastest = PRICES[-1].rate_bps
    steps = [prices.rate_bps for prices in PRICES]
    costs = [fat_tree(servers, step, seed).total for step in steps]
    if budget < costs[0]:
        raise CostError(
            f"{budget:.0f} dollars for {servers} servers: a fat tree costs at least {costs[0]:.0f}"
        )
    while costs[-1] < budget:
        steps.append(steps[-1] + fastest)
        costs.append(fat_tree(servers, steps[-1], seed).total)
    return float(np.interp(budget, costs, steps))
