"""Failed fibres, and jobs that change their servers (Section 7)."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale
from bridge.studies.topoopt.systems import SERVERS
from topology_gen.topoopt import (
    AllReduce,
    Demand,
    TopoOptTopology,
    all_reduce_slowdown,
    data_parallel,
    repaired,
    topology_finder,
    without_fibre,
)

FIGURE = Figure("failures")
#: Interfaces of a server without and with matchings.
_DEGREES = (4, 8)


def _hybrid(servers: int) -> Demand:
    """Return a job of which half is model-parallel transfers between all servers."""
    group = AllReduce(tuple(range(servers)), 1e9)
    mp = np.full((servers, servers), group.traffic / servers**2)
    np.fill_diagonal(mp, 0)
    return Demand(servers, (group,), mp)


def _ring_fibres(topology: TopoOptTopology) -> list[tuple[int, int]]:
    """Return the fibres of the rings at server 0 and its neighbours: all others are alike."""
    return [
        (server, (server + stride) % topology.nodes)
        for stride in topology.coins
        for server in range(0, topology.nodes, max(1, topology.nodes // 16))
    ]


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Fail fibres one by one, and repair them."""
    servers = SERVERS[scale]
    jobs = {"data parallel": data_parallel(servers, 1e9), "hybrid": _hybrid(servers)}
    rows, connected, broken, mended, every = [], [], [], [], 0
    for name, job in jobs.items():
        for degree in _DEGREES:
            topology = topology_finder(job, degree)
            fibres = _ring_fibres(topology)
            failed = [without_fibre(topology.graph, fibre) for fibre in fibres]
            repairs = [repaired(topology, fibre) for fibre in fibres]
            slow = [all_reduce_slowdown(topology, job, graph) for graph in failed]
            fixed = [all_reduce_slowdown(topology, job, one) for one in repairs if one is not None]
            connected += [nx.is_strongly_connected(graph.graph()) for graph in failed]
            broken += [] if topology.matchings else slow
            every += len(fibres)
            mended += fixed
            rows.append(
                [
                    f"{name}, d = {degree}",
                    ", ".join(f"+{stride}" for stride in topology.coins),
                    str(len(topology.matchings)),
                    f"{max(slow):.2f}×",
                    f"{len(fixed)} of {len(fibres)}",
                    f"{max(fixed):.2f}×" if fixed else "",
                ]
            )
    yield FIGURE.fact(
        "A failed fibre does not disconnect the servers.",
        all(connected),
        evidence=f"{len(connected)} failures",
    )
    yield FIGURE.order(
        "Without matchings, a failed fibre makes its ring inefficient: it takes longer.",
        *broken,
        evidence="matched links can also carry the detour: see the table",
    )
    yield FIGURE.same(
        "A link of a matching recovers the ring.",
        *mended,
        evidence=f"{len(mended)} of {every} failed ring fibres have matched links at both ends",
    )
    yield FIGURE.untested(
        "Optical circuit switches change the servers of elastic jobs quickly.",
        "the paper leaves to future work how strategy and topology follow; "
        "`topology.provisioning` models the time to link a job's servers",
    )
    yield FIGURE.untested(
        "Storage and control traffic has NICs and a fabric of its own.",
        "a property of the servers; simulations here have training traffic only",
    )
    headings = (
        "job",
        "rings",
        "matchings",
        "all-reduce with a failed fibre",
        "repairable",
        "after the repair",
    )
    yield FIGURE.table(f"Failures of one ring fibre, {servers} servers", headings, rows)


NOTES = """\
The hop of a ring whose fibre failed takes the shortest path over the other links, so these carry
its bytes in addition to their own. A repair takes a matched link from each of the two servers,
links the two with each other, and links the other two ends. A permanent failure is repaired by
swapping ports, after which the topology is the old one. To fail a fibre of any job:

```sh
cosim topo topoopt --n 128 --degree 4 --fail 0-1
```
"""

EXPERIMENT = Experiment("Failures (Section 7)", (FIGURE,), evaluate, notes=NOTES)
