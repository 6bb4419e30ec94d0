"""What an iteration is spent on: from the peak rate of the ranks down to what is left of it.

The parts are measures of the result, and their sum is the time of a mean iteration. Computation
comes first: what the model needs at the peak rate, what the ranks compute slower than that, and
what they compute again. Then follow the communication that computation does not hide, by what it
is for, the update of the weights, and the wait for slower ranks.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from bridge.present.pictures.chart import Chart, axis, color
from bridge.present.quantities import percent_text, time_text, time_unit
from bridge.present.table import table
from bridge.results.result import Result

COMPUTE = "compute"
WAITING = "waiting for slower ranks"
PEAK = "model at the peak rate"
SLOWER = "slower than the peak"
AGAIN = "recompute"
UPDATE = "optimizer"

_EXPOSED = ("tensor parallel", "context parallel", "expert parallel", "pipeline parallel")
"""Communication in the order of the parts; what is not here follows, with data parallelism last."""

_LAST = "data parallel"


def uses(result: Result) -> dict[str, float]:
    """Return what a mean iteration consists of [ns]: compute, exposed communication, waiting.

    Communication is for a dimension of parallelism in a language model, and of an operation in
    other workloads. Layers also have the waits of iterations that have not ended, so only the
    proportions of the exposed communication are theirs. The sum is the time of the iteration.
    """
    operations: dict[str, set[str]] = {}
    for one in result.collectives:
        operations.setdefault(one.layer, set()).add(one.operation)
    exposed = sum(one.exposed_comm_ns for one in result.iterations)
    of_layers = sum(layer.exposed_comm_ns for layer in result.layers)
    parts = {COMPUTE: sum(one.compute_ns for one in result.iterations)}
    for layer in result.layers:
        name = layer.name
        if not name.endswith("_parallel"):
            name = " and ".join(sorted(operations.get(name, {"messages"})))
        part = layer.exposed_comm_ns / of_layers if of_layers else 0.0
        parts[name] = parts.get(name, 0.0) + part * exposed
    parts[WAITING] = sum(one.waiting_ns for one in result.iterations)
    return {
        kind.replace("_", " "): time / len(result.iterations)
        for kind, time in parts.items()
        if time > 0
    }


def waterfall(result: Result) -> dict[str, float]:
    """Return the parts of a mean iteration [ns] from the peak on; empty without computation.

    Only the training of a language model has a part at the peak rate. A part is negative if ranks
    compute less than the model's FLOPs, which count attention to later tokens, too.
    """
    found = uses(result) if result.iterations else {}
    compute = found.pop(COMPUTE, 0.0)
    if not compute:
        return {}
    count = len(result.iterations)
    layers = {layer.name: layer.compute_ns / count for layer in result.layers}
    again, update = layers.get(AGAIN, 0.0), layers.get(UPDATE, 0.0)
    compute -= again + update
    parts = {COMPUTE: compute}
    if result.training is not None:
        peak = result.training.mfu * result.time_ns / count
        parts = {PEAK: peak, SLOWER: compute - peak}
    parts[AGAIN] = again
    waiting = found.pop(WAITING, 0.0)
    last = found.pop(_LAST, 0.0)
    parts |= {name: found.pop(name) for name in _EXPOSED if name in found}
    parts |= found
    parts |= {_LAST: last, UPDATE: update, WAITING: waiting}
    return {name: time for name, time in parts.items() if time}


def waterfall_table(parts: Mapping[str, float]) -> Table:
    """Return the parts with their shares; with the MFU that is left after each, if it is known."""
    whole, peak, until = sum(parts.values()), parts.get(PEAK), 0.0
    rows = []
    for name, time in parts.items():
        until += time
        left = [] if peak is None else [percent_text(peak / until)]
        rows.append((name, time_text(time), percent_text(time / whole), *left))
    headings = ("where the time went", "time", "share")
    return table(headings if peak is None else (*headings, "MFU left"), rows)


def waterfall_chart(result: Result) -> Chart | None:
    """Return a bar for each part, which begins where the one before ends."""
    parts = waterfall(result)
    if not parts:
        return None
    whole = sum(parts.values())
    unit, scale = time_unit(whole)
    traces, start = [], 0.0
    for number, (name, time) in enumerate(parts.items()):
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": [name],
                "base": [start / scale],
                "x": [time / scale],
                "text": [percent_text(time / whole)],
                "marker": {"color": color(number)},
                "hovertemplate": f"%{{y}}: %{{x:.4~g}} {unit}, %{{text}}<extra></extra>",
                "offsetgroup": "all",
                "cliponaxis": False,
            }
        )
        start += time
    rate = "" if result.training is None else f": MFU {percent_text(result.training.mfu)}"
    layout = {
        "barmode": "overlay",
        "height": 130 + 28 * len(parts),
        "showlegend": False,
        "xaxis": axis(f"iteration, mean over the ranks [{unit}]"),
        "yaxis": {"autorange": "reversed", "automargin": True},
    }
    return Chart("waterfall", f"Where the time of an iteration went{rate}", traces, layout)
