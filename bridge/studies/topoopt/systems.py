"""The jobs and architectures of the study: training iterations on a cluster of servers.

The small scale has fewer servers. Models, batches and links are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

from bridge.batch.best_strategy import StrategySearch
from bridge.batch.points import Point
from bridge.batch.strategy_search import Settings
from bridge.results.result import Result
from bridge.studies.framework import Scale
from frontend import Scenario, load_scenario
from frontend.loading.load import read_scenario
from topology_gen.cost import equivalent_bandwidth

#: The paper's names in the order of its figures, by the scenarios' names.
MODELS = {
    "candle": "CANDLE",
    "vgg16": "VGG",
    "bert": "BERT",
    "dlrm": "DLRM",
    "ncf": "NCF",
    "resnet50": "ResNet50",
}

#: The paper's names, by the names here.
ARCHITECTURES = {
    "topoopt": "TopoOpt",
    "ideal_switch": "Ideal Switch",
    "fat_tree": "Fat-tree",
    "equal_cost": "Fat-tree of equal cost",
    "sip_ml": "SiP-ML",
    "ocs_reconfig": "OCS-reconfig",
    "expander": "Expander",
}

#: Architectures that stand in when strategies are estimated: like the paper's, the search does not
#: know circuits that change.
_ESTIMATED_AS = {
    "sip_ml": "ideal_switch",
    "ocs_reconfig": "ideal_switch",
    "equal_cost": "fat_tree",  # its links are nearly as fast
}

#: Architectures whose circuits follow the demand. They start from uniform circuits and run until
#: iterations take the same time. The hops of a ring are flows that run at the same time: with
#: rounds, a hop without data at a measurement loses its circuit, and the whole ring waits for it.
CHANGING = frozenset({"sip_ml", "ocs_reconfig"})
#: The first iteration is reported on its own, the others as the steady state. The second and the
#: third differ by 3 % on average (BERT and CANDLE at all bandwidths of the full scale), so two are
#: enough.
ITERATIONS = 2

STRATEGY = "workload.strategy"

#: Strategies from which the search starts.
_STARTS = ("hybrid", "data_parallel")

#: Rounds, and proposals of a round of a search, and its seed. The full budget, 4000 proposals in
#: all, and the space are those of the published scripts.
_SEARCHES: Mapping[Scale, Settings] = {
    "small": Settings(rounds=2, budget=50, beta=None, seed=1, space="samples"),
    "full": Settings(rounds=2, budget=2000, beta=None, seed=1, space="samples"),
}

#: Gradients count once: as many bytes leave a ring's server as the gradients have, less one part.
#: The paper's share of the all-to-all (Section 5.4) and its bandwidth taxes follow from that.
COUNTED_ONCE = "2B"

#: PyTorch's buckets of 25 MB collect the same gradients if these count once.
BUCKETS = {"resnet50": "12.5MB"}

#: Bandwidths of a Fat-tree's server in the paper's published scripts, in Gbit/s.
FAT_TREE_GBPS = (10, 25, 40, 80, 100, 160, 200, 320, 400, 800, 1600)

#: Five latencies of 25 µs. The paper gives no interval; the experiment `sip_ml` varies it.
SIP_ML_INTERVAL = "125us"

SERVERS: Mapping[Scale, int] = {"small": 16, "full": 128}
_LATENCY = "1us"  # of every link (Section 5.1)


def expander(servers: int, degree: int, seed: int = 1) -> str:
    """Return the graph of the Expander: random links between the servers."""
    return f"random_regular:n={servers},d={degree},seed={seed}"


def topology(architecture: str, servers: int, degree: int, rate_gbps: int) -> dict[str, Any]:
    """Return the scenario's ``topology`` of an architecture.

    Parameters
    ----------
    architecture : str
        A key of `ARCHITECTURES`.
    servers, degree : int
        Number of servers, and of interfaces of each.
    rate_gbps : int
        B, the rate of each interface.
    """
    links = {"latency": _LATENCY, "buffer": "unlimited"}
    direct = links | {"bandwidth": f"{rate_gbps}Gbps"}
    match architecture:
        case "topoopt":
            return {"family": "topoopt", "n": servers, "d": degree, "demand": "workload", **direct}
        case "expander":
            graph = expander(servers, degree)
            return {"family": "direct_connect", "graph": graph, **direct}
        case "fat_tree":
            rate = fat_tree_gbps(servers, degree, rate_gbps)
            return {"family": "fat_tree", "ranks": servers, "bandwidth": f"{rate}Gbps", **links}
        case "equal_cost":
            family = "cost_equivalent_fat_tree"
            return {"family": family, "ranks": servers, "degree": degree, **direct}
        case "sip_ml":
            changes = circuits("25us", SIP_ML_INTERVAL, forwarding=False)
            return {"n": servers, "d": degree, "discount": "none", **changes, **direct}
        case "ocs_reconfig":
            return {"n": servers, "d": degree, **circuits("10ms", "50ms"), **direct}
        case "ideal_switch":
            whole = {"bandwidth": f"{degree * rate_gbps}Gbps"}
            return {"family": "flat", "ranks": servers, **links, **whole}
    raise ValueError(architecture)


def fat_tree_gbps(
    servers: int, degree: int, rate_gbps: int, listed: Sequence[int] = FAT_TREE_GBPS
) -> int:
    """Return d·B', the bandwidth of a server of the Fat-tree that the paper compares with TopoOpt.

    It is the listed bandwidth nearest to that of the Fat-tree that costs as much as TopoOpt, and at
    most TopoOpt's d·B: the paper says that B' is lower than B.

    Parameters
    ----------
    servers, degree, rate_gbps
        As of `topology`.
    listed : sequence of int
        The bandwidths to choose from, in Gbit/s.

    Examples
    --------
    >>> [fat_tree_gbps(128, 4, rate) for rate in (10, 25, 40, 100, 200)]
    [40, 40, 80, 100, 160]
    """
    equal = degree * equivalent_bandwidth(servers, degree, rate_gbps * 10**9) / 1e9
    possible = [rate for rate in listed if rate <= degree * rate_gbps]
    return min(possible, key=lambda rate: abs(rate - equal))


def interpolated(ratio: float) -> str:
    """Return the evidence that names a ratio for the Fat-tree of equal cost."""
    return f"{ratio:.2f}× with B' interpolated"


def circuits(latency: str, interval: str, *, forwarding: bool = True) -> dict[str, Any]:
    """Return the part of ``topology`` for circuits that change during a run.

    Parameters
    ----------
    latency, interval : str
        Time of a change, and time between two measurements of the demand.
    forwarding : bool
        Whether servers forward packets for others.
    """
    changes = {"latency": latency, "interval": interval, "forwarding": forwarding}
    return {"family": "ocs", "demand": "workload", "reconfiguration": changes}


def job_point(
    folder: Path,
    scale: Scale,
    model: str,
    architecture: str,
    degree: int,
    rate_gbps: int,
    more: Mapping[str, Any] | None = None,
) -> Point:
    """Return the point of a model with the strategy found for an architecture.

    The search is the paper's (Section 5.1): of strategies and topologies in turn on TopoOpt, of
    strategies on the others. `more` can name a ``workload.strategy`` instead.

    Parameters
    ----------
    folder : Path
        The source tree's ``scenarios``.
    scale : {"small", "full"}
        Decides the number of servers.
    model, architecture : str
        Keys of `MODELS` and `ARCHITECTURES`.
    degree, rate_gbps : int
        Interfaces of a server, and the rate of each.
    more : mapping, optional
        Further overrides of the scenario; ``fabric`` is `flow` by default.

    Returns
    -------
    Point
        Its name has all but `folder` and `scale`.
    """
    changes = tuple((more or {}).items())
    return _point(folder, scale, model, architecture, degree, rate_gbps, changes)


Changes = tuple[tuple[str, Any], ...]


@cache  # several figures share points
def _point(
    folder: Path,
    scale: Scale,
    model: str,
    architecture: str,
    degree: int,
    rate_gbps: int,
    changes: Changes,
) -> Point:
    cluster = scale, model, degree, rate_gbps
    parts = (f"{key.rpartition('.')[2]}={value}" for key, value in changes)
    name = "-".join([model, architecture, f"d{degree}", f"{rate_gbps}G", *parts])
    scenario = _scenario(folder, architecture, *cluster, changes)
    if STRATEGY in dict(changes):
        return Point(name, scenario)
    # The search knows neither the fabric nor circuits that change, so such points share it.
    known = [one for one in changes if one[0] != "fabric" and not one[0].startswith("topology")]
    estimated = _ESTIMATED_AS.get(architecture, architecture)
    starts = tuple(
        _scenario(folder, estimated, *cluster, (*known, (STRATEGY, start))) for start in _STARTS
    )
    return Point(name, scenario, search=StrategySearch(starts, _SEARCHES[scale]))


@cache  # several points start their searches with the same scenarios
def _scenario(
    folder: Path,
    architecture: str,
    scale: Scale,
    model: str,
    degree: int,
    rate_gbps: int,
    changes: Changes,
) -> Scenario:
    overrides: dict[str, Any] = {
        "name": f"topoopt_{model}",
        "fabric": "flow",
        "topology": topology(architecture, SERVERS[scale], degree, rate_gbps),
        "collective.all_reduce": "multi_ring" if architecture == "topoopt" else "ring",
        "workload.gradient_element": COUNTED_ONCE,
        **({"workload.bucket": BUCKETS[model]} if model in BUCKETS else {}),
        **dict(changes),
    }
    if architecture in CHANGING:
        overrides = {"workload.iterations": ITERATIONS, "workload.rings": "flows"} | overrides
    return load_scenario(_read(folder / f"topoopt_{model}.yaml"), overrides)


_read = cache(read_scenario)


def iteration_ns(result: Result) -> float:
    """Return the time of an iteration: the mean of all but the first, if there are several.

    The first iteration of circuits that follow the demand starts from uniform circuits.
    """
    return mean(one.time_ns for one in result.iterations[1:] or result.iterations)


def first_ns(result: Result) -> float:
    """Return the time of the first iteration."""
    return result.iterations[0].time_ns
