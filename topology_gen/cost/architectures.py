"""What each architecture is built of, and so what it costs.

Servers have `degree` interfaces of a bandwidth B, or in the switched ones a link of degree·B.

Source: W. Wang et al., "TopoOpt", NSDI 2023, sections 5.1 and 5.2 and Appendix G.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

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
    """Return the bill of an expander: interfaces linked by a fibre for every two, no switch."""
    bill = _interfaces(servers, degree, rate_bps)
    return Bill(
        nics=bill.nics,
        transceivers=bill.transceivers,
        fibres=fibre_cost(-(-servers * degree // 2), seed),
    )


def topoopt(servers: int, degree: int, rate_bps: int, seed: int = 1) -> Bill:
    """Return the bill of TopoOpt on patch panels.

    A 1×2 switch at each interface leads to one patch panel that is in use and to another on which
    the next job's topology is made ready: two of their ports for each interface. One fibre a
    interface is counted, from the server to the panels.
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
    """Return the bill of optical circuit switches, which are fast enough to need no second port.

    It is that of TopoOpt on optical circuit switches, too.
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
    """Return the bill of a switch for all servers: a Fat-tree of full bisection bandwidth."""
    _check(servers, degree)
    return fat_tree(servers, degree * rate_bps, seed)


def oversubscribed_fat_tree(servers: int, degree: int, rate_bps: int, seed: int = 1) -> Bill:
    """Return the bill of a 2:1 oversubscribed Fat-tree: half the links above the first tier."""
    _check(servers, degree)
    return fat_tree(servers, degree * rate_bps, seed, oversubscription=2)


def fat_tree(servers: int, link_bps: int, seed: int = 1, oversubscription: int = 1) -> Bill:
    """Return the bill of a Fat-tree of three tiers, in which each server has a NIC and a link.

    A k-ary one has 5 switch ports and 3 links for each of its k³/4 servers, and a transceiver at
    each end of each link; other numbers of servers are charged in proportion. Links faster than the
    fastest parts are several of these in parallel, whichever parts are cheapest.

    Parameters
    ----------
    servers : int
        At least 1.
    link_bps : int
        Of every link.
    seed : int
        Of the fibres' lengths.
    oversubscription : int
        By how much fewer links there are above the first tier.

    Raises
    ------
    CostError
        Fewer servers or a lower rate.

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
    """Return the bill but for the fibres, and their number."""
    above = 2 * servers / oversubscription  # links of the two upper tiers
    bill = Bill(
        nics=float(servers * -(-lanes // NIC_PORTS) * prices.nic),
        transceivers=2 * (servers + above) * lanes * prices.transceiver,
        switch_ports=(servers + 2 * above) * lanes * prices.switch_port,
    )
    return bill, round((servers + above) * lanes * prices.fibres)


def _interfaces(servers: int, degree: int, rate_bps: int) -> Bill:
    """Return the bill of the servers' NICs and transceivers."""
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
    """An architecture: what it is, in a line, and its bill."""

    text: str
    bill: Callable[[int, int, int, int], Bill]


ARCHITECTURES: Mapping[str, Architecture] = {
    "topoopt": Architecture("TopoOpt on patch panels with look-ahead ports", topoopt),
    "ocs_reconfig": Architecture("optical circuit switches, also under TopoOpt", ocs_reconfig),
    "ideal_switch": Architecture("a full-bisection Fat-tree of degree × B a link", ideal_switch),
    "oversubscribed_fat_tree": Architecture(
        "the same with half the links above the first tier", oversubscribed_fat_tree
    ),
    "expander": Architecture("servers linked directly, once and for all", direct_connect),
}
"""Those of the paper whose parts it prices; SiP-ML's are not on the market."""
