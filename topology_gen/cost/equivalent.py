"""The Fat-tree that a budget buys: the cost-equivalent bandwidth.

Source: W. Wang et al., "TopoOpt", NSDI 2023, sections 5.1 and 5.2.
"""

from __future__ import annotations

import numpy as np

from topology_gen.cost.architectures import fat_tree, topoopt
from topology_gen.cost.components import PRICES
from topology_gen.errors import CostError


def equivalent_bandwidth(servers: int, degree: int, rate_bps: int, seed: int = 1) -> float:
    """Return B′: a full-bisection Fat-tree of degree·B′ a link costs what TopoOpt costs with B.

    Parts come in steps; between two of them the cost is interpolated.

    Parameters
    ----------
    servers, degree : int
        Of TopoOpt, at least 1.
    rate_bps : int
        B, of each of its interfaces.
    seed : int
        Of the fibres' lengths.

    Returns
    -------
    float
        In bit/s.

    Raises
    ------
    CostError
        Numbers that cannot be, or a budget for which there is no Fat-tree.

    Examples
    --------
    >>> round(equivalent_bandwidth(128, 4, 100 * 10**9) / 10**9)
    32
    """
    return _link_rate(servers, topoopt(servers, degree, rate_bps, seed).total, seed) / degree


def _link_rate(servers: int, budget: float, seed: int) -> float:
    """Return the rate of a link of a Fat-tree that costs just the budget."""
    fastest = PRICES[-1].rate_bps
    steps = [prices.rate_bps for prices in PRICES]
    costs = [fat_tree(servers, step, seed).total for step in steps]
    if budget < costs[0]:
        raise CostError(
            f"{budget:.0f} dollars for {servers} servers: a Fat-tree costs at least {costs[0]:.0f}"
        )
    while costs[-1] < budget:
        steps.append(steps[-1] + fastest)
        costs.append(fat_tree(servers, steps[-1], seed).total)
    return float(np.interp(budget, costs, steps))
