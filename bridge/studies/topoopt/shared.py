"""Iteration times of jobs that share a cluster (Section 5.6, Fig. 16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from bridge.batch.points import Point
from bridge.present.quantities import time_text
from bridge.results.measurements import IterationTimes
from bridge.results.result import Result
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Statement,
    Table,
)
from bridge.studies.framework.scoring import SEEDS, number, order, over_seeds
from bridge.studies.topoopt.systems import COUNTED_ONCE, fat_tree_gbps, interpolated
from frontend import Scenario, load_scenario
from frontend.loading.load import read_scenario

FIGURE = "16"
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

Times = Mapping[tuple[str, str], Sequence[float]]
"""Iteration times with each load, by scenario and measure [ns]."""


def _name(cluster: str, load: int, draw: int, rate: str = "") -> str:
    parts = (
        cluster,
        str(load),
        *((f"draw={draw}",) if draw > 1 else ()),
        *((rate,) if rate else ()),
    )
    return "-".join(parts)


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


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return one point for each cluster, load and draw of the jobs; one draw for other rates."""
    servers = _JOB_SERVERS[scale]
    size = servers * LOADS[scale][-1]
    rates = _rates(scale)
    variants = {
        TOPOOPT: {"": {"topology.n": size}},
        FAT_TREE: rates,
        OVERSUBSCRIBED: {"": {"topology.ranks": size}},
    }
    return [
        Point(
            _name(cluster, load, draw, rate),
            _scenario(folder, cluster, servers, load, draw, changes),
        )
        for cluster, topologies in variants.items()
        for rate, changes in topologies.items()
        for load in LOADS[scale]
        for draw in (SEEDS[scale] if not rate else SEEDS[scale][:1])
    ]


