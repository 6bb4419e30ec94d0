"""What all direct-connect topologies have in common: ranks linked to ranks."""

from __future__ import annotations

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

from frontend.schema.base import Model, Whole, cross_check_error
from frontend.schema.files import read_json
from frontend.schema.quantities import Buffer, Delay, Rate
from topology_gen import TopologyError, specs
from topology_gen.graphs.digraph import Digraph, from_edges
from topology_gen.graphs.wiring import Wiring, wired

_ACCEPTED = "expected a JSON list of directed pairs, such as [[0, 1], [1, 0]]"

Edge = tuple[int, int, Rate | None, Delay | None]
"""A link: the numbers of two nodes, and its rate and latency if it has its own."""


class LinkedTopology(Model):
    """Ranks linked to ranks, without switches. Ranks forward packets for other ranks."""

    family: str
    bandwidth: Rate
    """Rate of each link in each direction; a rank with d links has d times this in total."""
    latency: Delay
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each port of a rank, for packets that it sends or forwards; or
    `unlimited`."""
    forwarding_delay: Delay = Delay.parse("0ns")
    """Per-hop forwarding delay at a rank."""


class LinkSetting(Model):
    """The rate and latency of links that differ from the others."""

    link: str
    """`3-7` for the links between ranks 3 and 7 in both directions, `3>7` for those from 3 to 7."""
    bandwidth: Rate | None = None
    """Rate of each of these links; null: that of the topology."""
    latency: Delay | None = None
    """Propagation latency of each of these links; null: that of the topology."""


def _as_tuple(value: object) -> object:
    if isinstance(value, list):
        return tuple(str(item) if type(item) is int else item for item in value)
    return value


Failures = Annotated[
    tuple[str, ...],
    BeforeValidator(_as_tuple),
    PlainSerializer(list, return_type=list[str]),
]


class DirectTopology(LinkedTopology):
    """Ranks linked to ranks, without switches. Ranks forward packets for other ranks."""

    host_bandwidth: Rate | None = None
    """Rate at which a rank sends over all its links together, and receives, such as that of its
    PCIe slot; null: the links are the only limit."""

    links: Annotated[tuple[LinkSetting, ...], BeforeValidator(_as_tuple)] = ()
    """Links with another rate or latency than the rest."""
    without: Failures = ()
    """What has failed: `3-7` (the links between ranks 3 and 7 in both directions), `3>7` (those
    from 3 to 7) or `3` (rank 3 with its links; later ranks move up by one number)."""


class _Graph:
    """A specification of `topology_gen.specs`, or a tuple of edges."""

    @staticmethod
    def _read(value: Any) -> Any:
        if isinstance(value, str):
            try:
                specs.read(value)
            except TopologyError as error:
                raise ValueError(reason(error, value)) from None
            return value
        if isinstance(value, list | tuple):
            edges = tuple(parsed(list(value)))
            digraph(edges)
            return edges
        raise ValueError("expected a graph such as torus:dims=4x8, a JSON file, or a list of links")

    @staticmethod
    def _written(graph: Any) -> Any:
        return graph if isinstance(graph, str) else [_shortened(edge) for edge in graph]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(cls._written)
        return core_schema.no_info_plain_validator_function(cls._read, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        edge = {"type": "array", "minItems": 2, "maxItems": 4}
        return {
            "anyOf": [
                {"type": "string", "examples": ["torus:dims=4x8"]},
                {"type": "array", "items": edge, "examples": ["[[0, 1], [1, 0]]"]},
            ]
        }


Graph = Annotated[str | tuple[Edge, ...], _Graph]


class DirectConnectTopology(DirectTopology):
    """A direct-connect topology: a graph by its specification, or the links one by one."""

    family: Literal["direct_connect"]
    """Ranks linked to ranks: a graph such as `kautz:d=4,k=3`, or any list of links."""
    graph: Graph
    """A specification `name:key=value,…`, such as `torus:dims=4x8` (`cosim topo list` shows all); a
    list of directed [from, to] pairs; or the name of a JSON file with such a list, relative to the
    scenario's folder. The result stores the list. Repeat a pair for parallel links. A link that
    differs from the others has its rate and latency after the pair: `[0, 1, 50Gbps, 2us]`."""
    switches: Whole = 0
    """Number of switches, which are the last of the numbered nodes: they only forward."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        """Put the pairs of the file in its place, so that a stored scenario needs no file."""
        name = value.get("graph") if isinstance(value, dict) else None
        if not isinstance(name, str) or ":" in name or name in specs.FAMILIES:
            return value
        try:
            edges = read_json(name, info)
            if not isinstance(edges, list):
                raise ValueError(_ACCEPTED)
            digraph(parsed(edges))
        except ValueError as error:
            raise cross_check_error("topology.graph", str(error)) from None
        return value | {"graph": edges}


def reason(error: TopologyError, spec: str) -> str:
    """Return the text of an error of a specification without the specification."""
    return str(error).removeprefix(f"topology {spec!r}: ")


def _padded(value: Any) -> Any:
    """Return an edge with all four items."""
    if isinstance(value, list | tuple) and len(value) in range(2, 5):
        return (*value, *([None] * (4 - len(value))))
    raise ValueError("expected [from, to], [from, to, rate] or [from, to, rate, latency]")


def _shortened(edge: Edge) -> list[Any]:
    """Return the items of an edge up to the last that is given."""
    source, target, rate, latency = edge
    written = [source, target, *(None if q is None else q.written() for q in (rate, latency))]
    while written[-1] is None:
        written.pop()
    return written


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
            source, target, rate, latency = _padded(entry)
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
