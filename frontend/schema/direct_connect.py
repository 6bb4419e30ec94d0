"""Direct-connect topologies: ranks linked to ranks; their parameters are those of topology_gen."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import cleandoc, signature
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field, create_model, model_validator
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from frontend.schema.base import Model, Whole, cross_check_error
from frontend.schema.quantities import Buffer, Rate, Time
from topology_gen import TopologyError, specs
from topology_gen.graphs.digraph import Digraph

GREATEST_RANKS = 65536


class DirectTopology(Model):
    """Ranks linked to ranks, without switches. Ranks forward packets for other ranks."""

    family: str
    bandwidth: Rate
    """Rate of each link in each direction; a rank with d links has d times this in total."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each port of a rank, for packets that it sends or forwards; or
    `unlimited`."""
    forwarding_delay: Time = Time.parse("0ns")
    """Per-hop forwarding delay at a rank."""

    @cached_property
    def graph(self) -> Digraph:
        """The digraph, self-loops included."""
        return self._make()

    @property
    def ranks(self) -> int:
        """Number of ranks: the nodes of the digraph."""
        return self.graph.nodes

    @property
    def all_reach_all(self) -> bool:
        """Whether there has to be a path from every rank to every other."""
        return True

    @abstractmethod
    def _make(self) -> Digraph:
        """Return the digraph; TopologyError if there is none."""

    @abstractmethod
    def _blame(self, problem: str) -> str:
        """Return the key path of the parameter that a problem is about."""

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        self._check_graph()
        return self

    def _check_graph(self) -> None:
        """Raise a cross-check error if there is no digraph, or none that connects all ranks."""
        try:
            graph = self.graph
        except TopologyError as error:
            raise cross_check_error(self._blame(str(error)), str(error)) from None
        if not 2 <= graph.nodes <= GREATEST_RANKS:
            problem = f"{graph.nodes} nodes: expected 2 … {GREATEST_RANKS} ranks"
            raise cross_check_error(self._blame(problem), problem)
        ends = (graph.source, graph.target)
        links = csr_array((np.ones(graph.links), ends), shape=(graph.nodes, graph.nodes))
        pieces, _ = connected_components(links, connection="strong")
        if pieces > 1 and self.all_reach_all:
            problem = f"expected a path from every rank to every other, not {pieces} separate parts"
            raise cross_check_error(self._blame(problem), problem)


class FamilyTopology(DirectTopology):
    """A direct-connect topology of one of topology_gen's families."""

    model_config = ConfigDict(
        # The families' fields have descriptions; looking for the source of models without any takes
        # a good part of a second.
        use_attribute_docstrings=False,
        json_schema_extra={
            "x-group": ["direct-connect families", cleandoc(DirectTopology.__doc__ or "")]
        },
    )

    def _make(self) -> Digraph:
        family = specs.FAMILIES[self.family]
        given: dict[str, Any] = {}
        for key, parameter in family.parameters.items():
            value = getattr(self, key)
            if value is not None:
                read = _READ.get(parameter.parser)
                given[parameter.argument] = read(value) if read else value
        return family.make(**given)

    def _blame(self, problem: str) -> str:
        parameters = specs.FAMILIES[self.family].parameters
        if len(parameters) == 1:
            return f"topology.{next(iter(parameters))}"
        places = {
            # "offset 15: expected 1 … 11" is about the offsets.
            key: problem.find(parameter.argument.removesuffix("s"))
            for key, parameter in parameters.items()
        }
        named = [key for key in places if places[key] >= 0]
        return f"topology.{min(named, key=lambda key: places[key])}" if named else "topology"


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
    # A topology within a topology is written as on the command line: family:key=value,…
    specs.BASE: specs.parse,
    specs.BASES: lambda texts: [specs.parse(text) for text in texts],
}


def families() -> Iterator[type[FamilyTopology]]:
    """Yield a model for every family of `topology_gen.specs`, with its parameters as keys."""
    for name, family in specs.FAMILIES.items():
        defaults = signature(family.make).parameters
        meanings = _meanings(family.make.__doc__ or "")
        # A sentence, unless it begins with a symbol.
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
        yield create_model(
            f"{name.title().replace('_', '')}Topology",
            __base__=FamilyTopology,
            __doc__=text,
            **fields,
        )


def _meanings(docstring: str) -> dict[str, str]:
    """Return what a numpydoc docstring says of each parameter."""
    section = cleandoc(docstring).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^(\w+) :.*\n((?: +.*\n?)+)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}