def _scenario(
    folder: Path, cluster: str, servers: int, load: int, draw: int, topology: Mapping[str, Any]
) -> Scenario:
    content = read_scenario(folder / f"{cluster}.yaml")
    jobs = range(len(content.data["workload"]["mix"]))
    return load_scenario(
        content,
        {
            "fabric": "flow",
            "workload.servers": servers,
            "workload.active": load,
            "workload.draw": draw,
            **{f"workload.mix.{job}.gradient_element": COUNTED_ONCE for job in jobs},
            **topology,
        },
    )


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare the clusters."""
    loads = LOADS[scale]
    by_draw = [_times(results, loads, draw) for draw in SEEDS[scale]]
    times = by_draw[0]
    equal_cost = {
        measure: interpolated(mean(_over_topoopt(results, loads, times, "equal-cost", measure)))
        for measure in MEASURES
    }
    statements = over_seeds([_statements(one, loads, equal_cost) for one in by_draw])
    tables = [_table(times, loads), _rate_table(results, scale, times)]
    return Findings(statements, tables, [_chart(times, loads)], notes=NOTES)


def _times(results: Results, loads: Sequence[int], draw: int) -> Times:
    measured = {
        cluster: [_iteration_times(results[_name(cluster, load, draw)]) for load in loads]
        for cluster in CLUSTERS
    }
    return {
        (cluster, measure): [getattr(one, f"{measure}_ns") for one in measured[cluster]]
        for cluster in CLUSTERS
        for measure in MEASURES
    }


def _over_topoopt(
    results: Results, loads: Sequence[int], times: Times, rate: str, measure: str
) -> list[float]:
    """Return the ratios of a Fat-tree with another bandwidth to TopoOpt, of the first draw."""
    found = [_iteration_times(results[_name(FAT_TREE, load, 1, rate)]) for load in loads]
    return [
        getattr(one, f"{measure}_ns") / base
        for one, base in zip(found, times[TOPOOPT, measure], strict=True)
    ]


def _statements(
    times: Times, loads: Sequence[int], equal_cost: Mapping[str, str]
) -> list[Statement]:
    ratios = {
        key: [a / b for a, b in zip(times[key], times[TOPOOPT, key[1]], strict=True)]
        for key in PUBLISHED
    }
    statements = [
        number(
            FIGURE,
            f"{MEASURES[measure]} of the iteration times on the {CLUSTERS[cluster]} over "
            "TopoOpt, mean over the loads.",
            paper=paper,
            ours=mean(ratios[cluster, measure]),
            unit="times",
            evidence=", ".join(
                f"{ratio:.2f}× with {load} jobs"
                for load, ratio in zip(loads, ratios[cluster, measure], strict=True)
            )
            + (f"; {equal_cost[measure]}, first draw" if cluster == FAT_TREE else ""),
            why=_WHY[cluster, measure],
        )
        for (cluster, measure), paper in PUBLISHED.items()
    ]
    statements += [
        number(
            FIGURE,
            "99th percentile on the Fat-tree over TopoOpt, all servers in use.",
            paper=PUBLISHED_FULL_LOAD,
            ours=ratios[FAT_TREE, "p99"][-1],
            unit="times",
            why=_TAIL,
        ),
        order(
            FIGURE,
            "TopoOpt is the fastest at every load, in the mean and in the tail.",
            [ratio for of in ratios.values() for ratio in of],
            why=_TAIL,
        ),
    ]
    return statements


def _iteration_times(result: Result) -> IterationTimes:
    found = result.iteration_times
    assert found is not None  # every cluster scenario has jobs
    return found


def _table(times: Times, loads: Sequence[int]) -> Table:
    rows = [
        [name, text.lower(), *map(time_text, times[cluster, measure])]
        for cluster, name in CLUSTERS.items()
        for measure, text in MEASURES.items()
    ]
    headings = ["cluster", "iteration time", *(f"{load} jobs" for load in loads)]
    return Table(FIGURE, "Jobs that share a cluster", headings, rows)


def _rate_table(results: Results, scale: Scale, times: Times) -> Table:
    """Return the ratios of Fat-trees with other bandwidths to TopoOpt."""
    loads = LOADS[scale]
    rows = []
    for name, topology in _rates(scale).items():
        rate = topology.get("topology", {}).get("bandwidth", "equal cost")
        for measure, text in MEASURES.items():
            ratios = _over_topoopt(results, loads, times, name, measure)
            rows.append(
                [rate, text.lower(), *(f"{r:.2f}×" for r in ratios), f"{mean(ratios):.2f}×"]
            )
    headings = ["d · B'", "over TopoOpt", *(f"{load} jobs" for load in loads), "mean"]
    return Table(FIGURE, "The Fat-tree with other bandwidths", headings, rows)


def _chart(times: Times, loads: Sequence[int]) -> Chart:
    panels = [
        Panel(
            "iteration [ms]",
            {
                name: [t / 1e6 for t in times[cluster, measure]]
                for cluster, name in CLUSTERS.items()
            },
            title=text,
        )
        for measure, text in MEASURES.items()
    ]
    labels = [f"{100 * load / loads[-1]:.0f} %" for load in loads]
    return Chart(FIGURE, "Jobs that share a cluster", labels, panels, "servers in use")


NOTES = """\
40 % of the jobs are DLRM, 30 % BERT, 20 % CANDLE and 10 % VGG16, with the sizes of Section 5.6.
Each job has 16 consecutive servers. On TopoOpt, every job has a shard of its own; on the Fat-trees,
jobs share the links above the edge switches. Each job has three iterations. Claims are scored with
five random draws of the jobs; the table shows the first. The published scripts run the Fat-tree
with 100, 200, 400 and 800 Gbps for each server. Scored is the one nearest to the Fat-tree that
costs as much as TopoOpt; another table has the others. VGG16 computes longer than it reduces
gradients, so it takes the same time on every network.
"""

EXPERIMENT = Experiment("Shared clusters (Section 5.6)", (FIGURE,), points, evaluate)
