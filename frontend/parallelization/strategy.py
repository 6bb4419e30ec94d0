"""Strategies: on which servers each operator runs, and how they divide its work.

data
    Every server has all weights and some of the samples. The weights' gradients are all-reduced.
model
    One server has the operator as a whole, and all samples.
attribute
    Every server has some of the weights, all samples, and some columns of the output.

Samples and columns are divided as evenly as whole ones can be.

Source: Z. Jia, M. Zaharia, A. Aiken, "Beyond data and model parallelism for deep neural networks"
(FlexFlow), MLSys 2019, section 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from frontend.parallelization.errors import StrategyError
from frontend.parallelization.operators import Operator, OperatorGraph

Kind = Literal["data", "model", "attribute"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Placement(NamedTuple):
    """How an operator is divided, and the servers in the order of their parts."""

    kind: Kind
    servers: tuple[int, ...]


class Strategy(NamedTuple):
    """The number of servers of the job, and the placement of each operator in turn."""

    servers: int
    placements: tuple[Placement, ...]

    def replaced(self, operator: int, placement: Placement) -> Strategy:
        """Return the strategy that differs in the placement of one operator."""
        before, after = self.placements[:operator], self.placements[operator + 1 :]
        return Strategy(self.servers, (*before, placement, *after))


def data_parallel(graph: OperatorGraph, servers: int) -> Strategy:
    """Return the strategy in which every server has everything and an even part of the samples.

    Raises
    ------
    StrategyError
        No servers.
    """
    return Strategy(_servers(servers), (_everywhere(servers),) * len(graph.operators))


def hybrid(graph: OperatorGraph, servers: int) -> Strategy:
    """Return the data-parallel strategy but for tables, which go to one server each in turn.

    It is what the search begins with, as in TopoOpt.

    Raises
    ------
    StrategyError
        No servers.
    """
    placements = []
    tables = 0
    for operator in graph.operators:
        if operator.table:
            placements.append(Placement("model", (tables % _servers(servers),)))
            tables += 1
        else:
            placements.append(_everywhere(servers))
    return Strategy(servers, tuple(placements))


def check_strategy(strategy: Strategy, graph: OperatorGraph) -> None:
    """Check that a strategy places each operator of a graph in a way that is possible.

    Raises
    ------
    StrategyError
        With the operator, its placement and what is accepted.
    """
    _servers(strategy.servers)
    if len(strategy.placements) != len(graph.operators):
        raise StrategyError(
            f"{len(strategy.placements)} placements: expected one for each of the "
            f"{len(graph.operators)} operators of {graph.name}"
        )
    for operator, placement in zip(graph.operators, strategy.placements, strict=True):
        check_placement(placement, operator, strategy.servers)


def check_placement(placement: Placement, operator: Operator, servers: int) -> None:
    """Check a single operator's placement on `servers` servers, as `check_strategy`."""
    place = f"operator {operator.name}"
    kind, chosen = placement
    if kind not in KINDS:
        raise StrategyError(f"{place}: kind {kind!r}, expected one of {', '.join(KINDS)}")
    if not chosen or len(set(chosen)) != len(chosen):
        raise StrategyError(f"{place}: servers {_text(chosen)}, expected different ones")
    for server in chosen:
        if not 0 <= server < servers:
            raise StrategyError(f"{place}: server {server}, expected 0 … {servers - 1}")
    if kind == "model" and len(chosen) != 1:
        raise StrategyError(
            f"{place}: {len(chosen)} servers of a model-parallel operator, expected one"
        )
    if kind == "attribute" and len(chosen) > operator.parts:
        raise StrategyError(
            f"{place}: {len(chosen)} servers for its {operator.parts} parts, expected at most as "
            "many"
        )


def default_placement(strategy: Strategy) -> Placement:
    """Return the placement that most operators have; of several, that of the earliest."""
    return Counter(strategy.placements).most_common(1)[0][0]


def bounds(total: int, parts: int) -> list[int]:
    """Return where `total` things are cut into parts that differ by one at most.

    Examples
    --------
    >>> bounds(10, 4)
    [0, 2, 5, 7, 10]
    """
    return [total * index // parts for index in range(parts + 1)]


def _everywhere(servers: int) -> Placement:
    return Placement("data", tuple(range(servers)))


def _servers(count: int) -> int:
    if count < 1:
        raise StrategyError(f"{count} servers: expected at least 1")
    return count


def _text(servers: Iterable[int]) -> str:
    return ", ".join(map(str, servers)) or "none"
