"""The comparison as a table for the terminal, as a page of the documentation, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

from rich.table import Table

from bridge.present import table as layout
from bridge.present.pictures.figure import bare, legend_below, new_figure, require_matplotlib, save
from bridge.present.quantities import time_text
from frontend.fabrics import ESTIMATORS
from tests.fidelity.comparison import REFERENCE, Row, Summary, fabrics, summarize

INTRODUCTION = """\
# Fidelity

The fabrics `flow` and `analytical` are *estimators*: they simulate messages, not packets, and are
much faster. This page shows their error. It compares the simulated time at which the workload ends
with that of `express`, which simulates every packet. `native` is unmodified ns-3, the reference for
`express`. Sentences that do not name RoCE are about TCP. The [glossary](glossary.md) explains the
terms.

To make this page (a few minutes, `native` most of them), and the errors that `cosim run` prints
with an estimate, run

```sh
make fidelity
```

## In short

"""

NOTES = """
![Error of the estimators](fidelity.svg)

An estimate states the errors in scenarios like it: on a network of the same *class*, of the same
kind of workload and algorithm if there are any. The classes are *direct* (links join ranks), *one
tier* of switches, *tiers* that have as much rate above as below, and *oversubscribed* ones. Where
packets could be lost, there is no error to state: `cosim run` says which buffer is too small for
what can arrive at once, or that links lose packets or fail.

## What explains the errors

- **`express` and `native`** run the same TCP. Where they differ, events of the same picosecond ran
  in another order. With loss, such a difference can add or save a timeout.
- **Acknowledgements.** The estimators do not carry them: 42 bytes in the other direction for each
  packet. At an MTU of 9000, this is up to 0.5 % if both directions are busy (`ring` and `direct` of
  8 MB).
- **Queues of acknowledgements.** If a rank sends and receives more than a window at the same time,
  acknowledgements wait behind its own data, and the peer's window waits for them. `analytical`
  models this for each message on its own; `flow` does not, so it is 3 to 5 % too fast for
  `halving_*`. With a model of windows it would be exact there, but too slow for training jobs,
  where several collectives share a link and packets of one fill the gaps of the other.
- **Shared links between switches** (`shared_*`). TCP does not share a link max–min fairly: a
  connection whose window is small for its round trip gets less, and bursts of several connections
  take turns. What a chain of steps waits for is the slowest of them. `flow` is too fast for
  all-to-alls and permutations there, and off in both directions for `halving_doubling`, where pairs
  at different distances take different links. Windows alone are not the reason: with windows that
  never hold a packet back, the errors of `flow` are as large. What is missing is the order in which
  packets wait, which only packets have.
- **`flow`** shares links max–min fairly from the moment at which a flow starts. At the packet
  level, the packets of a new flow first wait behind those of other flows. This delay adds up along
  the chains of small steps of `dbt`, which the `dlrm_*` scenarios also use. `flow` is too fast
  there.
- **Short messages on `flow`.** On a path in slow start, a message that fits into the window leaves
  its source at once, and is shorter than the path. It travels hop by hop and waits at each link
  behind the short messages before it. `direct_all_to_all` and the scenarios on TopoOpt and on
  Fat-trees have such messages. Paths whose first window covers a round trip (10 packets; with an
  MTU of 9000 at 100 Gb/s about 7 µs) have none, because their messages can fill the whole path.
  Streams have no queues in which short messages wait, and where jobs share a Fat-tree, `flow`
  is up to 5 % too slow.
- **`analytical`** sends whole messages, one after the other on each link. It is exact where
  messages do not meet. A message waits at its source until the window of its connection has room.
  Without this, `dbt_*_8MB` would be 12 to 13 % too slow, because a burst on one path would delay
  all other messages of its rank. Between switches, short messages pass long ones. Elsewhere, a
  step of one chain may wait for whole messages of other chains, or overtake them, so that the
  error has either sign.
