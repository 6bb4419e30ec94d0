"""Cost of the architectures (Section 5.2, Fig. 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from bridge.batch.points import Point
from bridge.present.quantities import scaled_text
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Table,
)
from bridge.studies.framework.scoring import number, order, untested
from topology_gen.cost import ARCHITECTURES, equivalent_bandwidth
from topology_gen.cost.architectures import topoopt as topoopt_bill

FIGURE = "10"
#: Sizes of k-ary Fat-trees.
SERVERS: Mapping[Scale, Sequence[int]] = {"small": (128, 432), "full": (128, 250, 432, 1024, 2000)}
#: Interfaces of a server, and their bandwidth.
KINDS = ((4, 100 * 10**9), (8, 200 * 10**9))
NAMES = {
    "topoopt": "TopoOpt on patch panels",
    "ocs_reconfig": "TopoOpt on OCSs, OCS-reconfig",
    "ideal_switch": "Ideal Switch",
    "oversubscribed_fat_tree": "2:1 oversubscribed Fat-tree",
    "expander": "Expander",
}
#: The cluster of Section 5.2's discounts, which has the prices of 100 Gbit/s.
LARGE, LARGE_KIND = 4394, (4, 100 * 10**9)
#: Seeds of the fibres' lengths. A cost is the mean over them.
SEEDS = range(1, 6)


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return no points: this experiment simulates nothing."""
    return []


def cost(architecture: str, servers: int, degree: int, rate_bps: int) -> float:
    """Return the cost in dollars, mean over several draws of the fibres' lengths."""
    bill = ARCHITECTURES[architecture].bill
    return mean(bill(servers, degree, rate_bps, seed).total for seed in SEEDS)


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare the ratios with those of the paper."""
    sizes = SERVERS[scale]
    costs = {
        (name, *kind): [cost(name, servers, *kind) for servers in sizes]
        for name in NAMES
        for kind in KINDS
    }

    def ratio(one: str, other: str) -> float:
        pairs = [zip(costs[one, *kind], costs[other, *kind], strict=True) for kind in KINDS]
        return mean(a / b for pair in pairs for a, b in pair)

    large = {name: cost(name, LARGE, *LARGE_KIND) for name in ("topoopt", "ideal_switch")}
    panels = topoopt_bill(LARGE, *LARGE_KIND, SEEDS[0]).patch_panel_ports
    statements = [
        number(
            FIGURE,
            "Cost of TopoOpt on OCSs over TopoOpt on patch panels, mean.",
            paper=1.33,
            ours=ratio("ocs_reconfig", "topoopt"),
            unit="times",
        ),
        number(
            FIGURE,
            "Cost of the Ideal Switch over TopoOpt, mean.",
            paper=3.2,
            ours=ratio("ideal_switch", "topoopt"),
            unit="times",
        ),
        order(
            FIGURE,
            "The Expander is the least expensive.",
            [
                costs[name, *kind][i] / costs["expander", *kind][i]
                for name in NAMES
                if name != "expander"
                for kind in KINDS
                for i in range(len(sizes))
            ],
        ),
    ]
    statements += [
        number(
            FIGURE,
            f"{LARGE} servers: cost of the Ideal Switch over TopoOpt.",
            paper=3.0,
            ours=large["ideal_switch"] / large["topoopt"],
            unit="times",
            evidence=_text(*LARGE_KIND),
        ),
        number(
            FIGURE,
            f"{LARGE} servers, patch panels at half their price: Ideal Switch over TopoOpt.",
            paper=3.6,
            ours=large["ideal_switch"] / (large["topoopt"] - panels / 2),
            unit="times",
            evidence=_text(*LARGE_KIND),
            why="the other discounts, those of another paper, are left out",
        ),
        untested(
            FIGURE,
            "SiP-ML is the most expensive.",
            "its parts are not on the market, and the paper gives no prices; at "
            f"{sizes[0]} servers, {_text(*KINDS[0])}, it is if a port costs more than "
            f"${costs['ideal_switch', *KINDS[0]][0] / sizes[0] / KINDS[0][0]:.0f}, the Ideal "
            "Switch's price per interface",
        ),
        untested(
            FIGURE,
            "A TopoOpt cluster needs less energy, as optical switches are passive.",
            "the paper gives no power, and cosim models none",
        ),
    ]
    return Findings(
        statements,
        [_table(costs, sizes, *kind) for kind in KINDS],
        [_chart(costs, sizes)],
        notes=NOTES,
    )


def _text(degree: int, rate_bps: int) -> str:
    return f"d = {degree}, B = {scaled_text(rate_bps, 'bit/s')}"


def _table(
    costs: Mapping[tuple[str, int, int], Sequence[float]],
    sizes: Sequence[int],
    degree: int,
    rate_bps: int,
) -> Table:
    rows = [
        [name, *(f"{dollars / 1e6:.2f}" for dollars in costs[key, degree, rate_bps])]
        for key, name in NAMES.items()
    ]
    equivalent = [equivalent_bandwidth(servers, degree, rate_bps) for servers in sizes]
    rows.append(
        [
            "B' of the Fat-tree that costs as much",
            *(scaled_text(rate, "bit/s") for rate in equivalent),
        ]
    )
    headings = ["million dollars", *(f"{servers} servers" for servers in sizes)]
    return Table(FIGURE, f"Cost, {_text(degree, rate_bps)}", headings, rows)


def _chart(costs: Mapping[tuple[str, int, int], Sequence[float]], sizes: Sequence[int]) -> Chart:
    panels = [
        Panel(
            "million dollars",
            {name: [one / 1e6 for one in costs[key, *kind]] for key, name in NAMES.items()},
            kind="lines",
            logarithmic=True,
            title=_text(*kind),
        )
        for kind in KINDS
    ]
    return Chart(FIGURE, "Cost of the interconnects", list(map(str, sizes)), panels, "servers")


NOTES = """\
The prices are those of Table 2 in Appendix G. Each cost is the mean over five random draws of the
fibres' lengths (`cosim cost` draws once). 400 Gbps are two ports of 200 Gbps on one NIC ($815),
because Table 2 ends at 200 Gbps and a NIC has two ports; four ports of 100 Gbps would take two NICs
($1356), and an Ideal Switch with d × B = 400 Gbps would cost 6 % more. The Fat-tree costs as much
as TopoOpt by definition, so the table shows its bandwidth. SiP-ML is the most expensive
architecture in the paper; its parts are not on the market, and the paper gives no prices. The paper
does not say over which servers and bandwidths its averages are.
"""

EXPERIMENT = Experiment("Cost of the interconnects (Section 5.2)", (FIGURE,), points, evaluate)
