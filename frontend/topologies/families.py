"""Build a model and an entry for every direct-connect family of `topology_gen.specs`."""

import re
from collections.abc import Callable, Iterator
from inspect import cleandoc, signature
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, create_model

from frontend.schema.base import Whole
from frontend.schema.direct_connect import DirectTopology
from frontend.topologies.direct_connect import DirectFamily
from topology_gen import TopologyError, specs
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph


class FamilyTopology(DirectTopology):
    """A direct-connect topology of one of topology_gen's families."""

    model_config = ConfigDict(
        json_schema_extra={
            "x-group": ["direct-connect families", cleandoc(DirectTopology.__doc__ or "")]
        },
    )


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


Wholes = Annotated[tuple[Whole, ...], BeforeValidator(_as_tuples)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_as_tuples)]
Permutations = Annotated[tuple[Wholes, ...], BeforeValidator(_as_tuples)]
Arcs = Annotated[tuple[tuple[tuple[Whole, Wholes], ...], ...], BeforeValidator(_as_tuples)]

_TYPES: dict[specs.Parser, Any] = {
    specs.INTEGER: Whole,
    specs.LENGTHS: Wholes,
    specs.OFFSETS: Wholes,
    specs.PERMUTATIONS: Permutations,
    specs.ARCS: Arcs,
    specs.NAME: str,
    specs.BASE: str,
    specs.BASES: Texts,
}
_READ: dict[specs.Parser, Callable[[Any], Any]] = {
    # A base topology inside a topology is written as on the command line: family:key=value,…
    specs.BASE: specs.parse,
    specs.BASES: lambda texts: [specs.parse(text) for text in texts],
}


class _Family(DirectFamily[FamilyTopology]):
    """The entry of one family of `topology_gen.specs`."""

    def __init__(self, model: type[FamilyTopology]) -> None:
        self.model = model

    def graph(self, topology: FamilyTopology) -> Digraph:
        family = specs.FAMILIES[topology.family]
        given: dict[str, Any] = {}
        for key, parameter in family.parameters.items():
            value = getattr(topology, key)
            if value is not None:
                read = _READ.get(parameter.parser)
                given[parameter.argument] = read(value) if read else value
        return family.make(**given)

    def blame(self, topology: FamilyTopology, problem: TopologyError) -> str:
        parameters = specs.FAMILIES[topology.family].parameters
        if len(parameters) == 1:
            return f"topology.{next(iter(parameters))}"
        named = problem.parameter if isinstance(problem, ParameterError) else ""
        keys = (key for key, parameter in parameters.items() if parameter.argument == named)
        return ".".join(["topology", *keys])


def graph_families() -> Iterator[DirectFamily[FamilyTopology]]:
    """Yield an entry for every family of `topology_gen.specs`, with its parameters as keys."""
    for name, family in specs.FAMILIES.items():
        defaults = signature(family.make).parameters
        meanings = _meanings(family.make.__doc__ or "")
        # Make it a sentence; a text that begins with a symbol keeps its first word.
        first, _, rest = family.text.partition(" ")
        text = f"{first.capitalize() if first.isalpha() else first} {rest}".strip() + "."
        fields: dict[str, Any] = {"family": (Literal[name], Field(description=text))}
        for key, parameter in family.parameters.items():
            kind = _TYPES[parameter.parser]
            default = defaults[parameter.argument].default
            if default is None:
                kind = kind | None
            value = ... if parameter.required else default
            meaning = meanings.get(parameter.argument, "The topology.")
            if parameter.parser in _READ:
                meaning += " Written as `family:key=value,…`."
            fields[key] = (kind, Field(value, description=meaning))
        model = create_model(
            f"{name.title().replace('_', '')}Topology",
            __base__=FamilyTopology,
            __doc__=text,
            **fields,
        )
        yield _Family(model)


def _meanings(docstring: str) -> dict[str, str]:
    """Return the text of each parameter in a numpydoc docstring."""
    section = cleandoc(docstring).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^(\w+) :.*\n((?: +.*\n?)+)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}
