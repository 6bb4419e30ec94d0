"""The fixed set of scenarios of the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

from bridge.errors import InputError
from frontend import Scenario, load_scenario

ALGORITHMS = ("ring", "direct", "dbt", "halving_doubling")
RANKS = (16, 32)
SIZES = ("256KB", "8MB")

#: A buffer in which an all-reduce of 8 MB over 32 ranks loses nothing, and one in which it does
#: when all address their peers in the same order.
ENOUGH, SCARCE = {"buffer": "1GB", "order": "rotated"}, {"buffer": "4MB", "order": "same"}


#: Random cases on networks whose links between switches are shared, and the seed of their choice.
SHARED, SEED = 30, 1


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
    """Return the set: small training iterations, all-reduces on one switch, then collectives over
    leaf and spine switches.

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
    return [*_small(folder), *_collectives(folder), *_shared(Random(SEED))]


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
        # other circuits; docs/topoopt.md compares these scenarios. It has TCP alone; docs/roce.md
        # compares scenarios of RoCE.
        changes = getattr(scenario.topology, "reconfiguration", None) is not None
        if not changes and not scenario.events and scenario.transport.protocol == "tcp":
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


def _shared(chance: Random) -> Iterator[Case]:
    """Draw collectives over leaf and spine switches with 1 to 4 times as much rate below as above.

    Connections are spread over the spines by hashes, so some links carry more than others. The
    order of the ranks of rings and trees is random, or permutations send across the spines. Buffers
    are unlimited: what is measured is how an estimate shares links, not what it leaves out.
    """
    for number in range(SHARED):
        operation, algorithm = chance.choice(
            (
                ("all_reduce", "ring"),
                ("all_reduce", "halving_doubling"),
                ("all_reduce", "dbt"),
                ("all_gather", "ring"),
                ("all_to_all", "direct"),
                ("all_to_all", "direct"),
                ("all_to_all", "permutation"),
            )
        )
        ranks = chance.choice((12, 16, 24))
        ratio, spines = chance.choice(((1, 4), (2, 2), (3, 2), (4, 2)))
        size = chance.choice((200_000, 1_000_000, 4_000_000))
        order = chance.sample(range(ranks), ranks)
        workload: dict[str, object] = {"kind": "collective", "operation": operation}
        if algorithm == "permutation":
            rows = [[0] * ranks for _ in range(ranks)]
            for one, other in zip(order, [*order[1:], order[0]], strict=True):
                rows[one][other] = size
            workload |= {"algorithm": "direct", "matrix": [[f"{n}B" for n in row] for row in rows]}
        else:
            workload |= {"algorithm": algorithm, "bytes": f"{size}B", "group": order}
        name = f"shared_{number:02}_{algorithm.partition('_')[0]}_{ranks}_{ratio}to1"
        scenario = {
            "name": name,
            "seed": number + 1,
            "topology": {
                "family": "leaf_spine",
                "servers": ranks,
                "radix": (1 + ratio) * spines,
                "oversubscription": ratio,
                "bandwidth": "100Gbps",
                "buffer": "unlimited",
                "latency": chance.choice(("0.2us", "0.5us", "1us")),
            },
            "workload": workload,
            "routing": {"policy": "ecmp"},
            "system": {"chunks": chance.choice((1, 4))},
            "links": {"mtu": chance.choice(("1500B", "9000B"))},
            "transport": {
                "window": chance.choice(("0.5MB", "2MB")),
            },
        }
        yield Case(name, load_scenario(scenario))
