"""Expert-parallel training of Switch Transformers (Section 8.4, Fig. 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bridge.batch.points import Point
from bridge.examples import examples_folder
from bridge.present.quantities import percent_text
from bridge.results.result import Result
from bridge.studies.direct_connect.clusters import DEGREE, FABRIC, topology
from bridge.studies.direct_connect.data_parallel import busy_ns
from bridge.studies.direct_connect.large import (
    fitted_shifted_ring,
    ring_all_reduce_us,
    shifted_ring,
    tree_all_reduce_us,
    tree_all_to_all_us,
)
from bridge.studies.direct_connect.pareto import choice, families
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale, each
from frontend import load_scenario
from frontend.resolve import resolve
from frontend.workloads.plan import NodeType, Plan
from topology_gen.finder import frontier
from topology_gen.finder.costs import Collective, least_all_reduce_us, least_all_to_all_us

FIGURE = Figure("9")
OURS, TORUS, SHIFTED, FITTED, TREES, BOUND = (
    "ours",
    "2D torus",
    "ShiftedRing",
    "ShiftedRing (fitted strides)",
    "DBT",
    "bound",
)
BUCKETS = ("1MB", "10MB", "100MB", "1000MB")


class Model(NamedTuple):
    """A scenario, and its number of nodes."""

    scenario: str
    side: int
    """Length of both dimensions of the torus; its square is the number of nodes."""

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.side**2

    @property
    def simulated(self) -> Mapping[str, str]:
        """The topologies that are also simulated, by their names."""
        return {
            OURS: f"generalized_kautz:d=4,n={self.nodes}",
            TORUS: f"torus:dims={self.side}x{self.side}",
        }


BASE, LARGE = "14.7B parameters on 256 nodes", "1.6T parameters on 1024 nodes"
SMALL = "a small model on 16 nodes"
MODELS: Mapping[Scale, Mapping[str, Model]] = {
    "small": {SMALL: Model("moe_small", 4)},
    "full": {BASE: Model("moe_switch_base", 16), LARGE: Model("moe_switch_c", 32)},
}
#: The largest model whose messages are simulated.
SIMULATED_NODES = 256

#: Shares of the all-to-alls in an iteration of the large model.
SHARES = {FITTED: 0.91, TORUS: 0.58, OURS: 0.30}


def points(folder: Path, scale: Scale) -> Points:
    """Return iterations over single shortest paths, which show what their hashing costs."""
    made = {}
    for title, model in MODELS[scale].items():
        for name, spec in model.simulated.items() if model.nodes <= SIMULATED_NODES else ():
            changes = {"fabric": "analytical", "topology": topology(spec)}
            scenario = load_scenario(folder / f"{model.scenario}.yaml", changes)
            made[title, spec] = Point(f"experts {model.scenario} {name}", scenario)
    return made


class _Times:
    """Times of an iteration on all systems, each with its best bucket."""

    def __init__(self, model: Model) -> None:
        file = examples_folder() / f"{model.scenario}.yaml"
        self.plans = [
            resolve(load_scenario(file, {"workload.bucket": bucket})).plan for bucket in BUCKETS
        ]
        nodes = model.nodes
        candidates = frontier(families().candidates(nodes, DEGREE))
        specs = [one.spec for one in candidates if one.schedule == "bfb"]
        found = {spec: self._on(spec) for spec in specs}
        self.spec = min(specs, key=lambda spec: found[spec])

        def rings(spec: str) -> Breakdown:
            def rings_us(collective: Collective, size: float) -> float:
                if collective == "all_to_all":
                    return choice(spec).time_us(collective, size, FABRIC)
                return ring_all_reduce_us(nodes, size)

            return self._with(rings_us)

        def trees_us(collective: Collective, size: float) -> float:
            times = {"all_to_all": tree_all_to_all_us, "all_reduce": tree_all_reduce_us}
            return times[collective](nodes, size)

        def bound_us(collective: Collective, size: float) -> float:
            bounds = {"all_to_all": least_all_to_all_us, "all_reduce": least_all_reduce_us}
            return bounds[collective](nodes, DEGREE, size, FABRIC)

        self.times = {
            OURS: found[self.spec],
            TORUS: self._on(f"torus:dims={model.side}x{model.side}"),
            SHIFTED: rings(shifted_ring(nodes)),
            FITTED: rings(fitted_shifted_ring(nodes)),
            TREES: self._with(trees_us),
            BOUND: self._with(bound_us),
        }

    def _on(self, spec: str) -> Breakdown:
        return self._with(lambda kind, size: choice(spec).time_us(kind, size, FABRIC))

    def _with(self, time_us: TimeUs) -> Breakdown:
        return min(breakdown(plan, time_us) for plan in self.plans)

    def iterations(self, slower: str, faster: str = OURS) -> float:
        """Return by how much longer an iteration is."""
        return self.times[slower].iteration / self.times[faster].iteration

    def exchanges(self, slower: str) -> float:
        """Return by how much longer the all-to-alls take than ours."""
        return self.times[slower].all_to_all / self.times[OURS].all_to_all


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compute the iterations, and list simulated ones beside them."""
    made = {title: _Times(model) for title, model in MODELS[scale].items()}
    for title, times in made.items():
        yield from _statements(title, times)
    yield from _over_models(made)
    parts = ("iteration", "compute", "all-to-all", "all-reduce")
    headings = ["model", "topology", *(f"{part} [ms]" for part in parts)]
    rows = [
        [title, name if name != OURS else f"`{times.spec}`", *_cells(one)]
        for title, times in made.items()
        for name, one in times.times.items()
    ]
    title = "One iteration; the last column is what nothing overlaps"
    yield FIGURE.table(title, headings, rows)
    rows = [[title, f"`{spec}`", *_simulated(one)] for (title, spec), one in results.items()]
    title = "Simulated with single shortest paths (`fabric: analytical`, `all_to_all: direct`)"
    yield FIGURE.table(title, headings, rows)
    yield _chart(made)


