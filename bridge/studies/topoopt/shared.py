"""Iteration times of jobs that share a cluster (Section 5.6, Fig. 16)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from bridge.batch.points import Point
from bridge.present.quantities import time_text
from bridge.studies.framework import (
    SEEDS,
    Experiment,
    Figure,
    Finding,
    Points,
    Results,
    Scale,
    Statement,
    over_seeds,
    ratio_text,
    ratios,
)
from bridge.studies.topoopt.systems import COUNTED_ONCE, fat_tree_gbps, interpolated
from frontend import Scenario, load_scenario
from frontend.loading.load import read_scenario

FIGURE = Figure("16")
#: The paper's names, by the scenarios.
CLUSTERS = {
    "topoopt_cluster": "TopoOpt",
    "topoopt_cluster_fat_tree": "Fat-tree",
    "topoopt_cluster_oversubscribed": "Oversub. Fat-tree",
}
TOPOOPT, FAT_TREE, OVERSUBSCRIBED = CLUSTERS
#: Bandwidths of a Fat-tree's server in the published scripts for this figure, in Gbit/s.
LISTED_GBPS = (100, 200, 400, 800)
DEGREE, RATE_GBPS = 8, 100
#: Jobs that run at the same time; with the last number, all servers are in use.
LOADS: Mapping[Scale, Sequence[int]] = {"small": (2, 6), "full": (5, 10, 15, 20, 27)}
_JOB_SERVERS: Mapping[Scale, int] = {"small": 4, "full": 16}
#: Ratio to TopoOpt, mean over the loads: of the mean and of the 99th percentile.
PUBLISHED = {(FAT_TREE, "mean"): 1.7, (FAT_TREE, "p99"): 3.0}
PUBLISHED |= {(OVERSUBSCRIBED, "mean"): 1.15, (OVERSUBSCRIBED, "p99"): 1.4}
PUBLISHED_FULL_LOAD = 3.4
MEASURES = {"mean": "Mean", "p99": "99th percentile"}
_TAIL = "TopoOpt's tail is the computation of VGG16, which no network shortens"
_WHY = {
    (FAT_TREE, "mean"): "the paper's is between the ratios with 200 and 400 Gbps, see the table",
    (FAT_TREE, "p99"): "",
    (OVERSUBSCRIBED, "mean"): "",
    (OVERSUBSCRIBED, "p99"): _TAIL,
}

Times = Mapping[tuple[str, str, str, int], Sequence[float]]
"""Iteration times with each load, by scenario, rate, measure and draw [ns]."""


def _rates(scale: Scale) -> Mapping[str, dict[str, Any]]:
    """Return the topologies of the Fat-tree, by name: the one that is scored first."""
    servers = _JOB_SERVERS[scale] * LOADS[scale][-1]
    links = {"ranks": servers, "latency": "1us", "buffer": "unlimited"}
    scored = fat_tree_gbps(servers, DEGREE, RATE_GBPS, LISTED_GBPS)
    listed = {
        "" if rate == scored else f"{rate}Gbps": {
            "topology": {"family": "fat_tree", "bandwidth": f"{rate}Gbps", **links}
        }
        for rate in LISTED_GBPS
        if rate < DEGREE * RATE_GBPS
    }
    return {"": listed.pop(""), **listed, "equal-cost": {"topology.ranks": servers}}


def points(folder: Path, scale: Scale) -> Points:
    """Return one point for each cluster, load and draw of the jobs; one draw for other rates."""
    servers = _JOB_SERVERS[scale]
    size = servers * LOADS[scale][-1]
    variants = {
        TOPOOPT: {"": {"topology.n": size}},
        FAT_TREE: _rates(scale),
        OVERSUBSCRIBED: {"": {"topology.ranks": size}},
    }
    made = {}
    for cluster, topologies in variants.items():
        for rate, changes in topologies.items():
            for load in LOADS[scale]:
                for draw in SEEDS[scale][: 1 if rate else None]:
                    seed = f"draw={draw}" if draw > 1 else ""
                    name = "-".join(filter(None, (cluster, str(load), seed, rate)))
                    scenario = _scenario(folder, cluster, servers, load, draw, changes)
                    made[cluster, rate, load, draw] = Point(name, scenario)
    return made


def _scenario(
    folder: Path, cluster: str, servers: int, load: int, draw: int, topology: Mapping[str, Any]
) -> Scenario:
    content = read_scenario(folder / f"{cluster}.yaml")
    changes: dict[str, Any] = {"fabric": "flow", "seed": draw, "mix.count": load}
    for job in range(len(content.data["jobs"])):
        changes |= {
            f"jobs.{job}.ranks": servers,
            f"jobs.{job}.workload.gradient_element": COUNTED_ONCE,
        }
    return load_scenario(content, {**changes, **topology})


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the clusters."""
    loads = LOADS[scale]
    times = _times(results, loads)
    yield from over_seeds(_statements(times, loads, draw) for draw in SEEDS[scale])
    jobs = [f"{load} jobs" for load in loads]
    rows = [
        [name, text.lower(), *map(time_text, times[cluster, "", measure, 1])]
        for cluster, name in CLUSTERS.items()
        for measure, text in MEASURES.items()
    ]
    yield FIGURE.table("Jobs that share a cluster", ["cluster", "iteration time", *jobs], rows)
    rows = []
    for name, topology in _rates(scale).items():
        rate = topology.get("topology", {}).get("bandwidth", "equal cost")
        for measure, text in MEASURES.items():
            found = _over_topoopt(times, FAT_TREE, name, measure)
            cells = map(ratio_text, (*found, mean(found)))
            rows.append([rate, text.lower(), *cells])
    headings = ["d · B'", "over TopoOpt", *jobs, "mean"]
    yield FIGURE.table("The Fat-tree with other bandwidths", headings, rows)
    panels = [
        (text, {name: times[cluster, "", measure, 1] for cluster, name in CLUSTERS.items()})
        for measure, text in MEASURES.items()
    ]
    yield FIGURE.lines(
        "Jobs that share a cluster",
        [f"{100 * load / loads[-1]:.0f} %" for load in loads],
        "iteration [ms]",
        *panels,
        x_label="servers in use",
        kind="bars",
        logarithmic=False,
        per=1e6,
    )


