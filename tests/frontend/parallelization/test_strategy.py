"""Strategies: valid placements, the two standard strategies, and JSON round trips."""

from __future__ import annotations

import doctest
import json
from importlib import import_module

import pytest
from hypothesis import given

from frontend.parallelization import (
    OperatorGraph,
    Strategy,
    StrategyError,
    by_columns,
    by_samples,
    check_graph,
    check_strategy,
    data_parallel,
    from_json,
    hybrid,
    on_server,
    to_json,
)
from tests.frontend.parallelization.graphs import dense, jobs, small_dlrm


def test_hybrid_gives_tables_to_servers_in_turn():
    graph = small_dlrm(tables=4, layers=1)
    everywhere = by_samples((0, 1, 2))
    assert data_parallel(graph, 3).placements == (everywhere,) * 6
    tables = [on_server(server) for server in (0, 1, 2, 0)]
    assert hybrid(graph, 3).placements == (*tables, everywhere, everywhere)


@pytest.mark.parametrize(
    ("tables", "servers", "expected"),
    [
        (4, 8, [0, 2, 4, 6]),
        (3, 8, [0, 2, 5]),
        (8, 4, [0, 1, 2, 3, 0, 1, 2, 3]),
        (6, 4, [0, 1, 2, 3, 0, 2]),
        (1, 1, [0]),
    ],
)
def test_hybrid_spreads_the_tables_of_the_last_turn(tables, servers, expected):
    """No server has two tables more than another, and tables are not next to each other."""
    graph = small_dlrm(tables=tables, layers=1)
    placed = hybrid(graph, servers).placements[:tables]
    assert placed == tuple(map(on_server, expected))


def test_json_names_what_is_not_the_default():
    graph = small_dlrm(tables=2, layers=1)
    assert to_json(hybrid(graph, 3), graph) == {
        "format": "cosim.strategy.v1",
        "servers": 3,
        "default": {"kind": "data", "servers": "all"},
        "operators": {
            "table_0": {"kind": "model", "servers": [0]},
            "table_1": {"kind": "model", "servers": [1]},
        },
    }


@given(jobs())
def test_json_and_back(job):
    graph, strategy = job
    check_strategy(strategy, graph)
    assert from_json(json.loads(json.dumps(to_json(strategy, graph))), graph) == strategy


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "other"}, "format"),
        ({"colour": 1}, "key 'colour'"),
        ({"servers": 0}, "servers: 0"),
        ({"servers": True}, "servers: True"),
        ({"default": {"kind": "data"}}, "default: expected"),
        ({"default": {"kind": "data", "servers": [0.5]}}, "default.servers"),
        ({"default": {"kind": "odd", "servers": [0]}}, "kind 'odd'"),
        ({"default": {"kind": "data", "rows": 2, "servers": [0]}}, "either a kind, or columns"),
        ({"default": {"gpu": "columns", "servers": [0]}}, "key 'gpu', expected one of kind"),
        ({"default": {"columns": 1, "gpus": "rows", "servers": [0]}}, "gpus: 'rows'"),
        ({"default": {"columns": 0, "servers": [0]}}, "default.columns: 0"),
        ({"default": {"columns": 3, "servers": "all"}}, "columns 3, expected a divisor of its 4"),
        ({"default": {"columns": 4, "rows": 2, "servers": "all"}}, "rows 2: 4 servers, expected"),
        ({"default": {"kind": "data", "servers": [4]}}, "server 4, expected 0 … 3"),
        ({"operators": []}, "operators"),
        ({"operators": {"nothing": {}}}, "'nothing', expected the name of an operator"),
        ({"operators": {"top_0": {"kind": "model", "servers": [0, 1]}}}, "top_0: 2 servers"),
        ({"operators": {"top_0": {"kind": "data", "servers": []}}}, "top_0: servers none"),
        ({"operators": {"top_0": {"kind": "data", "servers": [1, 1]}}}, "top_0: servers 1, 1"),
    ],
)
def test_json_that_is_refused(change, sentence):
    graph = small_dlrm(layers=1)
    content = {"format": "cosim.strategy.v1", "servers": 4} | change
    with pytest.raises(StrategyError, match=sentence):
        from_json(content, graph)


def test_more_servers_than_parts_are_refused():
    graph = OperatorGraph("narrow", (dense("one", (), 8, 2),), 4)
    wide = Strategy(3, (by_columns((0, 1, 2)),))
    with pytest.raises(StrategyError, match="3 servers, expected at most 2, its number of parts"):
        check_strategy(wide, graph)
    with pytest.raises(StrategyError, match="0 placements: expected one for each of the 1"):
        check_strategy(Strategy(3, ()), graph)


def test_graphs_that_are_refused():
    layer = dense("one", (), 8, 2)
    for operators, batch in [((), 1), ((layer,), 0)]:
        with pytest.raises(StrategyError, match="expected at least one each"):
            check_graph(OperatorGraph("empty", operators, batch))
    with pytest.raises(StrategyError, match="operator one: name used twice"):
        check_graph(OperatorGraph("twins", (layer, layer), 1))
    with pytest.raises(StrategyError, match="input 0, expected one of the 0 operators before it"):
        check_graph(OperatorGraph("loop", (dense("one", (0,), 8, 2),), 1))
    with pytest.raises(StrategyError, match="expected costs and bytes from 0"):
        check_graph(OperatorGraph("negative", (layer._replace(output_bytes=-1),), 1))
    with pytest.raises(StrategyError, match="0 servers"):
        data_parallel(small_dlrm(), 0)


@pytest.mark.parametrize(
    "name",
    ["demands", "mcmc", "proposals", "server", "strategy", "transfers"],
)
def test_examples(name):
    module = import_module(f"frontend.parallelization.{name}")
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)
