"""Experiment 1 of the paper's DLRM study: the physical topology (Section IV.B, Figs. 11 to 13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from bridge.present.quantities import percent_text, time_text
from bridge.results.result import Result
from bridge.studies.astra_ns3_dlrm.systems import (
    EMBEDDING,
    SYSTEMS,
    bottom_compute_ns,
    compute_share,
    exposed_ns,
    paper_time_ns,
    shares,
    system_point,
)
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale, each

FIG_11, FIG_12, FIG_13 = FIGURES = Figure("11"), Figure("12"), Figure("13")

#: The paper's shares of compute: 100 % less the exposed communication of Observation 7.
PAPER_SHARES = {"hier": 1 - 0.732, "hierOpt": 1 - 0.221, "flat100": 1 - 0.731, "flat800": 1 - 0.2}

#: The systems of super-nodes, whose links between them are those of flat100.
HIERARCHICAL = ("hier", "hierOpt")

#: Share of neighbouring layers that must follow the paper's rule.
MOSTLY = 0.75

#: Share of the other layers that counts as many of them.
MANY = 0.5

_QUEUES = (
    "an all-reduce of a layer takes longer than the layer computes, so they queue up, and LIFO "
    "leaves the first ones for last; only hierOpt's network is fast enough for some"
)


def points(folder: Path, scale: Scale) -> Points:
    """Return one point for each system."""
    return {system: system_point(folder, scale, system) for system in SYSTEMS}


def evaluate(systems: Results, scale: Scale) -> Iterator[Finding]:
    """Compare raw and exposed communication of the layers, and the totals of the systems."""
    yield from _raw(systems)
    yield from _exposed(systems)
    yield from _totals(systems)
    yield from _layers(systems)
    yield from shares(FIG_13, "system", "", systems)


def _raw(systems: Results) -> Iterator[Finding]:
    raw = {name: _raw_delays(result) for name, result in systems.items()}
    names = [layer for layer in raw["hier"] if layer != EMBEDDING]
    top = _top_layers(raw["hier"])
    computed = [
        {layer.name: layer.compute_ns for layer in result.layers} for result in systems.values()
    ]
    first = [layers.pop(top[0]) for layers in computed]
    yield FIG_12.order(
        "Of all layers, the first top layer computes longest.",
        *(mine / max(others.values()) for mine, others in zip(first, computed, strict=True)),
        evidence=each(dict(zip(systems, first, strict=True)), time_text),
        basis="input",
    )
    lower = {
        name: sum(delays[layer] < delays[top[0]] for layer in top[1:]) / len(top[1:])
        for name, delays in raw.items()
    }
    yield FIG_11.fact(
        "Many other top layers have a lower raw delay than the first one.",
        all(share >= MANY for share in lower.values()),
        evidence="share of the other top layers for which this is true: "
        + each(lower, percent_text),
        why=_QUEUES,
    )
    yield FIG_11.fact(
        "The all-reduce of the last top layer, which is issued first, is the shortest.",
        all(min(names, key=delays.__getitem__) == top[-1] for delays in raw.values()),
        evidence=each({name: delays[top[-1]] for name, delays in raw.items()}, time_text),
        why="on the flat systems, its 1024 chunks of 4 bytes take 16 rounds of 64 in flight; "
        "later layers are issued before that, and go first (LIFO)",
    )
    # The layers of equal weights, last issued first; the first and the last layer differ.
    equal = top[1:-1]
    rising = {name: _rising([delays[layer] for layer in equal]) for name, delays in raw.items()}
    yield FIG_11.fact(
        "LIFO: among layers with equal weights, all-reduces issued later complete faster.",
        all(share >= MOSTLY for share in rising.values()),
        evidence="share of neighbouring layers for which this is true: "
        + each(rising, percent_text),
    )
    exchange = {name: delays[EMBEDDING] for name, delays in raw.items()}
    yield FIG_11.order(
        "flat800 has the fastest all-to-all.",
        *_over(exchange, "flat800"),
        evidence=each(exchange, time_text),
    )
    forward, backward = (
        {name: _all_to_all(result, direction) for name, result in systems.items()}
        for direction in ("forward", "backward")
    )
    yield FIG_11.order(
        "The backward all-to-all takes longer than the forward one.",
        *(backward[name] / forward[name] for name in systems),
        evidence=each(
            {
                name: f"{time_text(backward[name])} against {time_text(forward[name])}"
                for name in raw
            },
            str,
        ),
        why="it has the highest priority, so it only waits for the chunks that are in flight: "
        "64 of 8 KiB on the flat systems, 42 µs at 100 Gb/s, and of 64 KiB on the others",
    )
    compared = (*HIERARCHICAL, "flat100")
    yield FIG_11.order(
        "All-to-alls are faster on the flat system than on the hierarchical ones.",
        *(exchange[name] / exchange["flat100"] for name in HIERARCHICAL),
        evidence=each({name: exchange[name] for name in compared}, time_text),
    )
    all_reduce = {name: sum(delays[layer] for layer in names) for name, delays in raw.items()}
    yield FIG_11.order(
        "All-reduces are faster on the hierarchical systems than on the flat one.",
        *(all_reduce["flat100"] / all_reduce[name] for name in HIERARCHICAL),
        evidence=each({name: all_reduce[name] for name in compared}, time_text),
        why="hier sends all data of all ranks through the scale-out switch, like flat100; only "
        "hierOpt sends less",
    )
    yield FIG_11.order(
        "hierOpt has the least all-reduce latency, summed over the layers.",
        *_over(all_reduce, "hierOpt"),
        evidence=each(all_reduce, time_text),
    )


def _exposed(systems: Results) -> Iterator[Finding]:
    embedding = {name: exposed_ns(result, EMBEDDING) for name, result in systems.items()}
    others = [name for name in systems if name != "flat800"]
    yield FIG_12.fact(
        "flat800 has no exposed all-to-all, but the other systems do.",
        embedding["flat800"] == 0 and all(embedding[name] > 0 for name in others),
        evidence=each(embedding, time_text),
    )
    for direction in ("backward", "forward"):
        passes = {
            name: _all_to_all(systems[name], direction)
            / bottom_compute_ns(systems[name], direction)
            for name in others
        }
        yield FIG_12.order(
            f"Apart from flat800, the {direction} all-to-all takes longer than the {direction} "
            "pass over the bottom MLP.",
            *passes.values(),
            evidence=each(passes),
        )
    stalls = {
        name: max(
            (layer.name for layer in result.layers if layer.name != EMBEDDING),
            key=lambda layer: exposed_ns(result, layer),
        )
        for name, result in systems.items()
    }
    first = _top_layers(_raw_delays(systems["hier"]))[0]
    yield FIG_12.fact(
        "Among the MLP layers, the forward pass waits longest at the first top layer.",
        all(layer == first for layer in stalls.values()),
        evidence=each(stalls, str),
        why="hierOpt waits at no top layer, and flat800 waits as long for the bottom layer "
        "that is issued last",
    )


def _totals(systems: Results) -> Iterator[Finding]:
    for name, result in systems.items():
        share = compute_share(result)
        yield FIG_13.share(f"Share of compute, {name}.", PAPER_SHARES[name], share)
    times = {name: paper_time_ns(result) for name, result in systems.items()}
    for slow, fast, paper in (("flat100", "flat800", 2.97), ("hier", "hierOpt", 2.91)):
        text = f"Iteration time, {slow} to {fast}."
        yield FIG_13.times(text, paper, times[slow] / times[fast], basis="quotient")
    yield FIG_13.same(
        "hierOpt with 100 Gb/s is as fast as flat800 with 800 Gb/s.",
        times["hierOpt"] / times["flat800"],
        why="the paper's shares of compute, 77.9 % and 80.0 %, differ by 3 %",
        basis="quotient",
    )


def _over(values: dict[str, float], name: str) -> list[float]:
    """Return all other values divided by the named one."""
    return [value / values[name] for other, value in values.items() if other != name]


def _raw_delays(result: Result) -> dict[str, float]:
    return {layer.name: layer.raw_comm_ns for layer in result.layers if layer.raw_comm_ns}


def _top_layers(delays: dict[str, float]) -> list[str]:
    return [name for name in delays if name.startswith("top_mlp")]


def _all_to_all(result: Result, direction: str) -> float:
    return sum(
        one.time_ns
        for one in result.collectives
        if one.operation == "all_to_all" and direction in one.name
    )


def _rising(values: Sequence[float]) -> float:
    """Return the share of neighbouring pairs whose second value is larger."""
    pairs = list(pairwise(values))
    return sum(low < high for low, high in pairs) / len(pairs)


def _layers(systems: Results) -> Iterator[Finding]:
    """Return tables and charts of the layers."""
    every = {name: {one.name: one for one in result.layers} for name, result in systems.items()}
    labels = list(next(iter(every.values())))

    def exposed(name: str, layer: str) -> float:
        return exposed_ns(systems[name], layer)

    def table(figure: Figure, title: str, cell: Callable[[str, str], str]) -> Finding:
        rows = [[layer, *(cell(name, layer) for name in systems)] for layer in labels]
        return figure.table(f"{title} over two iterations", ("layer", *systems), rows)

    yield table(
        FIG_11,
        "Raw communication delay",
        lambda name, layer: time_text(every[name][layer].raw_comm_ns),
    )
    yield table(
        FIG_12,
        "Compute + exposed communication",
        lambda name, layer: (
            f"{time_text(every[name][layer].compute_ns)} + {time_text(exposed(name, layer))}"
        ),
    )
    raw = {name: [one.raw_comm_ns for one in of.values()] for name, of in every.items()}
    title = "Raw communication delay of the layers, two iterations"
    yield FIG_11.lines(title, labels, "raw delay [ms]", raw, kind="bars", per=1e6)
    panels = [
        (
            name,
            {
                "compute": [one.compute_ns for one in of.values()],
                "exposed communication": [exposed(name, layer) for layer in of],
            },
        )
        for name, of in every.items()
    ]
    title = "Compute and exposed communication, two iterations"
    yield FIG_12.lines(
        title, labels, "time [ms]", *panels, kind="stacked", logarithmic=False, per=1e6
    )


NOTES = """\
What the numbers mean:

- Latency limits flat800, not its links: 64 chunks of 8 KiB in 14 steps of a microsecond use a third
  of 800 Gb/s. Of all systems, its share of compute therefore depends most on the overhead of a
  step.
- In the paper's Fig. 12, the longest wait is at the first top layer. Here it is the same for the
  systems that wait for MLPs at all.
"""

EXPERIMENT = Experiment(
    "DLRM: effect of the physical topology (Section IV.B)", FIGURES, evaluate, points, NOTES
)
