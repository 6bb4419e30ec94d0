"""`topology: {family: edges}`: a direct-connect topology given link by link."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, model_validator

from frontend.schema.base import Whole, cross_check_error
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.files import read_json
from topology_gen.graphs.digraph import from_edges

_ACCEPTED = "expected a JSON list of directed pairs, such as [[0, 1], [1, 0]]"


def _as_pairs(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(tuple(pair) if isinstance(pair, list) else pair for pair in value)
    return value


Edges = Annotated[
    tuple[tuple[Whole, Whole], ...],
    BeforeValidator(_as_pairs),
    PlainSerializer(lambda edges: [list(edge) for edge in edges], return_type=list[list[int]]),
]


class EdgesTopology(DirectTopology):
    """Any digraph: you list the links."""

    family: Literal["edges"]
    """Any digraph: you list the links here or in a file."""
    file: str | None = None
    """A JSON file with a list of directed [from, to] pairs; the path is relative to the scenario's
    folder. The result stores the list itself."""
    edges: Edges = ()
    """The pairs, instead of a file. Repeat a pair for parallel links."""

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
            from_edges(edges)
        except ValueError as error:
            raise cross_check_error("topology.file", str(error)) from None
        return {key: item for key, item in value.items() if key != "file"} | {"edges": edges}
