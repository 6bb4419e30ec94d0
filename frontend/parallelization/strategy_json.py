"""Read and write strategies as JSON, for example:

``{"format": "cosim.strategy.v1", "servers": 4, "default": {"kind": "data", "servers": "all"},
"operators": {"table_0": {"kind": "model", "servers": [2]}}}``

Operators that are not listed have the default placement. Without a default, they are data-parallel
on all servers. Instead of a kind, a placement can have ``columns`` and ``rows``: the numbers of
parts in a grid of the servers. ``"gpus": "columns"`` divides the columns among the GPUs of a
server. ``"microbatches": 4`` divides the batch into 4 micro-batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from frontend.parallelization.operators import OperatorGraph, StrategyError
from frontend.parallelization.strategy import (
    GpuSplit,
    Placement,
    Strategy,
    by_columns,
    by_samples,
    check_microbatches,
    check_placement,
    check_strategy,
    default_placement,
)

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
