"""Stores what searches have found: in a file of this package, and in one of the user's cache."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from topology_gen.errors import ParameterError
from topology_gen.files import read_bytes
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.lift import lift

Permutation = tuple[int, ...]
Arc = tuple[int, Permutation]
"""The target of an arc of the base digraph, and the arc's group element."""


@dataclass(frozen=True)
class Found:
    """A digraph on which a group acts, and its cost.

    Attributes
    ----------
    group : str
        The name of the group, if it has one.
    arcs : tuple
        For each arc of the base digraph, by generator and orbit: its target and its group element,
        as `topology_gen.graphs.families.lift` accepts them.
    steps : int
        The diameter.
    bandwidth_time, bandwidth_time_back : Fraction
        T_B of the all-gather and of the reduce-scatter, in units of M/B.
    distance : Fraction
        Sum of the distances from a node to all others, averaged over the nodes.
    """

    group: str
    arcs: tuple[tuple[Arc, ...], ...]
    steps: int
    bandwidth_time: Fraction
    bandwidth_time_back: Fraction
    distance: Fraction

    @property
    def key(self) -> tuple[int, Fraction, Fraction]:
        """The sort key, lower is better: steps, T_B, then distances."""
        return self.steps, self.bandwidth_time + self.bandwidth_time_back, self.distance

    def beaten_by(self, other: Found) -> bool:
        """Return whether another digraph is at least as good in every cost."""
        steps, time, distance = other.key
        return self.steps >= steps and self.key[1] >= time and self.distance >= distance


PACKAGED = Path(__file__).with_name("found.json")
"""The package's file: finds of `cosim topo find --n N --degree D --cayley --seconds S --seed K`."""

FORMAT = 1
"""Version of the format; files of other versions are ignored."""


@dataclass(frozen=True)
class Record:
    """A digraph that was found, and its size.

    Attributes
    ----------
    nodes, degree : int
        Size and degree of the digraph.
    orbits : int
        Number of orbits of the group; 1 for a Cayley digraph.
    found : Found
        The digraph and its cost.
    duplex : bool
        Whether every link has an opposite link.
    command : str
        The command that found it; empty if unknown.
    """

    nodes: int
    degree: int
    orbits: int
    found: Found
    duplex: bool = False
    command: str = ""

    @property
    def spec(self) -> str:
        """The topology as a spec that needs no file."""
        rows = ("/".join(_written(arc) for arc in row) for row in self.found.arcs)
        return "lift:arcs=" + "+".join(rows)


def found(nodes: int, degree: int, index: int = 0) -> Digraph:
    """Return a digraph that a search has found: a Cayley digraph, or a lift by a group.

    Parameters
    ----------
    nodes : int
        Number of nodes of the digraph.
    degree : int
        Degree of the digraph.
    index : int
        Number of the digraph, from 0: those with one-way links in ascending order of steps, then
        the duplex ones.

    Raises
    ------
    ParameterError
        No digraph, or fewer digraphs, are stored for this size and degree.

    Examples
    --------
    >>> graph = found(32, 4)
    >>> graph.nodes, graph.degree, graph.diameter
    (32, 4, 3)
    """
    records = packaged().get((nodes, degree), ())
    if not records:
        known = ", ".join(f"{n} of {d}" for n, d in packaged())
        raise ParameterError(f"{nodes} nodes of degree {degree}: expected one of {known}")
    if not 0 <= index < len(records):
        raise ParameterError(f"index {index}: expected 0 … {len(records) - 1}")
    graph = lift(records[index].found.arcs)
    return Digraph(
        f"Found({nodes},{degree})#{index}",
        graph.nodes,
        graph.source,
        graph.target,
        orbits=graph.orbits,
    )


@cache
def packaged() -> dict[tuple[int, int], list[Record]]:
    """Return the package's records by nodes and degree, each list in the order of `found`."""
    result: dict[tuple[int, int], list[Record]] = {}
    for record in read(PACKAGED):
        result.setdefault((record.nodes, record.degree), []).append(record)
    return result


def read(path: Path) -> list[Record]:
    """Return the records of a file, or none if the file does not exist or cannot be read."""
    try:
        content = json.loads(read_bytes(path))
        if content["format"] != FORMAT:
            return []
        return [_record(entry) for entry in content["found"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def text(records: Iterable[Record]) -> str:
    """Return the content of a file: sorted records, one on each line."""
    ordered = sorted(
        records, key=lambda each: (each.degree, each.nodes, each.duplex, each.found.key)
    )
    lines = ",\n".join(json.dumps(_entry(record)) for record in ordered)
    return f'{{"format": {FORMAT}, "found": [\n{lines}\n]}}\n'


def merged(records: Iterable[Record], other: Iterable[Record]) -> list[Record]:
    """Return the records of both that no other of the same size and degree equals or beats.

    A duplex digraph is compared with duplex ones only.
    """
    front: list[Record] = []
    for record in [*records, *other]:
        if not any(_beats(each, record) for each in front):
            front = [each for each in front if not _beats(record, each)] + [record]
    return front


def _beats(one: Record, other: Record) -> bool:
    """Return whether a record makes another one useless."""
    return (
        (one.nodes, one.degree) == (other.nodes, other.degree)
        and one.duplex >= other.duplex
        and other.found.beaten_by(one.found)
    )


def _entry(record: Record) -> dict[str, Any]:
    what = record.found
    return {
        "n": record.nodes,
        "degree": record.degree,
        "orbits": record.orbits,
        "group": what.group,
        "steps": what.steps,
        "t_b": str(what.bandwidth_time),
        "t_b_reduce_scatter": str(what.bandwidth_time_back),
        "distance": str(what.distance),
        "duplex": record.duplex,
        "command": record.command,
        "arcs": [[_written(arc) for arc in row] for row in what.arcs],
    }


def _record(entry: dict[str, Any]) -> Record:
    return Record(
        int(entry["n"]),
        int(entry["degree"]),
        int(entry["orbits"]),
        Found(
            str(entry["group"]),
            tuple(tuple(read_arc(arc) for arc in row) for row in entry["arcs"]),
            int(entry["steps"]),
            Fraction(entry["t_b"]),
            Fraction(entry["t_b_reduce_scatter"]),
            Fraction(entry["distance"]),
        ),
        bool(entry.get("duplex", False)),
        str(entry.get("command", "")),
    )


def _written(arc: Arc) -> str:
    to, by = arc
    return f"{to}>{'.'.join(str(image) for image in by)}"


def read_arc(written: str) -> Arc:
    """Return the target and the permutation of an arc such as ``0>1.2.0``.

    Raises
    ------
    ValueError
        The text has another form.
    """
    to, _, by = written.partition(">")
    return int(to), tuple(int(image) for image in by.split("."))
