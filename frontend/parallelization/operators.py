"""The operator graph of a model: the computation, memory and output of each operator.

Source: Z. Jia, M. Zaharia, A. Aiken, "Beyond data and model parallelism for deep neural networks"
(FlexFlow), MLSys 2019, section 3; W. Wang et al., "TopoOpt", NSDI 2023, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from frontend.errors import ScenarioError

if TYPE_CHECKING:
    from frontend.roofline import Cost


class StrategyError(ScenarioError):
    """Raised for an invalid graph or strategy, or a strategy that does not fit its graph."""


class Operator(NamedTuple):
    """An operator of a model.

    Attributes
    ----------
    name : str
        Name, unique in the graph.
    inputs : tuple of int
        Indices of the earlier operators whose outputs it reads. An operator without inputs reads
        the training data, which every server has.
    forward, backward : Cost
        Cost per sample, without moving the weights. The backward phase computes the gradients of
        weights and inputs.
    weight_bytes : int
        Size of the weights, which servers store and data parallelism all-reduces.
    weight_traffic : int
        Bytes of weights that a phase moves from memory, for any batch size. For a dense layer, this
        is all its weights. For a table it is 0, because the cost per sample includes the rows.
    output_bytes : int
        Size of the output for one sample, and of its gradient.
    parts : int
        Largest number of parts of its weights and output (columns, heads, channels or experts).
        With 1, the columns cannot be divided.
    rows : int
        Largest number of parts of its weights by the columns of its first input (the rows of a
        table). With 1, the rows cannot be divided.
    aligned : tuple of int
        Positions of the inputs of which a part of the output's columns needs only the same part.
        It needs all columns of the other inputs.
    input_bytes : int
        Bytes of the inputs for one sample, which every GPU gathers if the GPUs divide the columns.
    gradient_scale : float
        Size of a gradient in an all-reduce, relative to its weight.
    table : bool
        Whether it is an embedding table. The rows of a table are spread over the GPUs of a server,
        so no gradients are summed inside a server.
    """

    name: str
    inputs: tuple[int, ...]
    forward: Cost
    backward: Cost
    weight_bytes: int = 0
    weight_traffic: int = 0
    output_bytes: int = 0
    parts: int = 1
    table: bool = False
    rows: int = 1
    aligned: tuple[int, ...] = ()
    input_bytes: int = 0
    gradient_scale: float = 1.0


@dataclass(frozen=True)
class OperatorGraph:
    """The operators of a model, and the batch size of its training.

    Attributes
    ----------
    name : str
        Name of the model.
    operators : tuple of Operator
        Operators. Each one comes after the operators that it reads.
    batch : int
        Number of samples per iteration, on all servers together.
    """

    name: str
    operators: tuple[Operator, ...]
    batch: int

    def microbatch(self, count: int) -> OperatorGraph:
        """Return the graph for one of `count` micro-batches."""
        return self if count == 1 else replace(self, batch=self.batch // count)

    @cached_property
    def readers(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each operator, the (operator, input number) pairs that read its output, sorted."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.operators]
        for index, operator in enumerate(self.operators):
            for number, source in enumerate(operator.inputs):
                found[source].append((index, number))
        return tuple(tuple(one) for one in found)

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """For each operator, the operators that it reads or that read it, sorted."""
        return tuple(
            tuple(sorted({*operator.inputs, *(reader for reader, _ in readers)}))
            for operator, readers in zip(self.operators, self.readers, strict=True)
        )

    @cached_property
    def equals(self) -> tuple[tuple[int, ...], ...]:
        """For each operator, the operators that equal it but for name and inputs, itself too."""
        found: dict[Operator, list[int]] = {}
        nameless = [one._replace(name="", inputs=()) for one in self.operators]
        for index, operator in enumerate(nameless):
            found.setdefault(operator, []).append(index)
        return tuple(tuple(found[operator]) for operator in nameless)


def check_graph(graph: OperatorGraph) -> None:
    """Check that an operator graph is valid.

    Raises
    ------
    StrategyError
        If there are no operators or samples, two operators have the same name, an input is not an
        earlier operator, or a number is negative.
    """
    if not graph.operators or graph.batch < 1:
        raise StrategyError(
            f"{graph.name}: {len(graph.operators)} operators and a batch of {graph.batch}: "
            "expected at least one each"
        )
    names: set[str] = set()
    for index, operator in enumerate(graph.operators):
        place = f"{graph.name}: operator {operator.name}"
        if operator.name in names:
            raise StrategyError(f"{place}: name used twice, expected different names")
        names.add(operator.name)
        for source in operator.inputs:
            if not 0 <= source < index:
                raise StrategyError(
                    f"{place}: input {source}, expected one of the {index} operators before it"
                )
        sizes = (operator.weight_bytes, operator.weight_traffic, operator.output_bytes)
        parts = min(operator.parts, operator.rows)
        if min(*sizes, *operator.forward, *operator.backward) < 0 or parts < 1:
            raise StrategyError(
                f"{place}: expected costs and bytes from 0 and parts from 1, not {operator}"
            )