def _times(results: Results, loads: Sequence[int]) -> Times:
    times: dict[tuple[str, str, str, int], list[float]] = {}
    for (cluster, rate, _, draw), result in results.items():
        found = result.iteration_times
        assert found is not None  # every cluster scenario has jobs
        for measure in MEASURES:
            row = times.setdefault((cluster, rate, measure, draw), [])
            row.append(getattr(found, f"{measure}_ns"))
    return times


def _over_topoopt(
    times: Times, cluster: str, rate: str, measure: str, draw: int = 1
) -> list[float]:
    """Return the ratios of a cluster to TopoOpt, with each load."""
    return ratios(times[cluster, rate, measure, draw], times[TOPOOPT, "", measure, draw])


def _statements(times: Times, loads: Sequence[int], draw: int) -> Iterator[Statement]:
    found = {key: _over_topoopt(times, key[0], "", key[1], draw) for key in PUBLISHED}
    for (cluster, measure), paper in PUBLISHED.items():
        own = found[cluster, measure]
        evidence = ", ".join(
            f"{ratio:.2f}× with {load} jobs" for load, ratio in zip(loads, own, strict=True)
        )
        if cluster == FAT_TREE:
            equal_cost = mean(_over_topoopt(times, FAT_TREE, "equal-cost", measure))
            evidence += f"; {interpolated(equal_cost)}, first draw"
        yield FIGURE.times(
            f"{MEASURES[measure]} of the iteration times on the {CLUSTERS[cluster]} over "
            "TopoOpt, mean over the loads.",
            paper,
            mean(own),
            evidence=evidence,
            why=_WHY[cluster, measure],
        )
    yield FIGURE.times(
        "99th percentile on the Fat-tree over TopoOpt, all servers in use.",
        PUBLISHED_FULL_LOAD,
        found[FAT_TREE, "p99"][-1],
        why=_TAIL,
    )
    yield FIGURE.order(
        "TopoOpt is the fastest at every load, in the mean and in the tail.",
        *(ratio for of in found.values() for ratio in of),
        why=_TAIL,
    )


NOTES = """\
40 % of the jobs are DLRM, 30 % BERT, 20 % CANDLE and 10 % VGG16, with the sizes of Section 5.6.
Each job has 16 consecutive servers. On TopoOpt, every job has a shard of its own; on the Fat-trees,
jobs share the links above the edge switches. Each job has three iterations. Claims are scored with
five random draws of the jobs; the table shows the first. The published scripts run the Fat-tree
with 100, 200, 400 and 800 Gbps for each server. Scored is the one nearest to the Fat-tree that
costs as much as TopoOpt; another table has the others. VGG16 computes longer than it reduces
gradients, so it takes the same time on every network.
"""

EXPERIMENT = Experiment("Shared clusters (Section 5.6)", (FIGURE,), evaluate, points, NOTES)
