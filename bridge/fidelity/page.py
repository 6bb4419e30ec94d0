"""The comparison as a table for the terminal and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from bridge.fidelity.comparison import REFERENCE, Row, fabrics, summarize
from bridge.present.quantities import time_text
from frontend.scenario import ESTIMATORS

INTRODUCTION = """\
# Fidelity

How far the estimators are from the packet level: simulated time to the end of the workload, and
its error relative to `express`. Made by `cosim fidelity --native --write docs`; the scenarios are
`scenarios/*_small.yaml` and all-reduces with `scenarios/collective.yaml`, named by algorithm
(`halving` is halving_doubling), ranks and bytes, with buffers in which nothing is lost; in `lossy`
all ranks address their peers in one order and the buffers overrun.

"""

NOTES = """
![Error of the estimators](fidelity.svg)

What to make of it:

- `native` and `express` run the same TCP. Where they differ, events of the same picosecond take
  another order; with loss, a timeout more or less follows from that.
- The estimators carry no acknowledgements: 42 bytes in the other direction for each packet, up to
  0.5 % at an MTU of 9000 where both directions are busy (`ring` and `direct` of 8 MB).
- Nor do they queue. Where a rank sends and receives more than a window at a time, acknowledgements
  wait behind its own data, and its peer's window for them: with windows of 16 MB that are open from
  the start, the error of `halving_16_8MB` is 0.6 %. That of the small ones is the same with any
  window.
- `flow` shares links max–min fairly from the moment at which a flow starts. At the packet level a
  new flow's packets first wait behind those of the others, which adds up along the chains of small
  steps of `dbt` and of the `dlrm_*` scenarios, which use it: there `flow` is optimistic.
- `analytical` sends messages whole, one behind the other on every link. It is exact where messages
  do not meet; where they do, a step of one chain may wait for whole messages of others, or pass
  them, and the error has either sign.
- `analytical` enters a message on the last link of its path when it leaves the one before, and both
  estimators wait for bundles of messages of which only the last matters. Over links that all differ
  this changes no time (`tests/ns3_scratch/test_bundles.py`); where messages of equal links come to
  one place at the same picosecond, another order of theirs moves `dlrm_*` by up to 0.2 %.
- At full size `dlrm_hier_opt`, `dlrm_hier` and `dlrm_flat100` have fewer chunks on the estimators
  (`system.estimator_chunks`), so that these take a quarter of the time or less; pipelines fill more
  slowly. `cosim run scenarios/dlrm_hier_opt.yaml --set fabric=flow`, with and without
  `--set system.estimator_chunks=null`, and so on:

  | | express | flow | all chunks | analytical | all chunks |
  | --- | ---: | ---: | ---: | ---: | ---: |
  | dlrm_hier_opt, 32 of 128 | 9.131 ms | 8.719 ms | 8.450 ms | 9.410 ms | 9.243 ms |
  | dlrm_hier, 64 of 128 | 41.09 ms | 44.03 ms | 43.92 ms | 41.80 ms | 41.27 ms |
  | dlrm_flat100, 128 of 1024 | 40.38 ms | 43.85 ms | 44.09 ms | 40.87 ms | 40.01 ms |

  Where the latency of steps decides, chunks matter: `dlrm_flat800` with 128 of 1024 takes 7.29 ms
  on `flow` instead of 9.32 ms, and has all.
- Neither loses packets. With loss, TCP's timeouts decide (50 ms each here), and an estimate says
  only how fast the network could have been.
"""


def headings(native: bool) -> list[str]:
    """Give the columns' names."""
    names = ["scenario", *(["native"] if native else []), REFERENCE]
    for fabric in ESTIMATORS:
        names += [fabric, "error"]
    return names


def cells(row: Row, native: bool) -> list[str]:
    """Give one line of the table."""
    line = [row.case.name]
    line += [_time(row, name) for name in fabrics(native) if name not in ESTIMATORS]
    for fabric in ESTIMATORS:
        line += [_time(row, fabric), percent(row.deviation(fabric))]
    return line


def _time(row: Row, fabric: str) -> str:
    return "failed" if fabric in row.errors else time_text(row.times_ns.get(fabric))


def percent(fraction: float | None) -> str:
    """Write an error with its sign.

    Examples
    --------
    >>> percent(0.0123), percent(-0.5), percent(None)
    ('+1.23 %', '-50.00 %', '–')
    """
    return "–" if fraction is None else f"{100 * fraction:+.2f} %"


def conclusions(rows: Sequence[Row], native: bool) -> list[str]:
    """Give a sentence for each fabric that is compared."""
    sentences = []
    pairs = [(fabric, REFERENCE) for fabric in ESTIMATORS]
    if native:
        pairs += [(fabric, "native") for fabric in fabrics(native)[1:]]
    for fabric, reference in pairs:
        summary = summarize(rows, fabric, reference)
        if summary is not None:
            sentences.append(
                f"{fabric} against {reference}, without loss: mean error "
                f"{100 * summary.mean_absolute:.2f} %, largest {percent(summary.largest)}."
            )
    return sentences


def table(rows: Sequence[Row], native: bool) -> Table:
    """Lay the rows out for a terminal.

    Parameters
    ----------
    rows : sequence of Row
        What `compare` gave.
    native : bool
        Whether they have the native fabric.

    Returns
    -------
    rich.table.Table
    """
    layout = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for index, name in enumerate(headings(native)):
        layout.add_column(name, justify="right" if index else "left", overflow="fold")
    for row in rows:
        layout.add_row(*(Text(cell) for cell in cells(row, native)))
    return layout


def markdown(rows: Sequence[Row], native: bool) -> str:
    """Write the page ``fidelity.md``, which shows ``fidelity.svg``.

    Parameters
    ----------
    rows, native
        As for `table`.

    Returns
    -------
    str
    """
    names = headings(native)
    lines = [names, ["---", *["---:"] * (len(names) - 1)]]
    lines += [cells(row, native) for row in rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    points = "".join(f"- {sentence}\n" for sentence in conclusions(rows, native))
    return f"{INTRODUCTION}{text}\n{points}{NOTES}"
