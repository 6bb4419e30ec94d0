"""Strategies: the servers of each operator, and the division of its work among them.

A placement maps dimensions of an operator to a grid of servers:

samples
    Every server has a part of the samples. An all-reduce sums the gradients of the weights that
    several servers have.
columns
    Every server has a part of the weights, and the same part of the output's columns (heads,
    channels, experts).
rows
    Every server has a part of the weights for a part of the inputs' columns. Its output is a
    partial sum. The servers that have the other partial sums exchange them, so that each of these
    servers has the sum for a part of their samples.

The parts of a dimension differ in size by at most one. The GPUs of a server divide its samples, or
its columns.

Source: Z. Jia, M. Zaharia, A. Aiken, "Beyond data and model parallelism for deep neural networks"
(FlexFlow), MLSys 2019, section 4; for rows, M. Shoeybi et al., "Megatron-LM", 2019, section 3, and
V. Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023;
for micro-batches, Y. Huang et al., "GPipe", NeurIPS 2019, section 2.3.

Strategies are read and written as JSON, for example:

``{"format": "cosim.strategy.v1", "servers": 4, "default": {"kind": "data", "servers": "all"},
"operators": {"table_0": {"kind": "model", "servers": [2]}}}``

Operators that are not listed have the default placement. Without a default, they are data-parallel
on all servers. Instead of a kind, a placement can have ``columns`` and ``rows``: the numbers of
parts in a grid of the servers. ``"gpus": "columns"`` divides the columns among the GPUs of a
server. ``"microbatches": 4`` divides the batch into 4 micro-batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from frontend.parallelization.operators import Operator, OperatorGraph, StrategyError

GpuSplit = Literal["samples", "columns"]


class Placement(NamedTuple):
    """The servers of an operator, and how they divide its work.

    Attributes
    ----------
    servers : tuple of int
        The servers of the grid. Consecutive servers differ in their rows first, then in their
        columns, then in their samples.
    columns, rows : int
        Number of parts of the columns and of the rows. The number of parts of the samples follows.
    gpus : {"samples", "columns"}
        What the GPUs of a server divide among them.
    """

    servers: tuple[int, ...]
    columns: int = 1
    rows: int = 1
    gpus: GpuSplit = "samples"

    @property
    def weight_parts(self) -> int:
        """Number of parts of the weights."""
        return self.columns * self.rows

    @property
    def samples(self) -> int:
        """Number of parts of the samples."""
        return len(self.servers) // self.weight_parts

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """The servers that have equal weights, for each part of the weights."""
        parts = self.weight_parts
        return [self.servers[part::parts] for part in range(parts)]

    @property
    def text(self) -> str:
        """The placement in words, without the names of the servers."""
        count = len(self.servers)
        sizes = {"samples": self.samples, "columns": self.columns, "rows": self.rows}
        divided = [name for name, size in sizes.items() if size > 1]
        if not divided:
            words = "whole on 1"
        elif len(divided) == 1:
            words = f"{divided[0]} on {count}"
        else:
            words = " × ".join(f"{sizes[name]} {name}" for name in divided) + f" on {count}"
        return words + (", columns on GPUs" if self.gpus == "columns" else "")


def by_samples(servers: Iterable[int]) -> Placement:
    """Return the data-parallel placement: every server has all weights and some samples."""
    return Placement(tuple(servers))


def on_server(server: int) -> Placement:
    """Return the placement of a whole operator on one server."""
    return Placement((server,))


def by_columns(servers: Iterable[int]) -> Placement:
    """Return the placement that divides only columns: every server has all samples."""
    chosen = tuple(servers)
    return Placement(chosen, columns=len(chosen))


class Strategy(NamedTuple):
    """A parallelization strategy.

    Attributes
    ----------
    servers : int
        Number of servers of the job.
    placements : tuple of Placement
        The placement of each operator.
    microbatches : int
        Number of equal parts of the batch, which go through the operators one after another. Where
        operators are on different servers, these compute different micro-batches at the same time:
        they are the stages of a pipeline. All micro-batches go forward before the first goes
        backward, as in GPipe, and gradients are reduced after the last.
    """

    servers: int
    placements: tuple[Placement, ...]
    microbatches: int = 1

    def replaced(self, operator: int, placement: Placement) -> Strategy:
        """Return the strategy in which one operator has another placement."""
        before, after = self.placements[:operator], self.placements[operator + 1 :]
        return self._replace(placements=(*before, placement, *after))


def data_parallel(graph: OperatorGraph, servers: int) -> Strategy:
    """Return the strategy in which all operators are data-parallel on all servers.

    Raises
    ------
    StrategyError
        If `servers` is less than 1.
    """
    return Strategy(servers, (by_samples(range(_servers(servers))),) * len(graph.operators))


def hybrid(graph: OperatorGraph, servers: int) -> Strategy:
    """Return the data-parallel strategy, but with each table on one server.

    The servers get tables in turn. If the last turn has fewer tables than servers, its servers are
    evenly spread, so that tables are not next to each other. The strategy search starts with this
    strategy, as in TopoOpt.

    Raises
    ------
    StrategyError
        If `servers` is less than 1.
    """
    count = sum(operator.table for operator in graph.operators)
    last = count % _servers(servers)
    placements = []
    number = 0
    for operator in graph.operators:
        if not operator.table:
            placements.append(by_samples(range(servers)))
            continue
        left = count - number
        turn = number % servers if left > last else (last - left) * servers // last
        placements.append(on_server(turn))
        number += 1
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
    check_microbatches(strategy.microbatches, graph)
    for operator, placement in zip(graph.operators, strategy.placements, strict=True):
        check_placement(placement, operator, strategy.servers)


def check_microbatches(count: int, graph: OperatorGraph) -> None:
    """Check a number of micro-batches, as `check_strategy` does."""
    if count < 1 or graph.batch % count:
        raise StrategyError(
            f"microbatches: {count}, expected a divisor of the batch of {graph.batch} samples"
        )


def check_placement(placement: Placement, operator: Operator, servers: int) -> None:
    """Check the placement of one operator on `servers` servers, as `check_strategy` does."""
    place = f"operator {operator.name}"
    chosen = placement.servers
    if not chosen or len(set(chosen)) != len(chosen):
        raise StrategyError(f"{place}: servers {_text(chosen)}, expected different servers")
    for server in (min(chosen), max(chosen)):
        if not 0 <= server < servers:
            raise StrategyError(f"{place}: server {server}, expected 0 … {servers - 1}")
    for name, size, most in (
        ("columns", placement.columns, operator.parts),
        ("rows", placement.rows, operator.rows),
    ):
        if size < 1 or len(chosen) % size:
            raise StrategyError(
                f"{place}: {name} {size}, expected a divisor of its {len(chosen)} servers"
            )
        if size > most:
            raise StrategyError(
                f"{place}: {name} {size}: {len(chosen)} servers, expected at most {most}, its "
                "number of parts"
            )
    if len(chosen) % placement.weight_parts:
        raise StrategyError(
            f"{place}: columns {placement.columns} and rows {placement.rows}, expected a product "
            f"that divides its {len(chosen)} servers"
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


def _servers(count: int) -> int:
    if count < 1:
        raise StrategyError(f"{count} servers: expected at least 1")
    return count


def _text(servers: Iterable[int]) -> str:
    return ", ".join(map(str, servers)) or "none"


FORMAT = "cosim.strategy.v1"
_KEYS = ("format", "servers", "microbatches", "default", "operators")
_PLACEMENT_KEYS = ("kind", "columns", "rows", "gpus", "servers")
_EXAMPLE = (
    'expected an object such as {"kind": "model", "servers": [2]} or '
    '{"columns": 2, "servers": "all"}'
)

Kind = Literal["data", "model", "attribute"]
"""Placements with at most one divided dimension: samples, none, columns."""


def to_json(strategy: Strategy, graph: OperatorGraph) -> dict[str, Any]:
    """Return a strategy as a JSON object, which `from_json` reads.

    Raises
    ------
    StrategyError
        If the strategy does not fit the graph.
    """
    check_strategy(strategy, graph)
    default = default_placement(strategy)
    pipeline = {"microbatches": strategy.microbatches} if strategy.microbatches > 1 else {}
    return {
        "format": FORMAT,
        "servers": strategy.servers,
        **pipeline,
        "default": _entry(default, strategy.servers),
        "operators": {
            operator.name: _entry(placement, strategy.servers)
            for operator, placement in zip(graph.operators, strategy.placements, strict=True)
            if placement != default
        },
    }


def from_json(content: Any, graph: OperatorGraph) -> Strategy:
    """Return the strategy in a JSON object, for a graph.

    Raises
    ------
    StrategyError
        If the object is wrong. The text has the key, the value and what is accepted.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise StrategyError(f'expected an object with "format": "{FORMAT}"')
    for key in content:
        if key not in _KEYS:
            raise StrategyError(f"key {key!r}: expected one of {', '.join(_KEYS)}")
    servers = content.get("servers")
    if type(servers) is not int or servers < 1:
        raise StrategyError(f"servers: {servers!r}, expected a whole number of at least 1")
    microbatches = content.get("microbatches", 1)
    if type(microbatches) is not int:
        raise StrategyError(f"microbatches: {microbatches!r}, expected a whole number")
    check_microbatches(microbatches, graph)
    everywhere = {"kind": "data", "servers": "all"}
    default = _placement("default", content.get("default", everywhere), servers)
    operators = content.get("operators", {})
    if not isinstance(operators, Mapping):
        raise StrategyError("operators: expected an object with an entry for each operator")
    names = {operator.name for operator in graph.operators}
    for name in operators:
        if name not in names:
            raise StrategyError(
                f"operators: {name!r}, expected the name of an operator of {graph.name}, such as "
                f"{graph.operators[0].name!r}"
            )
    placements = []
    for operator in graph.operators:
        placement = default
        if operator.name in operators:
            where = f"operators.{operator.name}"
            placement = _placement(where, operators[operator.name], servers)
        check_placement(placement, operator, servers)
        placements.append(placement)
    return Strategy(servers, tuple(placements), microbatches)


