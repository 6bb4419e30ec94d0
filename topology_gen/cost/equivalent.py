"""The fat tree that a budget buys: the cost-equivalent bandwidth.

Source: W. Wang et al., "TopoOpt", NSDI 2023, sections 5.1 and 5.2.
"""

from __future__ import annotations

import numpy as np

from topology_gen.cost.architectures import fat_tree, topoopt
from topology_gen.cost.components import PRICES
from topology_gen.errors import CostError


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
