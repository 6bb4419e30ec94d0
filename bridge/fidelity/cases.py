"""The fixed set of scenarios of the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from bridge.errors import InputError
from frontend import Scenario, load_scenario

ALGORITHMS = ("ring", "direct", "dbt", "halving_doubling")
RANKS = (16, 32)
SIZES = ("256KB", "8MB")

#: A buffer in which an all-reduce of 8 MB over 32 ranks loses nothing, and one in which it does
#: when all address their peers in the same order.
ENOUGH, SCARCE = {"buffer": "1GB", "order": "rotated"}, {"buffer": "4MB", "order": "same"}


@dataclass(frozen=True)
class Case:
    """One scenario of the set."""

    name: str
    """Name in the table."""
    scenario: Scenario
    """The scenario; the comparison replaces its fabric."""
    is_lossy: bool = False
    """Whether buffers overflow at the packet level."""


def cases(folder: Path) -> list[Case]:
    """Return the set: small training iterations, then all-reduces on one switch.

    Parameters
    ----------
    folder : Path
        The source tree's ``scenarios``.

    Returns
    -------
    list of Case

    Raises
    ------
    InputError
        If the folder does not contain them.
    """
    return [*_small(folder), *_collectives(folder)]


def _small(folder: Path) -> Iterator[Case]:
    files = sorted(folder.glob("*_small.yaml"))
    if not files or not (folder / "collective.yaml").is_file():
        raise InputError(
            f"{folder}: no collective.yaml and *_small.yaml there, "
            "expected the scenarios that come with cosim (--scenarios)"
        )
    for file in files:
        scenario = load_scenario(file)
        # `native` cannot change links. If circuits follow the demand, each fabric also leads to
        # other circuits; docs/topoopt.md compares these scenarios.
        if getattr(scenario.topology, "reconfiguration", None) is None and not scenario.events:
            yield Case(file.stem, scenario)


def _collectives(folder: Path) -> Iterator[Case]:
    file = folder / "collective.yaml"

    def case(algorithm: str, ranks: int, size: str, *, is_lossy: bool = False) -> Case:
        ports = SCARCE if is_lossy else ENOUGH
        name = f"{algorithm.partition('_')[0]}_{ranks}_{size}{'_lossy' if is_lossy else ''}"
        changes = {
            "name": name,
            "topology.ranks": ranks,
            "topology.buffer": ports["buffer"],
            "workload.algorithm": algorithm,
            "workload.peer_order": ports["order"],
            "workload.bytes": size,
        }
        return Case(name, load_scenario(file, changes), is_lossy)

    for algorithm, ranks, size in product(ALGORITHMS, RANKS, SIZES):
        yield case(algorithm, ranks, size)
    yield case("direct", 32, "8MB", is_lossy=True)
