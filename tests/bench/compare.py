"""Compare two runs of the benchmark: `python -m tests.bench.compare [OLD [NEW]]`.

By default the newest run of `benchmarks/` is compared with the one before. A row that has a ratio
in both runs is judged by it, as the reference was measured by the same machine in the same minutes.
Only rows without are judged by CPU seconds, which depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.bench.record import FOLDER, Row, read

SLOWER = 0.1
"""Rows that are slower by more than this share are marked."""

SHORTEST_S = 0.02
"""Rows that take less CPU time in both runs are not judged: the clock decides."""


@dataclass(frozen=True)
class Change:
    """A row in both runs."""

    name: str
    old_s: float | None
    """CPU seconds; None where it failed or is missing."""
    new_s: float | None
    slowdown: float | None
    """How much slower it is, as a share: 0.5 is half as much time again; None if not judged."""
    by: Literal["ratio", "seconds", "missing", "failed", "too short"]
    """What it is judged by, or why it is not."""

    @property
    def is_slower(self) -> bool:
        """Whether it is marked."""
        return self.slowdown is not None and self.slowdown > SLOWER


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Return each row of the two runs: those of the new one, then what only the old one has."""
    before, after = ({row["name"]: row for row in run["rows"]} for run in (old, new))
    return [_change(name, before.get(name), after.get(name)) for name in {**after, **before}]


def _change(name: str, old: Row | None, new: Row | None) -> Change:
    old_s, new_s = (row.get("cpu_s") if row else None for row in (old, new))
    if old is None or new is None:
        return Change(name, old_s, new_s, None, "missing")
    if old_s is None or new_s is None:
        return Change(name, old_s, new_s, None, "failed")
    if max(old_s, new_s) < SHORTEST_S:
        return Change(name, old_s, new_s, None, "too short")
    if old.get("ratio") and new.get("ratio"):
        return Change(name, old_s, new_s, old["ratio"] / new["ratio"] - 1, "ratio")
    return Change(name, old_s, new_s, new_s / old_s - 1 if old_s else None, "seconds")


def table(rows: list[Change]) -> str:
    """Return the comparison as Markdown."""
    lines = [
        "| row | old CPU s | new CPU s | change | by | |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        seconds = ["" if one is None else f"{one:.3f}" for one in (row.old_s, row.new_s)]
        change = "" if row.slowdown is None else f"{100 * row.slowdown:+.1f} %"
        mark = "**slower**" if row.is_slower else ""
        lines.append(f"| {' | '.join([row.name, *seconds, change, row.by, mark])} |")
    return "\n".join(lines)


def heading(run: dict[str, Any]) -> str:
    """Return a line about a run: date, commit, machine, load."""
    machine = run["machine"]
    loads = [machine.get("load_average", "?"), machine.get("load_average_at_end", "?")]
    return (
        f"{run['date']} {run['commit']}: {machine.get('cpu', '?')}, {machine.get('cores', '?')} "
        f"cores, load average {loads[0]} to {loads[1]}"
    )


def by_date(folder: Path) -> list[Path]:
    """Return the runs of a folder, the oldest first."""
    return sorted(folder.glob("*.json"), key=lambda file: str(read(file)["date"]))


def main(arguments: list[str] | None = None) -> int:
    """Print the comparison; return 1 if a row is slower than `--fail-above` allows."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compare")
    parser.add_argument("old", nargs="?", type=Path, help="by default the run before the newest")
    parser.add_argument("new", nargs="?", type=Path, help="by default the newest run")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where runs are kept")
    parser.add_argument(
        "--fail-above", type=float, metavar="PERCENT", help="exit with 1 if a row is this slower"
    )
    chosen = parser.parse_args(arguments)
    try:
        kept = by_date(chosen.folder) if chosen.new is None else []
        new = chosen.new or (kept.pop() if kept else None)
        old = chosen.old or (kept.pop() if kept else None)
        if old is None or new is None:
            parser.error(f"{chosen.folder}: fewer than two runs there, make some with `make bench`")
        runs = read(old), read(new)
    except ValueError as error:
        parser.error(str(error))
    rows = changes(*runs)
    print(f"old: {heading(runs[0])}\nnew: {heading(runs[1])}\n\n{table(rows)}")
    worst = max((row.slowdown for row in rows if row.slowdown is not None), default=0.0)
    return int(chosen.fail_above is not None and 100 * worst > chosen.fail_above)


if __name__ == "__main__":
    sys.exit(main())
