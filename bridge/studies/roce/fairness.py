"""Unfairness and victims of PFC, and what DCQCN makes of them: Figures 3, 4, 8 and 9 of DCQCN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.results.result import Result
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.framework.figure import EQUAL
from bridge.studies.roce.flows import Done, Flow, done, point

UNFAIR, VICTIM = Figure("unfairness"), Figure("victim")
SERVERS, RACKS = 5, 4
SIZE: Mapping[Scale, int] = {"small": 20_000_000, "full": 40_000_000}
CONTROLS: Mapping[str, Mapping[str, Any]] = {
    "PFC alone": {"congestion_control": "none", "window": "none"},
    "DCQCN": {
        "congestion_control": "dcqcn",
        "window": "none",
        "ecn": {"kmin": "5kB", "kmax": "200kB", "pmax": 0.01},
        "cnp": {"carrier": "packets", "interval": "50us"},
        "dcqcn": {
            "alpha_interval": "55us",
            "decrease_interval": "50us",
            "increase_interval": "55us",
            "byte_counter": "10MB",
            "fast_recovery": 5,
        },
    },
}


def server(rack: int, number: int) -> int:
    """Return the rank of a server; racks and servers count from 1, as in the paper."""
    return (rack - 1) * SERVERS + number - 1


#: The receiver, in rack 4.
R = server(4, 5)


def topology() -> dict[str, Any]:
    """The testbed: four racks with links of 40 Gb/s below two pairs of leaves and two spines."""
    pairs = [
        *((f"rank{server(rack, n)}", f"t{rack}") for rack in range(1, 5) for n in range(1, 6)),
        *((f"t{rack}", f"l{leaf}") for rack in (1, 2) for leaf in (1, 2)),
        *((f"t{rack}", f"l{leaf}") for rack in (3, 4) for leaf in (3, 4)),
        *((f"l{leaf}", f"s{spine}") for leaf in range(1, 5) for spine in (1, 2)),
    ]
    return {
        "family": "graph",
        "nodes": [
            *({"name": f"rank{rank}", "type": "rank"} for rank in range(SERVERS * RACKS)),
            *({"name": f"t{rack}", "type": "switch"} for rack in range(1, 5)),
            *({"name": f"l{leaf}", "type": "switch"} for leaf in range(1, 5)),
            *({"name": f"s{spine}", "type": "switch"} for spine in (1, 2)),
        ],
        "links": [[*ends, "40Gbps", "1us"] for ends in pairs],
        "buffer": "12MB",
    }


def unfair(size: int) -> list[Flow]:
    """Three servers of other racks and one of the receiver's own rack send to the receiver."""
    near = server(4, 1)
    return [Flow(sender, R, size) for sender in (server(1, 1), server(1, 2), server(1, 3), near)]


def with_victim(size: int, extra: int) -> list[Flow]:
    """Four servers of rack 1 send to the receiver, and `extra` ones of rack 3; one to rack 2."""
    senders = [server(1, n) for n in range(1, 5)] + [server(3, n) for n in range(1, extra + 1)]
    return [Flow(VICTIM_PAIR[0], VICTIM_PAIR[1], size), *(Flow(one, R, size) for one in senders)]


#: Sender and receiver of the flow that does not go to R.
VICTIM_PAIR = (server(1, 5), server(2, 2))
EXTRAS = (0, 1, 2)


def points(folder: Path, scale: Scale) -> Points:
    """Return the flows to one receiver, and those beside a victim, for each congestion control."""
    size = SIZE[scale]
    until = 60 * size  # ns; seven flows at 40 Gb/s take 0.2 ns a byte each
    cases: dict[Any, Sequence[Flow]] = {"unfair": unfair(size)}
    cases |= {extra: with_victim(size, extra) for extra in EXTRAS}
    return {
        (case, control): point(
            f"{case}, {control}", topology(), SERVERS * RACKS, flows, until, keys
        )
        for case, flows in cases.items()
        for control, keys in CONTROLS.items()
    }


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the rates of the flows to one receiver, and the rate of the victim."""
    size = SIZE[scale]
    rates = {
        control: [8 * one.size / one.time_ns for one in _ended(results["unfair", control], size)]
        for control in CONTROLS
    }
    text = "PFC alone: the server in R's rack gets more than the slowest of those that share links."
    yield UNFAIR.order(text, rates["PFC alone"][-1] / min(rates["PFC alone"][:-1]))
    text = "DCQCN is fairer: the slowest flow is closer to the fastest one."
    spread = {control: max(values) / min(values) for control, values in rates.items()}
    yield UNFAIR.order(text, spread["PFC alone"] / spread["DCQCN"])
    text = "DCQCN: all flows get the same."
    yield UNFAIR.same(text, spread["DCQCN"])
    headings = ("", "H1", "H2", "H3", "H4, in R's rack")
    rows = [[control, *(f"{one:.1f}" for one in values)] for control, values in rates.items()]
    yield UNFAIR.table("Mean rate of each flow, Gb/s", headings, rows)
    victim = {
        control: [
            8 * size / done(results[extra, control], with_victim(size, extra))[VICTIM_PAIR].time_ns
            for extra in EXTRAS
        ]
        for control in CONTROLS
    }
    text = "PFC alone: senders in a third rack slow the victim down, with which they share no link."
    yield VICTIM.order(text, victim["PFC alone"][0] / victim["PFC alone"][-1])
    text = "DCQCN: the senders in the third rack do not slow the victim down."
    yield VICTIM.at_most(text, EQUAL, victim["DCQCN"][0] / victim["DCQCN"][-1], "times")
    text = (
        "The victim is faster with DCQCN than with PFC alone, with two senders in the third rack."
    )
    yield VICTIM.order(text, victim["DCQCN"][-1] / victim["PFC alone"][-1])
    title, label = "Mean rate of the victim", "senders in the third rack"
    yield VICTIM.lines(title, EXTRAS, "Gb/s", victim, x_label=label, logarithmic=False)


def _ended(result: Result, size: int) -> list[Done]:
    flows = unfair(size)
    found = done(result, flows)
    return [found[flow.source, flow.target] for flow in flows]


NOTES = """\
The network is the paper's testbed: four racks with 40 Gb/s below two pairs of leaves and two
spines. Each sender has one message instead of a stream of them, and a rate is its mean over the
message. The DCQCN of the paper has other timers than that of HPCC's simulator, so this experiment
sets those of the paper (55 µs, a CNP in 50 µs) and its thresholds. Which spines the flows take is
a hash, here as there, but another one.

**PFC alone** divides the rate of R's link by ports, not by flows: three ports of R's switch share
it equally. H3 and H4 have a port of their own, so H1 and H2, which share one, get less until the
others have ended: 4/3 of the time. **With DCQCN** the rates differ by chance, as each flow is cut
at other times; over 40 MB of each, they have not become equal. The victim shares a link with
senders to R, whose pauses stop it, too. With DCQCN, more senders to R leave more of the shared
link to the victim.
"""

EXPERIMENT = Experiment("Unfairness and victims", (UNFAIR, VICTIM), evaluate, points, NOTES)
