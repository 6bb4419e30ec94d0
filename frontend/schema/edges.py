"""`topology: {family: edges}`: a direct-connect topology given link by link."""

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationInfo,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from frontend.schema.base import Whole, cross_check_error
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.files import read_json
from frontend.schema.quantities import Delay, Rate
from topology_gen.graphs.digraph import Digraph, from_edges
from topology_gen.graphs.wiring import Wiring, wired

_ACCEPTED = "expected a JSON list of directed pairs, such as [[0, 1], [1, 0]]"
_LENGTHS = range(2, 5)

Edge = tuple[int, int, Rate | None, Delay | None]


class _ShortTuple:
    """A tuple whose last two items may be left out."""

    @staticmethod
    def _padded(value: Any) -> Any:
        if isinstance(value, list | tuple) and len(value) in _LENGTHS:
            return (*value, *([None] * (4 - len(value))))
        raise ValueError("expected [from, to], [from, to, rate] or [from, to, rate, latency]")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(cls._padded, handler(source))

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core))
        return schema | {"minItems": _LENGTHS.start}


def _shortened(edge: Edge) -> list[Any]:
    """Return the items of an edge up to the last that is given."""
    source, target, rate, latency = edge
    written = [source, target, *(None if q is None else q.written() for q in (rate, latency))]
    while written[-1] is None:
        written.pop()
    return written


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Edges = Annotated[
    tuple[Annotated[tuple[Whole, Whole, Rate | None, Delay | None], _ShortTuple], ...],
    BeforeValidator(_as_tuple),
    PlainSerializer(
        lambda edges: [_shortened(edge) for edge in edges], return_type=list[list[Any]]
    ),
]


class EdgesTopology(DirectTopology):
    """Any digraph: you list the links."""

    family: Literal["edges"]
    """Any digraph: you list the links here or in a file."""
    file: str | None = None
    """A JSON file with a list of directed [from, to] pairs; the path is relative to the scenario's
    folder. The result stores the list itself."""
    edges: Edges = ()
    """The pairs, instead of a file. Repeat a pair for parallel links. A link that differs from the
    others has its rate and latency after the pair: `[0, 1, 50Gbps, 2us]`."""
    switches: Whole = 0
    """Number of switches, which are the last of the numbered nodes: they only forward."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        """Put the pairs of the file in its place, so that a stored scenario needs no file."""
        if not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        if "edges" in value:
            raise cross_check_error("topology.file", "expected either a file or edges, not both")
        try:
            edges = read_json(value["file"], info)
            if not isinstance(edges, list):
                raise ValueError(_ACCEPTED)
            digraph(parsed(edges))
        except ValueError as error:
            raise cross_check_error("topology.file", str(error)) from None
        return {key: item for key, item in value.items() if key != "file"} | {"edges": edges}


def parsed(edges: list[Any]) -> list[Edge]:
    """Return the edges of a JSON list.

    Raises
    ------
    ValueError
        An entry is not a list of two to four items, or its rate or latency is not valid.
    """
    result: list[Edge] = []
    for index, entry in enumerate(edges):
        try:
            source, target, rate, latency = _ShortTuple._padded(entry)
            result.append(
                (
                    source,
                    target,
                    None if rate is None else Rate.parse(rate),
                    None if latency is None else Delay.parse(latency),
                )
            )
        except ValueError as error:
            raise ValueError(f"edge {index} is {entry!r:.60}: {error}") from None
    return result


def digraph(edges: list[Edge] | tuple[Edge, ...], name: str = "edges") -> Digraph:
    """Return the digraph of edges; raise EdgeListError if a node number is not valid."""
    return from_edges([list(edge[:2]) for edge in edges], name)


def wiring(
    edges: list[Edge] | tuple[Edge, ...],
    rate_bps: int,
    latency_ps: int,
    switches: int = 0,
    name: str = "edges",
) -> Wiring:
    """Return the wiring of edges, with a rate and a latency for those that have none.

    Raises
    ------
    EdgeListError, ParameterError
        A node number or the number of switches is not valid.
    """
    return wired(
        digraph(edges, name),
        [int(rate_bps if rate is None else rate) for *_, rate, _ in edges],
        [int(latency_ps if latency is None else latency) for *_, latency in edges],
        switches,
    )