def _statements(title: str, times: _Times) -> Iterator[Finding]:
    yield FIGURE.at_most(
        f"{title}: our iteration is within 5 % of the theoretical bound.",
        0.05,
        times.iterations(OURS, BOUND) - 1,
        "share",
        why="by the bounds of Table 4 for both collectives",
    )
    for text, ratio in (
        ("all-to-alls take longer on ShiftedRing and the torus than on ours", times.exchanges),
        ("iterations are longer on ShiftedRing and the torus than on ours", times.iterations),
    ):
        yield FIGURE.order(f"{title}: {text}.", ratio(SHIFTED), ratio(TORUS), evidence=_each(ratio))
    yield FIGURE.order(
        f"{title}: iterations are longer on DBT than on ShiftedRing.",
        *(times.iterations(TREES, name) for name in (SHIFTED, FITTED)),
        why="with either strides; the all-to-all of DBT is a lower bound",
    )
    if title != LARGE:
        return
    near = times.times[SHIFTED].all_to_all_share
    for name, paper in SHARES.items():
        yield FIGURE.share(
            f"{title}: share of the all-to-alls in an iteration on {name}.",
            paper,
            times.times[name].all_to_all_share,
            evidence=f"TopoOpt's strides {percent_text(near)}" if name == FITTED else "",
            basis="fitted" if name == FITTED else "",
        )
    for name in (FITTED, TORUS):
        yield FIGURE.times(
            f"{title}: all-to-alls of {name} over ours, as the shares imply.",
            _odds(SHARES[name]) / _odds(SHARES[OURS]),
            times.exchanges(name),
            evidence=f"TopoOpt's strides {times.exchanges(SHIFTED):.2f}×" if name == FITTED else "",
            why="the shares imply it if the rest of an iteration takes the same time",
            basis="fitted" if name == FITTED else "quotient",
        )


def _each(ratio: Callable[[str], float]) -> str:
    return each({name: ratio(name) for name in (SHIFTED, TORUS, FITTED)})


