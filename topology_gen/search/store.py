"""What searches found: a file beside this one, and another in the user's cache."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.lift import lift
from topology_gen.search.found import Arc, Found

PACKAGED = Path(__file__).with_name("found.json")
"""Found with `cosim topo find --n N --degree D --cayley --seconds S --seed K`."""

FORMAT = 1
"""Of the file; others are not read."""


@dataclass(frozen=True)
class Record:
    """Something found, and how large it is.

    Attributes
    ----------
    nodes, degree : int
    orbits : int
        1 for a Cayley digraph.
    found : Found
    """

    nodes: int
    degree: int
    orbits: int
    found: Found

    @property
    def spec(self) -> str:
        """The topology as one line that needs no file."""
        rows = ("/".join(_written(arc) for arc in row) for row in self.found.arcs)
        return "lift:arcs=" + "+".join(rows)


def found(nodes: int, degree: int, index: int = 0) -> Digraph:
    """Return a digraph that a search found: a Cayley digraph, or a lift by a group.

    Parameters
    ----------
    nodes, degree : int
        For which something is stored.
    index : int
        Which, from the one with the fewest steps.

    Raises
    ------
    ParameterError
        Nothing, or not so much, is stored.

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
    """Return what is stored beside this file, by nodes and degree, each from the fewest steps."""
    result: dict[tuple[int, int], list[Record]] = {}
    for record in read(PACKAGED):
        result.setdefault((record.nodes, record.degree), []).append(record)
    return result


def read(path: Path) -> list[Record]:
    """Return the records of a file; none if there is no such, or it cannot be read as one."""
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            return []
        return [_record(entry) for entry in content["found"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def text(records: Iterable[Record]) -> str:
    """Return the content of a file: a record a line, sorted."""
    ordered = sorted(records, key=lambda each: (each.degree, each.nodes, each.found.key))
    lines = ",\n".join(json.dumps(_entry(record)) for record in ordered)
    return f'{{"format": {FORMAT}, "found": [\n{lines}\n]}}\n'


def merged(records: Iterable[Record], other: Iterable[Record]) -> list[Record]:
    """Return those of both that none of the same size and degree is as good as in everything."""
    front: list[Record] = []
    for record in [*records, *other]:
        same = [
            each for each in front if (each.nodes, each.degree) == (record.nodes, record.degree)
        ]
        if not any(record.found.beaten_by(each.found) for each in same):
            beaten = [each for each in same if each.found.beaten_by(record.found)]
            front = [each for each in front if each not in beaten] + [record]
    return front


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
    )


def _written(arc: Arc) -> str:
    to, by = arc
    return f"{to}>{'.'.join(str(image) for image in by)}"


def read_arc(written: str) -> Arc:
    """Return where an arc leads and its permutation, as of ``0>1.2.0``.

    Raises
    ------
    ValueError
        Something else.
    """
    to, _, by = written.partition(">")
    return int(to), tuple(int(image) for image in by.split("."))
