"""What a command asks of a study: the sizes, the places and the outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.batch.points import Outcome, Point
from bridge.cli.points import run_counted
from bridge.files import write_whole
from bridge.studies.framework.model import Scale


@dataclass(frozen=True)
class Order:
    """What is asked of a study, whichever way it runs."""

    scale: Scale
    """The size of the simulations."""
    scenarios: Path
    """The folder of the scenarios."""
    folder: Path
    """Gets the report, its data and the results, which are not simulated again."""
    page: Path | None
    """Gets the text of the report, too."""
    jobs: int | None
    """Simulations at the same time."""
    address: str | None
    """Where they run, as for `bridge.batch.places.place_at`; by default, on this machine."""
    as_json: bool
    """Whether to print the data of the report and no progress."""

    def run(self, points: Sequence[Point], *, is_part: bool = False) -> list[Outcome]:
        """Simulate points; see `bridge.cli.points.run_counted`."""
        return run_counted(
            points,
            self.folder / "points",
            jobs=self.jobs,
            address=self.address,
            quiet=self.as_json,
            is_part=is_part,
        )

    def write_data(self, name: str, data: Mapping[str, Any] | Sequence[Any]) -> str:
        """Write the data of a report to a file of the folder, and return them as JSON."""
        text = json.dumps(data, indent=1, ensure_ascii=False)
        write_whole(self.folder / name, f"{text}\n".encode())
        return text

    def reports(self, name: str) -> list[Path]:
        """Return the files that get a report: one of the folder, and the page."""
        return [self.folder / name, *([self.page] if self.page is not None else [])]
