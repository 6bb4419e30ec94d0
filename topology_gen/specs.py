"""Families by name, and specs such as `family:key=value,…`, which write a topology on one line.

An expansion takes another topology in brackets: ``line:of=[complete_bipartite:d=4],k=2``. Brackets
can be nested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from topology_gen import expansions, graphs
from topology_gen.errors import DegreeError, ParameterError, SpecError, TopologyError
from topology_gen.graphs.digraph import Digraph
from topology_gen.search import store

GREATEST_BRACKETS = 32
"""Greatest number of topologies inside a topology."""


class Parser(NamedTuple):
    """How to read a value, and a description of what is accepted."""

    read: Callable[[str], Any]
    words: str


class Parameter(NamedTuple):
    """A parameter of a family.

    `argument` is the parameter's name in the family's function; `example` is a value for examples.
    """

    argument: str
    parser: Parser
    example: str = ""
    required: bool = True


class Family(NamedTuple):
    """A family of topologies: its function, and the keys that can follow the colon."""

    make: Callable[..., Digraph]
    parameters: Mapping[str, Parameter]

    @property
    def text(self) -> str:
        """A description of the family in one line."""
        first = (self.make.__doc__ or "").strip().splitlines()[0]
        return first.removeprefix("Return ").removesuffix(".")


def _integer(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise ValueError(text)
    return int(text)


def _integers(separator: str) -> Callable[[str], list[int]]:
    return lambda text: [_integer(part) for part in text.split(separator)]


INTEGER = Parser(_integer, "a whole number")
LENGTHS = Parser(_integers("x"), "whole numbers joined by x, such as 4x4")
OFFSETS = Parser(_integers("+"), "whole numbers joined by +, such as 2+3")
PERMUTATIONS = Parser(
    lambda text: [_integers(".")(part) for part in text.split("+")],
    "permutations joined by +, such as 1.2.0+1.0.2",
)
ARCS = Parser(
    lambda text: [[store.read_arc(arc) for arc in row.split("/")] for row in text.split("+")],
    "rows joined by + of arcs joined by /, each a node and a permutation, such as 0>1.2.0",
)
NAME = Parser(str, "a name")
BASE = Parser(
    lambda text: parse(inner(text)), "a topology in brackets, such as [complete_bipartite:d=4]"
)
BASES = Parser(
    lambda text: [parse(inner(part)) for part in split(text, "+")],
    "topologies in brackets joined by +, such as [complete:n=4]+[ring:n=3]",
)

_N = Parameter("nodes", INTEGER, "64")
_D = Parameter("degree", INTEGER, "4")
_SEED = Parameter("seed", INTEGER, "1", required=False)
_DIAMETER = Parameter("diameter", INTEGER, "3")
_RING_DEGREE = Parameter("degree", INTEGER, "2", required=False)
_DIMS = Parameter("dims", LENGTHS, "4x8")
_BASE = Parameter("of", BASE, "[complete_bipartite:d=2]")
_OFFSETS = Parameter("offsets", OFFSETS, "5+6", required=False)

FAMILIES: Mapping[str, Family] = {
    "complete": Family(graphs.complete, {"n": _N}),
    "complete_bipartite": Family(graphs.complete_bipartite, {"d": _D}),
    "hamming": Family(
        graphs.hamming,
        {"k": Parameter("dimensions", INTEGER, "2"), "q": Parameter("letters", INTEGER, "3")},
    ),
    "ring": Family(graphs.ring, {"n": _N, "d": _RING_DEGREE}),
    "unidirectional_ring": Family(
        graphs.unidirectional_ring,
        {"n": _N, "d": Parameter("degree", INTEGER, "1", required=False)},
    ),
    "torus": Family(graphs.torus, {"dims": _DIMS}),
    "unidirectional_torus": Family(graphs.unidirectional_torus, {"dims": _DIMS}),
    "twisted_torus": Family(
        graphs.twisted_torus,
        {
            "a": Parameter("side", INTEGER, "4"),
            "k": Parameter("dimensions", INTEGER, "2", required=False),
        },
    ),
    "hypercube": Family(graphs.hypercube, {"n": _N}),
    "twisted_hypercube": Family(graphs.twisted_hypercube, {"n": _N}),
    "circulant": Family(graphs.circulant, {"n": _N, "offsets": _OFFSETS}),
    "directed_circulant": Family(graphs.directed_circulant, {"n": _N, "offsets": _OFFSETS}),
    "kautz": Family(graphs.kautz, {"d": _D, "k": _DIAMETER}),
    "generalized_kautz": Family(graphs.generalized_kautz, {"d": _D, "n": _N}),
    "de_bruijn": Family(graphs.de_bruijn, {"d": _D, "k": _DIAMETER}),
    "modified_de_bruijn": Family(graphs.modified_de_bruijn, {"d": _D, "k": _DIAMETER}),
    "distance_regular": Family(
        graphs.distance_regular, {"name": Parameter("name", NAME, "odd_graph_o4")}
    ),
    "double_binary_tree": Family(graphs.double_binary_tree, {"n": _N}),
    "shifted_ring": Family(
        graphs.shifted_ring, {"n": _N, "d": Parameter("degree", INTEGER, "4", required=False)}
    ),
    "random_regular": Family(graphs.random_regular, {"n": _N, "d": _D, "seed": _SEED}),
    "xpander": Family(
        graphs.xpander, {"n": Parameter("nodes", INTEGER, "60"), "d": _D, "seed": _SEED}
    ),
    "cayley": Family(
        graphs.cayley, {"generators": Parameter("generators", PERMUTATIONS, "1.0.2+1.2.0")}
    ),
    "lift": Family(
        graphs.lift,
        {"arcs": Parameter("arcs", ARCS, "0>1.2.0/1>2.0.1+1>0.1.2/0>0.1.2")},
    ),
    "found": Family(
        store.found,
        {
            "n": Parameter("nodes", INTEGER, "32"),
            "d": _D,
            "i": Parameter("index", INTEGER, "0", required=False),
        },
    ),
    "line": Family(
        expansions.line_graph,
        {"of": _BASE, "k": Parameter("times", INTEGER, "3", required=False)},
    ),
    "degree": Family(
        expansions.degree_expansion, {"of": _BASE, "n": Parameter("times", INTEGER, "2")}
    ),
    "power": Family(
        expansions.cartesian_power, {"of": _BASE, "n": Parameter("times", INTEGER, "2")}
    ),
    "product": Family(
        expansions.cartesian_product, {"of": Parameter("of", BASES, "[complete:n=4]+[ring:n=3]")}
    ),
    "bidirectional": Family(
        expansions.bidirectional, {"of": Parameter("of", BASE, "[unidirectional_ring:n=5]")}
    ),
}


def parse(spec: str) -> Digraph:
    """Return the digraph of a spec `family:key=value,…`.

    Parameters
    ----------
    spec : str
        A spec such as ``hypercube:n=1024``, ``torus:dims=50x50``, ``circulant:n=12,offsets=2+3``.

    Raises
    ------
    SpecError
        The family or a key is unknown, a key is missing or given twice, or a value cannot be read.
    ParameterError
        The family does not accept a value; `parameter` is the key.

    Examples
    --------
    >>> parse("circulant:n=12,offsets=2+3").name
    'C(12,{2,3})'
    """
    name, values = read(spec)
    family = FAMILIES[name]
    arguments: dict[str, Any] = {}
    for key, value in values.items():
        parameter = family.parameters[key]
        try:
            arguments[parameter.argument] = parameter.parser.read(value)
        except TopologyError:  # raised by a topology in brackets
            raise
        except ValueError:
            raise SpecError(
                f"topology {spec!r}: {key} is {value!r}, expected {parameter.parser.words}"
            ) from None
    try:
        return family.make(**arguments)
    except (ParameterError, DegreeError) as error:
        found = type(error)(f"topology {spec!r}: {error}")
        if isinstance(error, ParameterError) and isinstance(found, ParameterError):
            found.parameter = _key(family, error.parameter)
        raise found from None


def _key(family: Family, argument: str) -> str:
    """Return the key of an argument; empty if it is not one key's fault."""
    keys = list(family.parameters)
    if len(keys) > 1:
        keys = [key for key in keys if family.parameters[key].argument == argument]
    return keys[0] if keys else ""


