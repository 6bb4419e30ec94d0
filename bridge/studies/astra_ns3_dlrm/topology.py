"""Experiment 1 of the paper's DLRM study: the physical topology (Section IV.B, Figs. 11 to 13)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from bridge.batch.points import Point
from bridge.present.quantities import percent_text, time_text
from bridge.results.result import Result
from bridge.studies.astra_ns3_dlrm.systems import (
    EMBEDDING,
    SYSTEMS,
    bottom_compute_ns,
    compute_share,
    exposed_ns,
    paper_time_ns,
    share_chart,
    share_table,
    system_name,
    system_point,
)
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
from bridge.studies.framework.scoring import number, order, same

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


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return one point for each system."""
    return [system_point(folder, scale, system) for system in SYSTEMS]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare raw and exposed communication of the layers, and the totals of the systems."""
    systems = {system: results[system_name(system)] for system in SYSTEMS}
    return Findings(
        [*_raw(systems), *_exposed(systems), *_totals(systems)],
        [
            _layers("11", "Raw communication delay over two iterations", systems),
            _layers("12", "Compute + exposed communication over two iterations", systems),
            share_table("13", "Totals over two iterations", "system", systems),
        ],
        [
            _raw_chart(systems),
            _layer_chart(systems),
            share_chart("13", "Compute and exposed communication", systems),
        ],
        notes=NOTES,
    )


def _raw(systems: dict[str, Result]) -> list[Statement]:
    raw = {name: _raw_delays(result) for name, result in systems.items()}
    names = [layer for layer in raw["hier"] if layer != EMBEDDING]
    top = _top_layers(raw["hier"])
    # The layers of equal weights, last issued first; the first and the last layer differ.
    equal = top[1:-1]
    all_reduce = {name: sum(delays[layer] for layer in names) for name, delays in raw.items()}
    forward, backward = (
        {name: _all_to_all(result, direction) for name, result in systems.items()}
        for direction in ("forward", "backward")
    )
    computed = {
        name: {layer.name: layer.compute_ns for layer in result.layers}
        for name, result in systems.items()
    }
    lower = {
        name: sum(delays[layer] < delays[top[0]] for layer in top[1:]) / len(top[1:])
        for name, delays in raw.items()
    }
    rising = {name: _rising([raw[name][layer] for layer in equal]) for name in raw}
    return [
        order(
            "12",
            "Of all layers, the first top layer computes longest.",
            [
                times[top[0]] / max(time for layer, time in times.items() if layer != top[0])
                for times in computed.values()
            ],
            evidence=_each({name: time_text(times[top[0]]) for name, times in computed.items()}),
            basis="input",
        ),
        Statement(
            "11",
            "Many other top layers have a lower raw delay than the first one.",
            all(share >= MANY for share in lower.values()),
            evidence="share of the other top layers for which this is true: "
            + _each({name: percent_text(share) for name, share in lower.items()}),
            why=_QUEUES,
        ),
        Statement(
            "11",
            "The all-reduce of the last top layer, which is issued first, is the shortest.",
            all(min(names, key=delays.__getitem__) == top[-1] for delays in raw.values()),
            evidence=_each({name: time_text(delays[top[-1]]) for name, delays in raw.items()}),
            why="on the flat systems, its 1024 chunks of 4 bytes take 16 rounds of 64 in flight; "
            "later layers are issued before that, and go first (LIFO)",
        ),
        Statement(
            "11",
            "LIFO: among layers with equal weights, all-reduces issued later complete faster.",
            all(share >= MOSTLY for share in rising.values()),
            evidence="share of neighbouring layers for which this is true: "
            + _each({name: percent_text(share) for name, share in rising.items()}),
        ),
        order(
            "11",
            "flat800 has the fastest all-to-all.",
            _over({name: delays[EMBEDDING] for name, delays in raw.items()}, "flat800"),
            evidence=_each({name: time_text(delays[EMBEDDING]) for name, delays in raw.items()}),
        ),
        order(
            "11",
            "The backward all-to-all takes longer than the forward one.",
            [backward[name] / forward[name] for name in systems],
            evidence=_each(
                {
                    name: f"{time_text(backward[name])} against {time_text(forward[name])}"
                    for name in systems
                }
            ),
            why="it has the highest priority, so it only waits for the chunks that are in flight: "
            "64 of 8 KiB on the flat systems, 42 µs at 100 Gb/s, and of 64 KiB on the others",
        ),
        order(
            "11",
            "All-to-alls are faster on the flat system than on the hierarchical ones.",
            [raw[name][EMBEDDING] / raw["flat100"][EMBEDDING] for name in HIERARCHICAL],
            evidence=_each(
                {name: time_text(raw[name][EMBEDDING]) for name in (*HIERARCHICAL, "flat100")}
            ),
        ),
        order(
            "11",
            "All-reduces are faster on the hierarchical systems than on the flat one.",
            [all_reduce["flat100"] / all_reduce[name] for name in HIERARCHICAL],
            evidence=_each(
                {name: time_text(all_reduce[name]) for name in (*HIERARCHICAL, "flat100")}
            ),
            why="hier sends all data of all ranks through the scale-out switch, like flat100; only "
            "hierOpt sends less",
        ),
        order(
            "11",
            "hierOpt has the least all-reduce latency, summed over the layers.",
            _over(all_reduce, "hierOpt"),
            evidence=_each({name: time_text(value) for name, value in all_reduce.items()}),
        ),
    ]


def _exposed(systems: dict[str, Result]) -> list[Statement]:
    embedding = {name: exposed_ns(result, EMBEDDING) for name, result in systems.items()}
    others = [name for name in systems if name != "flat800"]
    first = _top_layers(_raw_delays(systems["hier"]))[0]
    passes = {
        direction: {
            name: _all_to_all(systems[name], direction)
            / bottom_compute_ns(systems[name], direction)
            for name in others
        }
        for direction in ("backward", "forward")
    }
    stalls = {
        name: max(
            (layer.name for layer in result.layers if layer.name != EMBEDDING),
            key=lambda layer: exposed_ns(result, layer),
        )
        for name, result in systems.items()
    }
    return [
        Statement(
            "12",
            "flat800 has no exposed all-to-all, but the other systems do.",
            embedding["flat800"] == 0 and all(embedding[name] > 0 for name in others),
            evidence=_each({name: time_text(value) for name, value in embedding.items()}),
        ),
        *(
            order(
                "12",
                f"Apart from flat800, the {direction} all-to-all takes longer than the {direction} "
                "pass over the bottom MLP.",
                list(ratios.values()),
                evidence=_each({name: f"{ratio:.2f}×" for name, ratio in ratios.items()}),
            )
            for direction, ratios in passes.items()
        ),
        Statement(
            "12",
            "Among the MLP layers, the forward pass waits longest at the first top layer.",
            all(layer == first for layer in stalls.values()),
            evidence=_each(stalls),
            why="hierOpt waits at no top layer, and flat800 waits as long for the bottom layer "
            "that is issued last",
        ),
    ]


def _totals(systems: dict[str, Result]) -> list[Statement]:
    times = {name: paper_time_ns(result) for name, result in systems.items()}
    return [
        *(
            number(
                "13",
                f"Share of compute, {name}.",
                paper=PAPER_SHARES[name],
                ours=compute_share(result),
                unit="share",
            )
            for name, result in systems.items()
        ),
        number(
            "13",
            "Iteration time, flat100 to flat800.",
            paper=2.97,
            ours=times["flat100"] / times["flat800"],
            unit="times",
            basis="quotient",
        ),
        number(
            "13",
            "Iteration time, hier to hierOpt.",
            paper=2.91,
            ours=times["hier"] / times["hierOpt"],
            unit="times",
            basis="quotient",
        ),
        same(
            "13",
            "hierOpt with 100 Gb/s is as fast as flat800 with 800 Gb/s.",
            [times["hierOpt"] / times["flat800"]],
            why="the paper's shares of compute, 77.9 % and 80.0 %, differ by 3 %",
            basis="quotient",
        ),
    ]


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


def _each(values: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _layers(figure: str, title: str, systems: dict[str, Result]) -> Table:
    def cell(result: Result, layer: str) -> str:
        one = next(entry for entry in result.layers if entry.name == layer)
        if figure == "11":
            return time_text(one.raw_comm_ns)
        return f"{time_text(one.compute_ns)} + {time_text(exposed_ns(result, layer))}"

    names = [layer.name for layer in next(iter(systems.values())).layers]
    rows = [[layer, *(cell(result, layer) for result in systems.values())] for layer in names]
    return Table(figure, title, ("layer", *systems), rows)


def _raw_chart(systems: dict[str, Result]) -> Chart:
    labels = [layer.name for layer in next(iter(systems.values())).layers]
    series = {
        name: [layer.raw_comm_ns / 1e6 for layer in result.layers]
        for name, result in systems.items()
    }
    panel = Panel("raw delay [ms]", series, logarithmic=True)
    return Chart("11", "Raw communication delay of the layers, two iterations", labels, [panel])


def _layer_chart(systems: dict[str, Result]) -> Chart:
    labels = [layer.name for layer in next(iter(systems.values())).layers]
    panels = [
        Panel(
            "time [ms]",
            {
                "compute": [layer.compute_ns / 1e6 for layer in result.layers],
                "exposed communication": [
                    exposed_ns(result, layer.name) / 1e6 for layer in result.layers
                ],
            },
            kind="stacked",
            title=name,
        )
        for name, result in systems.items()
    ]
    return Chart("12", "Compute and exposed communication, two iterations", labels, panels)


NOTES = """\
What the numbers mean:

- Latency limits flat800, not its links: 64 chunks of 8 KiB in 14 steps of a microsecond use a third
  of 800 Gb/s. Of all systems, its share of compute therefore depends most on the overhead of a
  step.
- In the paper's Fig. 12, the longest wait is at the first top layer. Here it is the same for the
  systems that wait for MLPs at all.
"""

EXPERIMENT = Experiment(
    "DLRM: effect of the physical topology (Section IV.B)", ("11", "12", "13"), points, evaluate
)
