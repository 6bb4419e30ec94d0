"""What the commands share that simulate many points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from bridge.batch.points import Outcome
from bridge.present.quantities import seconds_text, time_text
from bridge.results.errors import SimulationError

jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Points at a time; all cores by default."
)

scenarios_option = click.option(
    "--scenarios",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("scenarios"),
    show_default=True,
    help="The scenarios of the source tree.",
)


class Counter:
    """Writes a line to stderr for each point that is done.

    Parameters
    ----------
    total : int
        How many points there are.
    quiet : bool
        Only count.
    """

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self.total = total
        self.done = 0
        self._quiet = quiet

    def __call__(self, outcome: Outcome) -> None:
        """Count a point."""
        self.done += 1
        if self._quiet:
            return
        time = time_text(outcome.result.time_ns) if outcome.result else "no result"
        said = outcome.error or ("as before" if outcome.is_old else self._cost(outcome))
        click.echo(f"[{self.done}/{self.total}] {outcome.point.name}: {time}, {said}", err=True)

    @staticmethod
    def _cost(outcome: Outcome) -> str:
        assert outcome.result is not None
        return f"{seconds_text(outcome.result.simulator.wall_s)} of wall time"


def require_all(outcomes: Sequence[Outcome]) -> None:
    """Check that every point completed.

    Raises
    ------
    SimulationError
        If not, with the first one's error.
    """
    failed = [outcome for outcome in outcomes if outcome.error]
    if failed:
        first = failed[0]
        count = "1 point" if len(failed) == 1 else f"{len(failed)} points"
        raise SimulationError(
            f"{count} failed, the first of them {first.point.name}: {first.error}"
        )
