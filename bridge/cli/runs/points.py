"""Options, progress and checks of the commands that simulate many points."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import click
from rich.console import Console

from bridge.batch.places import place_at
from bridge.batch.points import Outcome, Point, run_points
from bridge.examples import examples_folder
from bridge.present.progress import PointsDisplay, Snapshot, points_display
from bridge.present.quantities import seconds_text, time_text
from bridge.results.errors import SimulationError

T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """Every `count`-th item of a list, from item `index` on, which counts from 1."""

    index: int
    count: int

    def of(self, items: Sequence[T]) -> list[T]:
        """Return the items that belong to this shard."""
        return list(items[self.index - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class _ShardType(click.ParamType[Shard]):
    """A shard as I/N."""

    name = "I/N"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Shard:
        """Return the shard; fail with what is accepted."""
        match = re.fullmatch(r"(\d+)/(\d+)", value)
        if match is not None and 1 <= int(match[1]) <= int(match[2]):
            return Shard(int(match[1]), int(match[2]))
        self.fail(f"{value!r}: expected I/N with 1 ≤ I ≤ N, such as 2/8", parameter, context)


shard_option = click.option(
    "--shard",
    type=_ShardType(),
    metavar="I/N",
    help="Run only every N-th point, from the I-th on, for job arrays. Shards may share a folder "
    "and run at the same time. At the end, the command without --shard reads all results.",
)


over_option = click.option(
    "--over",
    "over",
    metavar="KEY=VALUE,VALUE,…",
    multiple=True,
    help="A key and the values to try; repeat it to try all combinations. A value may be a range: "
    "8..64*2 is 8, 16, 32, 64, and 100Gbps..400Gbps+100Gbps has four values.",
)


def on_option_for(what: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return the option ``--on``, which says where something runs."""
    return click.option(
        "--on",
        "address",
        metavar="PLACE",
        help=f"Where {what}: `ray` is the Ray cluster of this machine, ray://HOST:PORT another "
        "one. By default, the cores of this machine.",
    )


on_option = on_option_for("the points run")


jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Simulations that run at the same time; one for each core by default.",
)

scenarios_option = click.option(
    "--scenarios",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=examples_folder,
    show_default="those that come with cosim",
    help="Folder of the scenarios.",
)


class Counter(ExitStack):
    """Counts finished points, and shows on stderr which are done and which run.

    It is a context manager; leaving it removes what shows the running points.

    Parameters
    ----------
    total : int
        Number of points.
    quiet : bool
        Whether to count without writing.
    """

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        super().__init__()
        self.total = total
        self.done = 0
        self._display = PointsDisplay() if quiet else points_display(Console(stderr=True), total)

    def __enter__(self) -> Self:
        self.enter_context(self._display)
        return super().__enter__()

    def running(self, point: Point, progress: Snapshot) -> None:
        """Show how far a point is."""
        self._display.running(point.title, progress)

    def __call__(self, outcome: Outcome) -> None:
        """Count a finished point."""
        self.done += 1
        time = time_text(outcome.result.time_ns) if outcome.result else "no result"
        said = outcome.error or ("as before" if outcome.is_old else self._cost(outcome))
        if outcome.unreadable:
            said += f"; simulated again because of {outcome.unreadable}"
        title = outcome.point.title
        self._display.done(title, f"[{self.done}/{self.total}] {title}: {time}, {said}")

    @staticmethod
    def _cost(outcome: Outcome) -> str:
        assert outcome.result is not None
        return f"{seconds_text(outcome.result.simulator.wall_s)} of wall time"


def run_counted(
    points: Sequence[Point],
    folder: Path | None,
    *,
    jobs: int | None,
    address: str | None,
    quiet: bool,
    is_part: bool = False,
    allow_hooks: bool = False,
) -> list[Outcome]:
    """Simulate points, and show on stderr which are done and which run.

    Parameters
    ----------
    points, folder, jobs, is_part, allow_hooks
        As for `bridge.batch.points.run_points`.
    address : str, optional
        Where they run, as for `bridge.batch.places.place_at`; by default, on this machine.
    quiet : bool
        Whether to write nothing.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C; its text says how many points are done, and how to go on.
    """
    counter = Counter(len(points), quiet=quiet)
    try:
        with counter, closing(place_at(address)) as place:
            return run_points(
                points,
                jobs=jobs,
                place=place,
                is_part=is_part,
                folder=folder,
                on_done=counter,
                on_progress=counter.running,
                allow_hooks=allow_hooks,
            )
    except KeyboardInterrupt:
        again = f", the same command continues from {folder}" if folder else ""
        raise KeyboardInterrupt(
            f"interrupted: {counter.done} of {counter.total} points were done{again}"
        ) from None


def require_all(outcomes: Sequence[Outcome]) -> None:
    """Check that every point completed.

    Raises
    ------
    SimulationError
        A point failed; the message holds the error of the first one that did.
    """
    failed = [outcome for outcome in outcomes if outcome.error]
    if failed:
        first = failed[0]
        count = "1 point" if len(failed) == 1 else f"{len(failed)} points"
        raise SimulationError(
            f"{count} failed, the first of them {first.point.title}: {first.error}"
        )
