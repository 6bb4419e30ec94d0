"""Duplex topologies, certified gaps, costs without sends, and derived schedules as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from tests.bridge.command_line import answer_of, invoke
from topology_gen import specs
from topology_gen.search import store

pytestmark = pytest.mark.usefixtures("elsewhere")


def rows(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [*answer["frontier"], *answer["more"]]


def test_duplex() -> None:
    one_way = answer_of("topo", "find", "--n", "64", "--degree", "4")
    duplex = answer_of("topo", "find", "--n", "64", "--degree", "4", "--duplex")
    assert not all(row["duplex"] for row in rows(one_way))
    assert all(row["duplex"] for row in rows(duplex))
    for row in [*rows(one_way), *rows(duplex)]:
        assert specs.parse(row["topology"]).bidirectional == row["duplex"]
        assert (row["all_to_all_gap"] == 0) == row["all_to_all_exact"]
        assert row["all_to_all_gap"] < 0.02
    # A duplex topology is one of all topologies, so the bound of those is higher.
    assert duplex["bound"]["all_to_all_us"] > one_way["bound"]["all_to_all_us"]
    assert min(row["allreduce_us"] for row in rows(duplex)) <= 245.3
    table = CliRunner().invoke(main, ["topo", "find", "--n", "64", "--degree", "4", "--duplex"])
    assert "duplex" in table.stdout
    assert "gap" in table.stdout


def test_search_duplex() -> None:
    size = ("--n", "14", "--degree", "3")
    options = ("--duplex", "--cayley", "--orbits", "1", "--seconds", "0.5", "--seed", "3")
    searched = invoke("topo", "find", *size, *options, "--json")
    assert "steps, T_B" in searched.stderr
    assert all(row["duplex"] for row in rows(json.loads(searched.stdout)))
    [*records] = store.read(Path("cache/cosim/found.json"))
    assert records
    for record in records:
        assert record.duplex
        assert record.command == f"cosim topo find {' '.join([*size, *options])}"
    # Topologies that may have one-way links are candidates, too, but no others with --duplex.
    assert answer_of("topo", "find", *size)["n"] == 14


def test_gap() -> None:
    exact = answer_of("topo", "all-to-all", "--topology", "circulant:n=12")
    assert (exact["f_bound"], exact["gap"]) == (exact["f"], 0)
    answer = answer_of("topo", "all-to-all", "--topology", "generalized_kautz:d=4,n=159")
    assert answer["f"] <= answer["f_bound"] <= answer["distance_bound"]
    assert 0 < answer["gap"] < 0.01
    made = answer_of("schedule", "all-to-all", "--topology", "circulant:n=12")
    assert (made["f_bound"], made["gap"]) == (made["f"], 0)


def test_costs_only() -> None:
    of = ("--topology", "generalized_kautz:d=3,n=20")
    costs = answer_of("schedule", "bfb", *of, "--costs-only")
    whole = answer_of("schedule", "bfb", *of)
    assert {**whole, **costs, "seconds": 0} == {**whole, "seconds": 0}
    assert "sends" not in costs
    two = answer_of("schedule", "bfb", *of, "--costs-only", "--chunks", "2")
    assert two["t_b"] == answer_of("schedule", "bfb", *of, "--chunks", "2")["t_b"]
    large = answer_of("schedule", "bfb", "--topology", "circulant:n=100000", "--costs-only")
    assert (large["steps"], large["t_b"], large["n"]) == (224, "99999/100000", 100_000)


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter", "all_reduce"])
def test_expansion(operation: str) -> None:
    spec = "line:of=[generalized_kautz:d=2,n=5],k=2"
    options = ("--operation", operation, "--out", "made.json")
    answer = answer_of("schedule", "expansion", "--topology", spec, *options)
    assert (answer["n"], answer["degree"], answer["replayed"]) == (20, 2, True)
    checked = answer_of("schedule", "check", "made.json")
    assert (checked["valid"], checked["operation"]) == (True, operation)
    if operation == "all_gather":
        assert (checked["steps"], checked["t_b"]) == (answer["steps"], answer["t_b"])


def test_what_a_failure_costs_an_all_to_all() -> None:
    """Both commands say the same; f is that of the flow on the links that are left."""
    failed = ("--topology", "circulant:n=12", "--without", "0-2")
    answer = answer_of("topo", "all-to-all", *failed)
    made = answer_of("schedule", "all-to-all", *failed)
    assert (answer["f_intact"], answer["f_fraction"]) == (pytest.approx(3 / 14), "1/5")
    assert answer["slowdown"] == pytest.approx(15 / 14) == made["slowdown"]
    assert answer["f"] == made["f"]
    whole = answer_of("topo", "all-to-all", "--topology", "circulant:n=12")
    assert "slowdown" not in whole