def _over_models(made: Mapping[str, _Times]) -> Iterator[Finding]:
    """Return the claims about all models together."""
    yield FIGURE.same(
        "The unoverlapped all-reduces of ShiftedRing and the torus take as long as ours.",
        *(
            times.times[name].all_reduce / times.times[OURS].all_reduce
            for times in made.values()
            for name in (SHIFTED, TORUS)
        ),
        why="all are nearly bandwidth-optimal, but ShiftedRing takes 2(N-1) steps a bucket",
    )
    if BASE in made and LARGE in made:

        def growth(name: str) -> float:
            return made[LARGE].exchanges(name) / made[BASE].exchanges(name)

        yield FIGURE.order(
            "The disparity of the all-to-alls is larger with 1024 nodes than with 256.",
            growth(SHIFTED),
            growth(TORUS),
            evidence=_each(growth),
            basis="quotient",
        )


def _odds(share: float) -> float:
    return share / (1 - share)


def _cells(one: Breakdown) -> list[str]:
    return [f"{value:.1f}" for value in (*one, one.all_reduce)]


def _simulated(result: Result) -> list[str]:
    """Return the parts of a simulated iteration; all-to-alls count while one is under way."""
    (iteration,) = result.iterations
    exchanged = busy_ns(one for one in result.collectives if one.operation == "all_to_all")
    return _cells(Breakdown(iteration.time_ns / 1e6, iteration.compute_ns / 1e6, exchanged / 1e6))


def _chart(made: Mapping[str, _Times]) -> Finding:
    every = {
        f"{name}, {title}": one for title, of in made.items() for name, one in of.times.items()
    }
    series = {
        "compute": [one.compute for one in every.values()],
        "all-reduces": [one.all_reduce for one in every.values()],
        "all-to-alls": [one.all_to_all for one in every.values()],
    }
    title = "An iteration of expert-parallel training"
    return FIGURE.lines(title, every, "ms", series, kind="stacked", logarithmic=False)


NOTES = """\
As in the paper, an all-reduce takes the α-β time of its schedule, and an all-to-all that of its
multi-commodity flow; each system has the best of four bucket sizes. Compute times are those of a
roofline of an A100 at half of its peak, where the paper measured a GPU. ShiftedRing has TopoOpt's
strides. The *fitted strides*, 1 and almost N/2, are those that the paper's shares imply: see
Figure 8. The all-to-all of DBT is a lower bound.

The second table simulates messages that take one shortest path each, chosen by a hash. Some links
then carry much more than others, so all-to-alls take longer than those of a flow. There, the
all-to-all column is the time in which at least one all-to-all is under way.
"""

EXPERIMENT = Experiment(
    "Expert-parallel training (Section 8.4, Appendix A.4)", (FIGURE,), evaluate, points, NOTES
)


#: Time of a collective of a number of bytes, in microseconds.
TimeUs = Callable[[Collective, int], float]


class Breakdown(NamedTuple):
    """The time of an iteration and its parts, in milliseconds."""

    iteration: float
    compute: float
    all_to_all: float

    @property
    def all_reduce(self) -> float:
        """The rest: the time in which the computation waits for all-reduces."""
        return self.iteration - self.compute - self.all_to_all

    @property
    def all_to_all_share(self) -> float:
        """The share of the all-to-alls."""
        return self.all_to_all / self.iteration


def breakdown(plan: Plan, time_us: TimeUs) -> Breakdown:
    """Return the iteration of a plan in which all ranks do the same.

    A rank has one compute stream, which runs its operators in their order. Collectives start when
    the nodes that they wait for are done. All ranks agree, so one rank stands for all.

    Parameters
    ----------
    plan : Plan
        The plan of one iteration, whose all-to-alls never overlap other work, such as that of
        ``kind: moe``.
    time_us : callable
        Time of each collective.
    """
    ends: list[float] = []
    stream = computed = exchanged = 0.0
    for node in plan.nodes:
        start = max((ends[other] for other in node.dependencies), default=0.0)
        if node.type == NodeType.COMPUTE:
            took = node.duration_ps / 1e6
            stream = max(start, stream) + took
            computed += took
            ends.append(stream)
            continue
        issue = plan.issues[node.collective]
        operation: Collective = "all_to_all" if issue.operation == "all_to_all" else "all_reduce"
        took = time_us(operation, issue.bytes)
        if operation == "all_to_all":
            exchanged += took
        ends.append(start + took)
    return Breakdown(max(ends) / 1000, computed / 1000, exchanged / 1000)
