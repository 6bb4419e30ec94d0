"""Training jobs to search for strategies, and their times by estimate and by simulation."""

from __future__ import annotations

import bridge
from bridge.batch.strategy_search import Settings
from frontend.parallelization import demand

LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
TOPOOPT = {"family": "topoopt", "d": 4, "n": 8, "demand": "workload"} | LINKS
SWITCH = {"family": "flat", "ranks": 8} | LINKS
FAT_TREE = {"family": "fat_tree", "ranks": 8} | LINKS
OCS = {"family": "ocs", "d": 4, "n": 8, "demand": "workload"} | LINKS
MODEL = {
    "name": "dlrm",
    "dense_features": 512,
    "dense_layers": 2,
    "dense_width": 512,
    "feature_layers": 2,
    "feature_width": 1024,
    "tables": 4,
    "rows": 100_000,
    "dimension": 64,
}


def scenario(topology, **workload):
    return {
        "name": "searched",
        "topology": topology,
        "fabric": "flow",
        "workload": {"kind": "training", "model": MODEL, "batch_per_gpu": 64} | workload,
        "system": {"injection_latency": "0ns"},
        # As many packets at once as six hops hold: a flow begins at the rate of its links.
        "links": {"mtu": "9000B"},
        "transport": {"window": "4MB", "initial_cwnd": 40},
    }


def estimated(job, strategy):
    wanted = demand(job.graph, strategy)
    estimator = job.estimator(wanted)
    return estimator.seconds(estimator.plan(strategy))


def simulated(job, strategy, fabric):
    data = job.changed(strategy, demand(job.graph, strategy))
    return bridge.run(data, {"fabric": fabric}).iterations[0].time_ns / 1e9


def settings(**changed):
    return Settings(**({"rounds": 3, "budget": 120, "beta": None, "seed": 2} | changed))
