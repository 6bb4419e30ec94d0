"""The operator graph of a model: what each operator computes, stores and hands on.

Source: Z. Jia, M. Zaharia, A. Aiken, "Beyond data and model parallelism for deep neural networks"
(FlexFlow), MLSys 2019, section 3; W. Wang et al., "TopoOpt", NSDI 2023, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from frontend.parallelization.errors import StrategyError

if TYPE_CHECKING:
    # For the annotations alone: workloads build on this package, not it on them.
    from frontend.roofline import Cost


class Operator(NamedTuple):
    """One operator.

    Attributes
    ----------
    name : str
        Of its own in the graph.
    inputs : tuple of int
        Indices of the earlier operators whose outputs it reads. Without any it reads the training
        data, which every server has.
    forward, backward : Cost
        Of one sample, without its weights; backward is the gradients of weights and inputs.
    weight_bytes : int
        Parameters: what data parallelism all-reduces, and a server stores.
    weight_traffic : int
        Bytes of weights that a pass moves from memory, whatever the batch: of a dense layer all,
        of a table none, as the rows that it reads belong to the samples' cost.
    output_bytes : int
        Of one sample, and as many of its gradient.
    parts : int
        Into how many parts its weights and output can be split at most: columns, heads, channels.
        1: attribute parallelism is not possible.
    table : bool
        An embedding: its rows are spread over the GPUs of a server rather than on each of them,
        so that no gradients are summed inside a server.
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


@dataclass(frozen=True)
class OperatorGraph:
    """A model's operators, each after those that it reads, and how it is trained.

    Attributes
    ----------
    name : str
    operators : tuple of Operator
    batch : int
        Samples in an iteration, those of all servers together.
    """

    name: str
    operators: tuple[Operator, ...]
    batch: int

    @cached_property
    def readers(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each operator, who reads its output, ascending, and as which of their inputs."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.operators]
        for index, operator in enumerate(self.operators):
            for number, source in enumerate(operator.inputs):
                found[source].append((index, number))
        return tuple(tuple(one) for one in found)

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """For each operator those that it reads, and those that read it, ascending."""
        return tuple(
            tuple(sorted({*operator.inputs, *(reader for reader, _ in readers)}))
            for operator, readers in zip(self.operators, self.readers, strict=True)
        )


def check_graph(graph: OperatorGraph) -> None:
    """Check that a graph can be trained.

    Raises
    ------
    StrategyError
        No operators or samples, a name twice, an input that is not an earlier operator, or a
        negative number.
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
            raise StrategyError(f"{place}: twice, expected names that differ")
        names.add(operator.name)
        for source in operator.inputs:
            if not 0 <= source < index:
                raise StrategyError(
                    f"{place}: input {source}, expected one of the {index} operators before it"
                )
        sizes = (operator.weight_bytes, operator.weight_traffic, operator.output_bytes)
        if min(*sizes, *operator.forward, *operator.backward) < 0 or operator.parts < 1:
            raise StrategyError(
                f"{place}: expected costs and bytes from 0 and parts from 1, not {operator}"
            )
