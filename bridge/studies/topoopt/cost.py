"""Cost of the architectures (Section 5.2, Fig. 10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from bridge.present.quantities import scaled_text
from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale, ratios
from topology_gen.cost import ARCHITECTURES, equivalent_bandwidth
from topology_gen.cost import topoopt as topoopt_bill

FIGURE = Figure("10")
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


def cost(architecture: str, servers: int, degree: int, rate_bps: int) -> float:
    """Return the cost in dollars, mean over several draws of the fibres' lengths."""
    bill = ARCHITECTURES[architecture].bill
    return mean(bill(servers, degree, rate_bps, seed).total for seed in SEEDS)


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the ratios with those of the paper."""
    sizes = SERVERS[scale]
    costs = {
        (name, *kind): [cost(name, servers, *kind) for servers in sizes]
        for name in NAMES
        for kind in KINDS
    }

    def over(one: str, other: str) -> list[float]:
        pairs = ((costs[one, *kind], costs[other, *kind]) for kind in KINDS)
        return [ratio for pair in pairs for ratio in ratios(*pair)]

    for name, architecture, paper in (
        ("TopoOpt on OCSs over TopoOpt on patch panels", "ocs_reconfig", 1.33),
        ("the Ideal Switch over TopoOpt", "ideal_switch", 3.2),
    ):
        ours = mean(over(architecture, "topoopt"))
        yield FIGURE.times(f"Cost of {name}, mean.", paper, ours)
    yield FIGURE.order(
        "The Expander is the least expensive.",
        *(ratio for name in NAMES if name != "expander" for ratio in over(name, "expander")),
    )
    own, switch = (cost(name, LARGE, *LARGE_KIND) for name in ("topoopt", "ideal_switch"))
    at = _text(*LARGE_KIND)
    text = f"{LARGE} servers: cost of the Ideal Switch over TopoOpt."
    yield FIGURE.times(text, 3.0, switch / own, evidence=at)
    panels = topoopt_bill(LARGE, *LARGE_KIND, SEEDS[0]).patch_panel_ports
    yield FIGURE.times(
        f"{LARGE} servers, patch panels at half their price: Ideal Switch over TopoOpt.",
        3.6,
        switch / (own - panels / 2),
        evidence=at,
        why="the other discounts, those of another paper, are left out",
    )
    price = costs["ideal_switch", *KINDS[0]][0] / sizes[0] / KINDS[0][0]
    yield FIGURE.untested(
        "SiP-ML is the most expensive.",
        "its parts are not on the market, and the paper gives no prices; at "
        f"{sizes[0]} servers, {_text(*KINDS[0])}, it is if a port costs more than "
        f"${price:.0f}, the Ideal Switch's price per interface",
    )
    yield FIGURE.untested(
        "A TopoOpt cluster needs less energy, as optical switches are passive.",
        "the paper gives no power, and cosim models none",
    )
    shown = []
    for kind in KINDS:
        series = {
            name: [dollars / 1e6 for dollars in costs[key, *kind]] for key, name in NAMES.items()
        }
        rows = [[name, *(f"{dollars:.2f}" for dollars in row)] for name, row in series.items()]
        equivalent = (equivalent_bandwidth(servers, *kind) for servers in sizes)
        rates = (scaled_text(rate, "bit/s") for rate in equivalent)
        rows.append(["B' of the Fat-tree that costs as much", *rates])
        headings = ["million dollars", *(f"{servers} servers" for servers in sizes)]
        yield FIGURE.table(f"Cost, {_text(*kind)}", headings, rows)
        shown.append((_text(*kind), series))
    title = "Cost of the interconnects"
    yield FIGURE.lines(title, sizes, "million dollars", *shown, x_label="servers")


def _text(degree: int, rate_bps: int) -> str:
    return f"d = {degree}, B = {scaled_text(rate_bps, 'bit/s')}"


NOTES = """\
The prices are those of Table 2 in Appendix G. Each cost is the mean over five random draws of the
fibres' lengths (`cosim topo cost` draws once). 400 Gbps are two ports of 200 Gbps on one NIC
($815), because Table 2 ends at 200 Gbps and a NIC has two ports; four ports of 100 Gbps would take
two NICs ($1356), and an Ideal Switch with d × B = 400 Gbps would cost 6 % more. The Fat-tree costs
as much as TopoOpt by definition, so the table shows its bandwidth. SiP-ML is the most expensive
architecture in the paper; its parts are not on the market, and the paper gives no prices. The paper
does not say over which servers and bandwidths its averages are.
"""

EXPERIMENT = Experiment("Cost of the interconnects (Section 5.2)", (FIGURE,), evaluate, notes=NOTES)