def _entry(placement: Placement, servers: int) -> dict[str, Any]:
    every = placement.servers == tuple(range(servers))
    result: dict[str, Any] = {}
    if len(placement.servers) == 1:
        result["kind"] = "model"
    elif placement.weight_parts == 1:
        result["kind"] = "data"
    elif placement == by_columns(placement.servers)._replace(gpus=placement.gpus):
        result["kind"] = "attribute"
    else:
        result["columns"], result["rows"] = placement.columns, placement.rows
    result["servers"] = "all" if every else list(placement.servers)
    if placement.gpus != "samples":
        result["gpus"] = placement.gpus
    return result


def _placement(where: str, entry: Any, servers: int) -> Placement:
    if not isinstance(entry, Mapping) or "servers" not in entry:
        raise StrategyError(f"{where}: {_EXAMPLE}")
    for key in entry:
        if key not in _PLACEMENT_KEYS:
            accepted = ", ".join(_PLACEMENT_KEYS)
            raise StrategyError(f"{where}: key {key!r}, expected one of {accepted}")
    chosen = entry["servers"]
    if chosen == "all":
        chosen = list(range(servers))
    if not isinstance(chosen, list) or any(type(server) is not int for server in chosen):
        raise StrategyError(f'{where}.servers: expected a list of server numbers, or "all"')
    gpus = entry.get("gpus", "samples")
    if gpus not in get_args(GpuSplit):
        raise StrategyError(f"{where}.gpus: {gpus!r}, expected samples or columns")
    if "kind" in entry:
        if {"columns", "rows"} & set(entry):
            raise StrategyError(f"{where}: expected either a kind, or columns and rows")
        return _of_kind(where, entry["kind"], chosen)._replace(gpus=gpus)
    if not {"columns", "rows"} & set(entry):
        raise StrategyError(f"{where}: {_EXAMPLE}")
    columns, rows = entry.get("columns", 1), entry.get("rows", 1)
    for key, number in (("columns", columns), ("rows", rows)):
        if type(number) is not int or number < 1:
            raise StrategyError(f"{where}.{key}: {number!r}, expected a whole number of at least 1")
    return Placement(tuple(chosen), columns, rows, gpus)


def _of_kind(where: str, kind: Any, servers: list[int]) -> Placement:
    if kind not in get_args(Kind):
        raise StrategyError(f"{where}: kind {kind!r}, expected one of {', '.join(get_args(Kind))}")
    if kind == "model" and len(servers) != 1:
        raise StrategyError(
            f"{where}: {len(servers)} servers for a model-parallel operator, expected one"
        )
    return by_columns(servers) if kind == "attribute" else by_samples(servers)
