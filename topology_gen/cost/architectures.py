"""The parts that each architecture is built of, and so its cost.

In architectures without packet switches, a server has `degree` ports of a bandwidth B. In the
others, a server has one link of degree·B.

Source: W. Wang et al., "TopoOpt", NSDI 2023, sections 5.1 and 5.2 and Appendix G.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from topology_gen.cost.components import (
    NIC_PORTS,
    OCS_PORT,
    OPTICAL_SWITCH,
    PATCH_PANEL_PORT,
    PRICES,
    Bill,
    Prices,
    fibre_cost,
    prices_for,
)
from topology_gen.errors import CostError


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
