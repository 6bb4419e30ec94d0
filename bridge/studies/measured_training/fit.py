"""Fit the numbers of each group, and write `fits.csv`.

``python -m bridge.studies.measured_training.fit`` takes some minutes. There are two fits:

- *One number*, the efficiency, from the first run of a group, its smallest.
- *Two numbers*: a step is the simulated one times `slower`, plus `fixed_s`, a time that is the same
  for all steps, such as that of the host between two steps. They come from the first run and the
  next one of the same layout with fewer micro-batches. A group without such a run takes `fixed_s`
  from another group with the same software.

The measurement of no other run enters. A group whose first run has no measurement has no fit.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from functools import partial

import bridge
from bridge.studies.measured_training.predict import points, step
from bridge.studies.measured_training.runs import FOLDER, Fit, Run, Table

CLOSE = 1e-4
"""Relative error of the fitted run."""


def simulated_s(run: Run, efficiency: float) -> float:
    """Return the predicted step of a run with an efficiency."""
    results = {name: bridge.run(point.scenario) for name, point in points(run, efficiency).items()}
    return step(run, results).total


def fitted(
    measured_s: float | None,
    simulated_s: Callable[[float], float],
    begin: float,
    *,
    most: float = 1.0,
    close: float = CLOSE,
    rounds: int = 12,
) -> float:
    """Return the efficiency with which a simulated step is the measured one.

    Parameters
    ----------
    measured_s : float
        The measured step; that of a blind run cannot be fitted.
    simulated_s : callable
        Returns the step with an efficiency.
    begin, most : float
        The first efficiency that is tried, and the greatest.
    close : float
        Relative error of the step that is good enough.
    rounds : int
        Simulations at most.
    """
    assert measured_s is not None
    efficiency = begin
    for _ in range(rounds):
        # Most of a step is in inverse proportion to the efficiency.
        ratio = simulated_s(efficiency) / measured_s
        if abs(ratio - 1) < close:
            break
        efficiency = round(min(most, efficiency * ratio), 5)
    return efficiency


def second(runs: list[Run]) -> Run | None:
    """Return the next run of the same layout with fewer micro-batches that is not blind."""
    first = runs[0]

    def layout(run: Run) -> tuple[object, ...]:
        return run.model, run.tp, run.cp, run.pp, run.chunks, run.micro_batch

    for run in runs[1:]:
        fewer = run.micro_batches < first.micro_batches
        if fewer and not run.blind and layout(run) == layout(first):
            return run
    return None


def fit(group: str, runs: list[Run], begin: float) -> Fit:
    """Return the fit of a group by its own runs; `begin` is the first efficiency that it tries."""
    first, other = runs[0], second(runs)
    efficiency = fitted(first.measured_s, partial(simulated_s, first), begin)
    if other is None:
        return Fit(group, first.id, efficiency, "", None, None)
    long_s, short_s = (simulated_s(run, efficiency) for run in (first, other))
    slower, fixed_s = two_numbers(first, other, long_s, short_s)
    return Fit(group, first.id, efficiency, other.id, round(slower, 5), round(fixed_s, 4))


def two_numbers(first: Run, other: Run, long_s: float, short_s: float) -> tuple[float, float]:
    """Return `slower` and `fixed_s` from the simulated steps of two runs."""
    assert first.measured_s is not None
    assert other.measured_s is not None
    slower = (first.measured_s - other.measured_s) / (long_s - short_s)
    return slower, first.measured_s - slower * long_s


def with_software(one: Fit, every: list[Fit], table: Table) -> Fit:
    """Return a fit with the fixed time of another group of the same software, if it has none."""
    run = table.groups[one.group][0]
    for other in every:
        same = other.group.split()[-1] == one.group.split()[-1]
        if not one.second_run and other.fixed_s is not None and same:
            assert run.measured_s is not None
            slower = 1 - other.fixed_s / run.measured_s
            return one._replace(slower=round(slower, 5), fixed_s=other.fixed_s)
    return one


def main() -> None:
    """Fit the groups whose names contain a word, or all groups."""
    words, table = sys.argv[1:], Table()
    known = table.fits if (FOLDER / "fits.csv").exists() else {}
    found = []
    for group, runs in table.groups.items():
        if runs[0].measured is None:
            continue
        if group in known and words and not any(word in group for word in words):
            found.append(known[group])
            continue
        found.append(fit(group, runs, known[group].efficiency if group in known else 0.5))
        print(*found[-1], sep=" | ", file=sys.stderr, flush=True)
    with (FOLDER / "fits.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Fit._fields)
        writer.writerows(with_software(one, found, table) for one in found)


if __name__ == "__main__":
    main()
