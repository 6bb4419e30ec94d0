"""Strategies: the servers of each operator, and the division of its work among them.

data
    Every server has all weights and a part of the samples. An all-reduce sums the gradients of the
    weights.
model
    One server has the whole operator and all samples.
attribute
    Every server has a part of the weights, all samples, and a part of the output columns.

The parts of samples and columns differ in size by at most one.

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
    """How the work of an operator is divided, and its servers in the order of their parts."""

    kind: Kind
    servers: tuple[int, ...]


class Strategy(NamedTuple):
    """The number of servers of the job, and the placement of each operator."""

    servers: int
    placements: tuple[Placement, ...]

    def replaced(self, operator: int, placement: Placement) -> Strategy:
        """Return the strategy in which one operator has another placement."""
        before, after = self.placements[:operator], self.placements[operator + 1 :]
        return Strategy(self.servers, (*before, placement, *after))


def data_parallel(graph: OperatorGraph, servers: int) -> Strategy:
    """Return the strategy in which all operators are data-parallel on all servers.

    Raises
    ------
    StrategyError
        If `servers` is less than 1.
    """
    return Strategy(_servers(servers), (_everywhere(servers),) * len(graph.operators))


def hybrid(graph: OperatorGraph, servers: int) -> Strategy:
    """Return the data-parallel strategy, but with each table on one server, in round-robin order.

    The strategy search starts with this strategy, as in TopoOpt.

    Raises
    ------
    StrategyError
        If `servers` is less than 1.
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
    """Check that the placement of each operator of a graph is possible.

    Raises
    ------
    StrategyError
        If a placement is not possible. The text names the operator, the placement, and what is
        accepted.
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
    """Check the placement of one operator on `servers` servers, as `check_strategy` does."""
    place = f"operator {operator.name}"
    kind, chosen = placement
    if kind not in KINDS:
        raise StrategyError(f"{place}: kind {kind!r}, expected one of {', '.join(KINDS)}")
    if not chosen or len(set(chosen)) != len(chosen):
        raise StrategyError(f"{place}: servers {_text(chosen)}, expected different servers")
    for server in chosen:
        if not 0 <= server < servers:
            raise StrategyError(f"{place}: server {server}, expected 0 … {servers - 1}")
    if kind == "model" and len(chosen) != 1:
        raise StrategyError(
            f"{place}: {len(chosen)} servers for a model-parallel operator, expected one"
        )
    if kind == "attribute" and len(chosen) > operator.parts:
        raise StrategyError(
            f"{place}: {len(chosen)} servers, expected at most {operator.parts}, its number of "
            "parts"
        )


def default_placement(strategy: Strategy) -> Placement:
    """Return the most frequent placement; in a tie, the one that comes first."""
    return Counter(strategy.placements).most_common(1)[0][0]


def bounds(total: int, parts: int) -> list[int]:
    """Return the bounds that divide `total` items into parts whose sizes differ by at most one.

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
