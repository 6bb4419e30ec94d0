"""The stored errors that a run prints with an estimate."""

from __future__ import annotations

import json
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import bridge
from bridge.present.report import print_report
from bridge.results.result import Result
from bridge.simulator.estimate_error import FILE, traits
from frontend import load_scenario
from tests.fidelity.comparison import SHARED, Case, Row, cases, stored

STORED = json.loads((files("bridge.simulator") / FILE).read_text())


def estimated(scenario: Any, **changes: Any) -> dict[str, Any]:
    """Run a scenario on an estimating fabric, and return what its result says of the error."""
    result = bridge.run(scenario, {"fabric": "flow", **changes})
    assert result.estimate is not None
    return result.estimate.model_dump()


def collective(family: dict[str, Any], **workload: Any) -> dict[str, Any]:
    given = {"operation": "all_reduce", "algorithm": "ring", "bytes": "1MB"} | workload
    return {
        "topology": {"bandwidth": "100Gbps", "latency": "0.5us", "buffer": "unlimited"} | family,
        "workload": {"kind": "collective"} | given,
    }


def leaf_spine(servers: int, radix: int, ratio: int) -> dict[str, Any]:
    return {
        "family": "leaf_spine",
        "servers": servers,
        "radix": radix,
        "oversubscription": ratio,
    }


@pytest.mark.parametrize(
    ("family", "network"),
    [
        ({"family": "flat", "ranks": 8}, "one tier"),
        ({"family": "direct_connect", "graph": "torus:dims=3x3"}, "direct"),
        (leaf_spine(16, 8, 1), "tiers"),
        (leaf_spine(12, 6, 2), "oversubscribed"),
    ],
)
@pytest.mark.parametrize("fabric", ["flow", "analytical"])
def test_errors_are_those_of_the_same_class_of_network(
    family: dict[str, Any], network: str, fabric: str
) -> None:
    found = estimated(collective(family), fabric=fabric)
    assert found["network"] == network
    rows = [row for row in STORED if row["scenario"] in found["scenarios"]]
    assert {row["network"] for row in rows} == {network}
    errors = [row[fabric] for row in rows]
    assert (found["least_error"], found["greatest_error"]) == (min(errors), max(errors))
    assert found["mean_error"] == pytest.approx(sum(map(abs, errors)) / len(errors))
    assert found["largest_error"] == max(errors, key=abs)


def test_the_same_kind_and_algorithm_come_first() -> None:
    found = estimated(collective(leaf_spine(12, 6, 2), algorithm="dbt"))
    rows = [row for row in STORED if row["scenario"] in found["scenarios"]]
    assert {(row["kind"], row["algorithm"]) for row in rows} == {("collective", "dbt")}
    other = estimated(collective(leaf_spine(12, 6, 2), algorithm="multi_ring"))
    rows = [row for row in STORED if row["scenario"] in other["scenarios"]]
    assert {row["kind"] for row in rows} == {"collective"}
    assert len({row["algorithm"] for row in rows}) > 2


def test_the_order_of_peers_is_part_of_the_algorithm() -> None:
    flat = {"family": "flat", "ranks": 8}
    same = collective(flat, algorithm="direct", peer_order="same")
    rotated = collective(flat, algorithm="direct", peer_order="rotated")
    assert traits(load_scenario(same).resolved()) != traits(load_scenario(rotated).resolved())


def test_where_packets_may_be_lost_there_is_no_percentage(scenarios: Path) -> None:
    """The tutorial's incast: 200.3 ms by packets, and 1.2 ms by an estimate that loses nothing.

    15 ranks have a window of 0.5 MB each, in 56 packets with 42 bytes of headers, and a port has
    1/16 of 2 MB.
    """
    lossy = {
        "workload.algorithm": "direct",
        "workload.peer_order": "same",
        "topology.buffer": "2MB",
    }
    result = bridge.run(scenarios / "first.yaml", {"fabric": "flow", **lossy})
    assert result.estimate is not None
    assert result.estimate.mean_error is None
    assert result.estimate.scenarios == ()
    assert result.estimate.losses == "queue"
    arriving = 15 * (500_000 + 56 * 42)
    assert (result.estimate.arriving_bytes, result.estimate.buffer_bytes) == (arriving, 125_000)
    text = summary(result.to_dict())
    assert "Packets may be lost here: up to 7.535 MB can arrive at once" in text
    assert " % " not in text.partition("This is an estimate")[2].partition("simulator")[0]
    packets = bridge.run(scenarios / "first.yaml", lossy)
    assert packets.network.drops > 0
    assert packets.time_ns > 100 * result.time_ns


def test_traffic_that_ranks_pass_on_counts() -> None:
    """A link of a hypercube carries messages that neither of its ends sends or receives."""
    family = {
        "family": "direct_connect",
        "graph": "hypercube:n=16",
        "latency": "1us",
        "buffer": "600kB",
    }
    scenario = collective(family, operation="all_to_all", bytes="2MB")
    found = estimated(scenario)
    assert (found["losses"], found["mean_error"]) == ("queue", None)
    assert found["arriving_bytes"] > 600_000
    assert bridge.run(scenario).network.drops > 0