def read(spec: str) -> tuple[str, dict[str, str]]:
    """Return the family of a spec and its values by key, as they are written.

    Raises
    ------
    SpecError
        The family or a key is unknown, or a key is missing or given twice.

    Examples
    --------
    >>> read("line:of=[complete:n=3],k=2")
    ('line', {'of': '[complete:n=3]', 'k': '2'})
    """
    if spec.count("[") > GREATEST_BRACKETS:
        raise SpecError(
            f"a topology with {spec.count('[')} brackets: expected at most {GREATEST_BRACKETS}"
        )
    name, _, rest = spec.partition(":")
    if name not in FAMILIES:
        near = get_close_matches(name, FAMILIES, n=1)
        if near:
            raise SpecError(f"topology {spec!r}: did you mean {example(near[0])}?")
        raise SpecError(f"topology {spec!r}: expected one of the families {', '.join(FAMILIES)}")
    keys = FAMILIES[name].parameters
    values: dict[str, str] = {}
    for item in split(rest, ",") if rest else []:
        key, equals, value = item.partition("=")
        if key not in keys or not equals:
            raise SpecError(
                f"topology {spec!r}: {item!r} is not one of {', '.join(keys)} "
                f"with a value, such as {example(name)}"
            )
        if key in values:
            raise SpecError(f"topology {spec!r}: {key} is given twice")
        values[key] = value
    for key, parameter in keys.items():
        if parameter.required and key not in values:
            raise SpecError(f"topology {spec!r}: {key} is missing, expected as in {example(name)}")
    return name, values


def split(text: str, separator: str) -> list[str]:
    """Return the parts of a text, split at separators outside brackets.

    Examples
    --------
    >>> split("of=[circulant:n=12,offsets=2+3],k=1", ",")
    ['of=[circulant:n=12,offsets=2+3]', 'k=1']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def inner(text: str) -> str:
    """Return the text between an opening and a closing bracket.

    Raises
    ------
    ValueError
        The text is not in brackets.

    Examples
    --------
    >>> inner("[ring:n=5]")
    'ring:n=5'
    """
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        raise ValueError(text)
    return text[1:-1]


def example(family: str) -> str:
    """Return a spec of a family that uses all its keys.

    Raises
    ------
    TopologyError
        The family is unknown.

    Examples
    --------
    >>> example("circulant")
    'circulant:n=64,offsets=5+6'
    """
    if family not in FAMILIES:
        raise TopologyError(f"family {family!r}: expected one of {', '.join(FAMILIES)}")
    keys = FAMILIES[family].parameters
    written = ",".join(f"{key}={parameter.example}" for key, parameter in keys.items())
    return f"{family}:{written}"
