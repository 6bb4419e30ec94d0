"""Run as many cases as fit into a time: ``python -m tests.fuzz --seconds 120``.

Exit status: 0 if every answer was right. Each wrong one is stored in a folder below ``--keep``,
which has the form of `found/`; move it there once it is answered rightly.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from tests.fuzz import cases, corpus
from tests.fuzz.workers import Name, Verdict, Workers

_SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


@click.command()
@click.option("--seconds", default=120.0, show_default=True, help="Time to run.")
@click.option("--seed", default=1, show_default=True, help="Seed of the choice of the cases.")
@click.option("--kind", "kinds", multiple=True, help="Kind of file, such as stream; repeatable.")
@click.option("--first", default=0, help="Number of the first case of each kind.")
@click.option("--count", type=int, help="Number of cases of each kind; as many as fit by default.")
@click.option("--jobs", default=os.cpu_count() or 1, help="Number of processes.")
@click.option(
    "--replay",
    "program",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path),
    help="Run streams with this program, such as a build of ns3-scratch/replay with sanitizers.",
)
@click.option(
    "--keep",
    default="build/fuzz",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for the cases that are answered wrongly.",
)
def main(
    seconds: float,
    seed: int,
    kinds: tuple[str, ...],
    first: int,
    count: int | None,
    jobs: int,
    program: Path | None,
    keep: Path,
) -> None:
    """Give altered files to cosim, and check that each answer is a result or one sentence."""
    seeds = corpus.make(_SCENARIOS)
    wanted = ("stream",) if program is not None else kinds or tuple(seeds)
    chosen = {kind: seeds[kind] for kind in wanted}
    names = _within(cases.names(chosen, seed), seconds, first, count)
    statuses: dict[str, Counter[int]] = {kind: Counter() for kind in chosen}
    slowest = Verdict(("", 0, 0), 0, "", 0.0)
    found = 0
    for verdict in Workers(partial(cases.number, chosen), jobs, program).run(names):
        kind, _, index = verdict.name
        statuses[kind][verdict.status] += 1
        if verdict.wrong:
            found += 1
            folder = keep / f"{kind}-{seed}-{index}"
            cases.number(chosen, *verdict.name).store(folder)
            click.echo(f"{folder}: {verdict.wrong}", err=True)
        elif verdict.seconds > slowest.seconds:
            slowest = verdict
    for kind, counts in statuses.items():
        parts = ", ".join(f"{n} × {status}" for status, n in sorted(counts.items()))
        click.echo(f"{kind}: {counts.total()} cases with exit status {parts or '-'}")
    click.echo(f"slowest: {slowest.name}, {slowest.seconds:.1f} s of CPU time; wrong: {found}")
    sys.exit(1 if found else 0)


def _within(names: Iterator[Name], seconds: float, first: int, count: int | None) -> Iterator[Name]:
    """Return cases from number `first` on, until the time is over."""
    end = time.monotonic() + seconds
    for kind, seed, index in names:
        if count is not None and index >= first + count:
            return
        if index < first:
            continue
        if time.monotonic() >= end:
            return
        yield kind, seed, index


if __name__ == "__main__":
    main()
