"""The chart of what an iteration consists of."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.present.charts import Chart
from bridge.present.figure import COLORS
from bridge.present.stacked_bars import StackedBars
from bridge.results.result import Result

#: The rest of an iteration: ranks that have finished wait for the last one.
_OTHER = "waiting for slower ranks"


def iteration_parts(results: Mapping[str, Result]) -> Chart | None:
    """Return what an iteration consists of: compute, exposed communication by its use, waiting.

    Communication is for a dimension of parallelism in a language model, and of an operation in
    other workloads.
    """
    known = {name: result for name, result in results.items() if result.iterations}
    times = {name: _parts(result) for name, result in known.items()}
    kinds = list(dict.fromkeys(kind for parts in times.values() for kind in parts))
    if not times:
        return None
    kinds.sort(key=lambda kind: (kind == _OTHER, kind != "compute"))
    bars = StackedBars(max(sum(parts.values()) for parts in times.values()))
    palette = COLORS[1:-1]
    for number, kind in enumerate(kinds):
        color = {"compute": COLORS[0], _OTHER: COLORS[-1]}.get(kind, palette[number % len(palette)])
        bars.add(kind, {name: parts.get(kind, 0.0) for name, parts in times.items()}, color)
    layout = bars.layout("iteration, mean over the ranks", 40 * len(times))
    caption = "Time of an iteration: compute, and exposed communication by what it is for"
    return Chart("iteration", caption, bars.traces, layout)


def _parts(result: Result) -> dict[str, float]:
    """Return the parts of a mean iteration [ns], which add up to its time.

    Layers also have the waits of iterations that have not ended, so only the proportions of the
    exposed communication are theirs.
    """
    operations: dict[str, set[str]] = {}
    for one in result.collectives:
        operations.setdefault(one.layer, set()).add(one.operation)
    exposed = sum(one.exposed_comm_ns for one in result.iterations)
    of_layers = sum(layer.exposed_comm_ns for layer in result.layers)
    parts = {"compute": sum(one.compute_ns for one in result.iterations)}
    for layer in result.layers:
        name = layer.name
        if not name.endswith("_parallel"):
            name = " and ".join(sorted(operations.get(name, {"messages"})))
        part = layer.exposed_comm_ns / of_layers if of_layers else 0.0
        parts[name] = parts.get(name, 0.0) + part * exposed
    parts[_OTHER] = sum(one.waiting_ns for one in result.iterations)
    return {
        kind.replace("_", " "): time / len(result.iterations)
        for kind, time in parts.items()
        if time > 0
    }
