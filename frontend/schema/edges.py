"""`topology: {family: edges}`: a direct-connect topology given link by link."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, model_validator

from frontend.schema.base import Whole, cross_check_error
from frontend.schema.direct_connect import DirectTopology
from topology_gen.graphs.digraph import Digraph, from_edges

FOLDER = "folder"
"""Key of the validation context: the folder from which `file` is looked for."""


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

    def _make(self) -> Digraph:
        return from_edges(self.edges)

    def _blame(self, problem: str) -> str:
        return "topology.edges"

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        """Put the pairs of the file in its place, so that a stored scenario needs no file."""
        if not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        if "edges" in value:
            raise cross_check_error("topology.file", "expected either a file or edges, not both")
        folder = (info.context or {}).get(FOLDER, Path())
        edges = _read(folder / value["file"])
        try:
            from_edges(edges)
        except ValueError as error:
            raise cross_check_error("topology.file", str(error)) from None
        return {key: item for key, item in value.items() if key != "file"} | {"edges": edges}


def _read(path: Path) -> list[Any]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        problem = f"{error.strerror or error}: expected a readable file"
        raise cross_check_error("topology.file", problem) from None
    except (ValueError, RecursionError) as error:
        raise cross_check_error("topology.file", f"expected JSON ({error})") from None
    if not isinstance(content, list):
        problem = "expected a JSON list of directed pairs, such as [[0, 1], [1, 0]]"
        raise cross_check_error("topology.file", problem)
    return content