- **Language models at full size.** Llama 3 70B on 1024 ranks (`llm_llama3_70b_h100`, 176 thousand
  million packets) takes 8634.43 ms; `analytical` says 0.007 % less, and `flow` 0.27 % less (`cosim
  run` with `--set fabric=…`). Where messages between pipeline stages meet gradients, `analytical`
  is 13 % too slow, and `flow` is not ([language models](llm.md#speed)).
- **Order of messages.** `analytical` enters a message on the last link of its path when the message
  leaves the link before. Both estimators wait once for a bundle of messages if only the last one
  matters. If all links differ, this changes no time (`tests/ns3_scratch/test_bundles.py`). If
  messages from equal links arrive at one place at the same picosecond, their order may change,
  which moves `dlrm_*` by up to 0.2 %.
- **Losses.** The estimators do not lose packets. With losses, TCP's timeouts dominate (50 ms each
  here), and an estimate only says how fast the network could have been.

## The scenarios

These are `scenarios/*_small.yaml`, and all-reduces with `scenarios/collective.yaml`. The names of
the latter consist of the algorithm (`halving` is halving_doubling), the number of ranks and the
bytes. Their buffers are large enough to lose nothing. The exception is `lossy`: all ranks address
their peers in the same order, and the buffers overflow. The `shared_*` scenarios are drawn at
random: collectives over leaf and spine switches, with 1 to 4 times as much rate below the leaves as
above them, connections spread by hashes, and ranks in random order or in permutations. The `roce_*`
scenarios are `scenarios/clos_roce.yaml` over RoCE with each congestion control, with lossless
switches; `native` has TCP alone.

"""


def headings(native: bool) -> list[str]:
    """Return the names of the columns."""
    names = ["scenario", *(["native"] if native else []), REFERENCE]
    for fabric in ESTIMATORS:
        names += [fabric, "error"]
    return names


def cells(row: Row, native: bool) -> list[str]:
    """Return one line of the table."""
    line = [row.case.name]
    line += [_time(row, name) for name in fabrics(native) if name not in ESTIMATORS]
    for fabric in ESTIMATORS:
        line += [_time(row, fabric), percent(row.deviation(fabric))]
    return line


def _time(row: Row, fabric: str) -> str:
    return "failed" if fabric in row.errors else time_text(row.times_ns.get(fabric))


def percent(fraction: float | None) -> str:
    """Return an error as text with its sign.

    Examples
    --------
    >>> percent(0.0123), percent(-0.5), percent(None)
    ('+1.23 %', '-50.00 %', '–')
    """
    return "–" if fraction is None else f"{100 * fraction:+.2f} %"


def conclusions(rows: Sequence[Row], native: bool) -> list[str]:
    """Return one sentence for each comparison of two fabrics."""
    return [f"{text}: {_range(summary)}." for text, summary in _summaries(rows, native)]


def _summaries(rows: Sequence[Row], native: bool) -> Iterator[tuple[str, Summary]]:
    """Yield what is compared, in words, with the errors."""
    pairs = [(fabric, REFERENCE) for fabric in ESTIMATORS]
    if native:
        pairs += [(fabric, "native") for fabric in fabrics(native)[1:]]
    for fabric, reference in pairs:
        summary = summarize(rows, fabric, reference)
        if summary is not None:
            yield f"{fabric} against {reference}, without loss", summary
    for fabric in ESTIMATORS:
        summary = summarize(rows, fabric, is_roce=True)
        if summary is not None:
            yield f"{fabric} against {REFERENCE} over RoCE", summary
    for network in sorted({row.network for row in rows if row.network}):
        alike = [row for row in rows if row.network == network]
        for summary in filter(None, (summarize(alike, fabric) for fabric in ESTIMATORS)):
            yield f"{summary.fabric} on networks of the class *{network}*", summary


def _range(summary: Summary) -> str:
    return (
        f"{percent(summary.least)} to {percent(summary.greatest)} in {summary.cases} cases, "
        f"{_mean(summary)} on average"
    )


def _mean(summary: Summary) -> str:
    return f"{100 * summary.mean_absolute:.2f} %"


def table(rows: Sequence[Row], native: bool) -> Table:
    """Return the rows as a table for the terminal.

    Parameters
    ----------
    rows : sequence of Row
        The result of `compare`.
    native : bool
        Whether the rows include the native fabric.
    """
    return layout.table(headings(native), [cells(row, native) for row in rows])


def markdown(rows: Sequence[Row], native: bool) -> str:
    """Return the page ``fidelity.md``, which shows ``fidelity.svg``.

    Parameters
    ----------
    rows, native
        As for `table`.
    """
    short = [
        (text, str(one.cases), percent(one.least), percent(one.greatest), _mean(one))
        for text, one in _summaries(rows, native)
    ]
    scenarios = [cells(row, native) for row in rows]
    return "".join(
        [
            INTRODUCTION,
            _markdown(("compared", "scenarios", "from", "to", "mean error"), short),
            NOTES,
            _markdown(headings(native), scenarios),
        ]
    )


def _markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [names, ["---", *["---:"] * (len(names) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_MARKS = (("o", "#4477aa"), ("D", "#cc6677"), ("s", "#228833"), ("^", "#aa3377"))


def draw(rows: Sequence[Row], file: Path) -> None:
    """Draw the error of each estimator against the packet level.

    Parameters
    ----------
    rows : sequence of Row
        What `compare` gave.
    file : Path
        The SVG file to write.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    require_matplotlib()
    import matplotlib

    figure = new_figure(8, 1.6 + 0.24 * len(rows))
    axes = figure.subplots()
    for fabric, (marker, color) in zip(ESTIMATORS, cycle(_MARKS), strict=False):
        marks = [
            (100 * deviation, index)
            for index, row in enumerate(rows)
            if (deviation := row.deviation(fabric)) is not None
        ]
        axes.plot(
            [error for error, _ in marks],
            [index for _, index in marks],
            marker,
            color=color,
            label=fabric,
            alpha=0.8,
        )
    axes.axvline(0, color="black", linewidth=0.8)
    # Linear up to 1 %: most errors are small, but losses make some large.
    axes.set_xscale("symlog", linthresh=1)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%+g %%"))
    axes.set_yticks(range(len(rows)), [row.case.name for row in rows])
    axes.invert_yaxis()
    axes.margins(y=0.02)
    axes.set_xlabel(f"error of the simulated time, relative to {REFERENCE}")
    bare(axes, "x")
    legend_below(figure, axes)
    save(figure, file)