def test_a_queue_grows_only_where_more_arrives_than_leaves() -> None:
    """Each link of a ring in one direction is fed by its rank and by the link before it; the last
    link of a path between two leaves only by a link that is as fast."""
    family = {"family": "direct_connect", "graph": "unidirectional_ring:d=1,n=4", "buffer": "300kB"}
    assert estimated(collective(family, operation="all_to_all"))["losses"] == "queue"
    pair = {**leaf_spine(4, 4, 1), "buffer": "300kB"}
    send = {"operation": "all_to_all", "algorithm": "direct"}
    rows = [["0B"] * 4 for _ in range(4)]
    rows[0][3] = "1MB"
    alone = collective(pair, **send, matrix=rows)
    del alone["workload"]["bytes"]
    assert estimated(alone)["losses"] is None
    assert bridge.run(alone).network.drops == 0


@pytest.mark.parametrize(
    ("event", "losses"),
    [
        ({"event": "link_loss", "loss": 0.01}, "link"),
        ({"event": "link_down", "until": "9us"}, "failure"),
        ({"event": "link_rate", "bandwidth": "50Gbps"}, None),
    ],
)
def test_links_that_lose_packets_or_fail_have_no_percentage(
    event: dict[str, Any], losses: str | None
) -> None:
    event = {"at": "1us", "link": [0, 1], **event}
    scenario = collective({"family": "direct_connect", "graph": "torus:dims=4"}) | {
        "events": [event]
    }
    found = estimated(scenario)
    assert found["losses"] == losses
    assert (found["mean_error"] is None) == (losses is not None)


def test_a_graph_whose_links_have_a_loss_has_no_percentage() -> None:
    links = [{"ends": [0, 1], "loss": 0.01}, {"ends": [1, 2]}, {"ends": [2, 0]}]
    found = estimated(collective({"family": "graph", "nodes": [0, 1, 2], "links": links}))
    assert (found["losses"], found["mean_error"]) == ("link", None)


@settings(max_examples=25, deadline=None)
@given(
    ranks=st.sampled_from([4, 8]),
    buffer=st.sampled_from([60, 200, 800, 5000]),
    network=st.sampled_from(["flat", "tiers", "hypercube"]),
    algorithm=st.sampled_from(["direct", "ring", "halving_doubling"]),
    order=st.sampled_from(["same", "rotated"]),
    size=st.sampled_from([20, 200, 2000]),
)
def test_an_error_is_stated_only_where_packets_are_not_lost(
    ranks: int, buffer: int, network: str, algorithm: str, order: str, size: int
) -> None:
    ports = {"buffer": f"{buffer * (1 if network == 'hypercube' else ranks)}kB"}
    family = {
        "flat": {"family": "flat", "ranks": ranks},
        "tiers": leaf_spine(ranks, 4, 1),
        "hypercube": {"family": "direct_connect", "graph": f"hypercube:n={ranks}"},
    }[network]
    scenario = collective(
        {**family, **ports}, algorithm=algorithm, peer_order=order, bytes=f"{size}kB"
    )
    found = estimated(scenario)
    if found["buffer_bytes"] is None:
        assert bridge.run(scenario).network.drops == 0


def test_only_estimates_have_an_error() -> None:
    assert bridge.run(collective({"family": "flat", "ranks": 4})).estimate is None


def test_a_class_that_is_not_stored_has_no_error(raw_result: dict[str, Any]) -> None:
    estimate = {"network": "ring of satellites", "scenarios": []}
    assert "its error is not known" in summary(raw_result | {"estimate": estimate})


def test_the_stored_scenarios_are_those_of_the_comparison(scenarios: Path) -> None:
    names = {case.name for case in cases(scenarios) if not case.is_lossy}
    assert {row["scenario"] for row in STORED} <= names


def test_the_set_has_networks_whose_links_are_shared() -> None:
    shared = [row for row in STORED if row["scenario"].startswith("shared_")]
    assert len(shared) == SHARED
    assert sum(row["network"] == "oversubscribed" for row in shared) >= 20
    assert all(set(row) == set(STORED[0]) for row in STORED)


def test_what_is_stored(scenarios: Path) -> None:
    scenario = load_scenario(scenarios / "moe_small.yaml")
    times = {"express": 100.0, "flow": 98.0, "analytical": 110.0}
    rows = [
        Row(Case("a", scenario), times, {}, 0, network="direct"),
        Row(Case("lossy", scenario, is_lossy=True), times, {}, 9),
        Row(Case("failed", scenario), {"express": 100.0}, {}, 0, {"flow": "no"}),
    ]
    expected = {"kind": "moe", "algorithm": "None", "network": "direct"}
    assert stored(rows) == [{"scenario": "a", **expected, "flow": -0.02, "analytical": 0.1}]


def summary(raw: dict[str, Any]) -> str:
    console = Console(file=StringIO(), record=True, width=400)
    print_report(Result.model_validate(raw), console)
    return console.export_text()


def test_the_summary_says_it(raw_result: dict[str, Any]) -> None:
    error = {
        "network": "direct",
        "scenarios": ["a", "b"],
        "mean_error": 0.07,
        "largest_error": -0.137,
        "least_error": -0.137,
        "greatest_error": 0.003,
    }
    expected = "the time of 2 scenarios like it is off by -13.7 % to +0.3 %, 7.0 % on average"
    assert expected in summary(raw_result | {"estimate": error})
    alone = error | {"scenarios": ["a"], "mean_error": 0.137, "greatest_error": -0.137}
    expected = "the time of a, the only stored scenario like it, is off by -13.7 %."
    assert expected in summary(raw_result | {"estimate": alone})
    earlier = {"scenarios": ["a", "b"], "mean_error": 0.07, "largest_error": -0.137}
    assert "off by -13.7 % to +0.0 %" in summary(raw_result | {"estimate": earlier})
    assert "This is an estimate" not in summary(raw_result)
