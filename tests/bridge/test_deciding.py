"""What decides a run, in words; the parts of iterations; one definition of the longest queue."""

from __future__ import annotations

import csv
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import bridge
from bridge.present.comparison import compare, comparison_report
from bridge.present.deciding import what_decides, what_differs
from bridge.present.pictures.charts import iteration_parts
from bridge.present.quantities import time_unit
from bridge.present.report import print_report

#: Each port of the switch has room for two packets, and all ranks send to the same port.
LOSSES = {
    "topology.buffer": "300KB",
    "workload.peer_order": "same",
    "transport.min_rto": "1ms",
}


def ps(time_ns: float) -> int:
    return round(1000 * time_ns)


def flat(operation: str, algorithm: str, size: str, ranks: int = 8, **system: Any) -> Any:
    return {
        "topology": {
            "family": "flat",
            "ranks": ranks,
            "bandwidth": "100Gbps",
            "latency": "1us",
            "buffer": "unlimited",
        },
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": algorithm,
            "bytes": size,
        },
        "system": system,
    }


def check_iterations(result: bridge.Result) -> None:
    for one in result.iterations:
        parts = [ps(one.compute_ns), ps(one.exposed_comm_ns), ps(one.waiting_ns)]
        assert sum(parts) == ps(one.time_ns)
        assert min(parts) >= 0


def shares(sentence: str) -> list[int]:
    """Return the percentages in a sentence, in tenths of a percent."""
    return [round(10 * float(one)) for one in re.findall(r"\(([\d.]+) %\)", sentence)]


def bars(result: bridge.Result) -> list[float]:
    """Return the parts of the bar of a mean iteration on the page, in its unit of time."""
    chart = iteration_parts({"one": result})
    assert chart is not None
    return [trace["x"][0] for trace in chart.traces]


SMALL = sorted((Path(__file__).parents[2] / "scenarios").glob("*_small.yaml"))


@pytest.mark.parametrize("file", SMALL, ids=lambda file: file.stem)
def test_the_parts_of_an_iteration_add_up(file: Path) -> None:
    """Computation, exposed communication and waiting, to the tick: in the result, the bars of the
    page, and the shares of the sentence."""
    result = bridge.run(file)
    check_iterations(result)
    if not result.iterations:
        return
    mean = sum(one.time_ns for one in result.iterations) / len(result.iterations)
    _, scale = time_unit(mean)
    assert sum(bars(result)) == pytest.approx(mean / scale, rel=1e-12)
    sentence = what_decides(result) or ""
    if "spent on" in sentence:
        assert sum(shares(sentence)) == 1000


@settings(max_examples=25, deadline=None)
@given(
    operation=st.sampled_from(["all_to_all", "all_reduce", "broadcast", "gather"]),
    ranks=st.integers(2, 8),
    size=st.integers(1, 300_000),
    chunks=st.integers(1, 4),
    fabric=st.sampled_from(["express", "native", "flow", "analytical"]),
)
def test_they_add_up_for_any_collective(
    operation: str, ranks: int, size: int, chunks: int, fabric: str
) -> None:
    scenario = flat(operation, "direct", f"{size}B", ranks, chunks=chunks)
    check_iterations(bridge.run(scenario, {"fabric": fabric}))


def test_the_wait_for_slower_ranks_has_a_column(repository: Path) -> None:
    """In an uneven all-to-all, most ranks are done long before the last one."""
    result = bridge.run(repository / "scenarios" / "unequal_all_to_all_small.yaml")
    [iteration] = result.iterations
    assert iteration.waiting_ns > 0.5 * iteration.time_ns
    text = StringIO()
    print_report(result, Console(file=text, width=100))
    assert "waiting" in text.getvalue()


def test_an_earlier_result_gets_its_waiting_time(raw_result: dict[str, Any]) -> None:
    for one in raw_result["iterations"]:
        one.pop("waiting_ns", None)
    check_iterations(bridge.Result.model_validate(raw_result))


@pytest.mark.parametrize("chunks", [1, 4, 16, 64])
def test_a_lone_ring_waits_for_bandwidth_however_it_is_divided(chunks: int) -> None:
    """14 steps of 8 MB take 14 · 8 MB · 9002/8960 / 12.5 GB/s; nobody else sends."""
    scenario = flat("all_reduce", "ring", "64MB", chunks=chunks)
    result = bridge.run(scenario, {"outputs.critical_path": True})
    assert result.critical_path is not None
    [path] = result.critical_path
    ideal_ns = 14 * 8e6 * 9002 / 8960 / 12.5
    assert path.times.serialization_ns == pytest.approx(ideal_ns, rel=0.01)
    assert path.times.queueing_ns == 0
    assert path.times.serialization_ns > 0.9 * path.time_ns


def test_waiting_for_others_is_contention() -> None:
    """Three ranks send bursts to one rank of the ring, which holds up the whole ring."""
    scenario = flat("all_reduce", "ring", "16MB")
    alone = bridge.run(scenario, {"outputs.critical_path": True})
    incast = {
        "event": "incast",
        "at": "0us",
        "target": 2,
        "sources": [4, 5, 6],
        "bytes": "500KB",
        "period": "200us",
    }
    both = scenario | {"events": [incast], "outputs": {"critical_path": True}}
    shared = bridge.run(both)
    assert alone.critical_path is not None
    assert shared.critical_path is not None
    assert alone.critical_path[0].times.queueing_ns == 0
    more = shared.time_ns - alone.time_ns
    assert more > 0.1 * alone.time_ns
    assert shared.critical_path[0].times.queueing_ns > 0.3 * more


def test_timeouts_decide_without_a_critical_path(repository: Path) -> None:
    scenario = repository / "scenarios" / "collective_small.yaml"
    lossy = bridge.run(scenario, LOSSES)
    assert lossy.network.rto_wait_ns > 0.9 * lossy.time_ns
    assert lossy.network.rto_wait_ns <= lossy.time_ns
    sentence = what_decides(lossy) or ""
    count = lossy.network.rto_events
    assert f"of this run waits for {count} retransmission timeouts of at least 1ms" in sentence
    assert sentence.startswith("9")
    assert "transport.min_rto" in sentence


def losing(**network_events: Any) -> Any:
    """An all-reduce of four ranks with one event on the link of rank 1."""
    event = {"at": "0us", "link": [1, "switch"], **network_events}
    return flat("all_reduce", "ring", "100KB", 4) | {
        "events": [event],
        "transport": {"min_rto": "1ms"},
    }


def test_random_losses_are_not_dropped_at_queues() -> None:
    """Links lose packets at random, and the buffers are unlimited: larger ones change nothing."""
    result = bridge.run(losing(event="link_loss", loss=0.4))
    assert result.network_events is not None
    lost = result.network_events.packets_lost
    assert lost > 1
    assert result.network.drops == 0
    sentence = what_decides(result) or ""
    assert f": packets were lost at random on links {lost} times. " in sentence
    assert "A smaller `loss` of the links or a smaller transport.min_rto change that" in sentence
    for other in ("queue", "buffer", "ECN", "0 times"):
        assert other not in sentence


def test_a_failed_link_is_the_cause_of_timeouts() -> None:
    result = bridge.run(losing(event="link_flap", at="5us", down="2ms", period="30ms"))
    assert result.network_events is not None
    refused = result.network_events.packets_refused
    assert result.network.drops == refused > 0
    sentence = what_decides(result) or ""
    assert "refused by links that were down" in sentence
    assert "A shorter routing.detection or a smaller transport.min_rto change that" in sentence
    for other in ("queue", "buffer", "ECN", "random", "0 times"):
        assert other not in sentence


@pytest.mark.parametrize(
    ("drops", "refused", "lost", "texts"),
    [
        (2, 0, 0, ["dropped at full queues 2 times. Larger buffers, ECN or a smaller"]),
        (2, 1, 0, ["dropped at full queues once and refused by links that were down once."]),
        (2, 1, 4, [", refused by links that were down once and lost at random or on links that"]),
        (0, 0, 4, ["lost at random or on links that failed 4 times. A shorter routing."]),
        (0, 0, 0, ["no packet was lost", "A larger transport.min_rto changes that"]),
    ],
)
def test_each_cause_of_timeouts_is_named(
    raw_result: dict[str, Any], drops: int, refused: int, lost: int, texts: list[str]
) -> None:
    """Of links that fail and lose packets at random, only what was counted is named."""
    raw_result["network"] |= {"drops": drops, "rto_events": 1, "rto_wait_ns": raw_result["time_ns"]}
    raw_result["network_events"] = {
        "packets_lost": lost,
        "packets_refused": refused,
        "events": [],
    }
    events = [{"event": "link_loss"}, {"event": "link_down"}, {"event": ["not", "a", "name"]}]
    raw_result["scenario"] |= {"events": events}
    sentence = what_decides(bridge.Result.model_validate(raw_result)) or ""
    for text in texts:
        assert text in sentence
    assert "0 times" not in sentence


def test_a_comparison_names_the_timeouts(repository: Path) -> None:
    scenario = repository / "scenarios" / "collective_small.yaml"
    usual, lossy = bridge.run(scenario), bridge.run(scenario, LOSSES)
    sentence = what_differs(usual, lossy) or ""
    assert sentence.startswith("The second waits ")
    assert f"({lossy.network.rto_events} instead of 0, of at least 1ms each)" in sentence
    text = StringIO()
    report = comparison_report(usual, lossy, compare(usual, lossy))
    Console(file=text, width=300).print(report)
    assert sentence in text.getvalue()
    back = what_differs(lossy, usual) or ""
    assert " less for retransmission timeouts (0 instead of" in back
    assert what_differs(usual, usual) is None


@pytest.mark.parametrize(
    ("operation", "size", "sentence"),
    [
        ("all_reduce", "64MB", "so the bandwidth of links decides"),
        ("all_reduce", "1KB", "What does: run with --critical-path"),
    ],
)
def test_the_busiest_link_decides_a_collective(operation: str, size: str, sentence: str) -> None:
    assert sentence in (what_decides(bridge.run(flat(operation, "ring", size))) or "")


def test_training_says_what_an_iteration_is_spent_on(repository: Path) -> None:
    result = bridge.run(repository / "scenarios" / "topoopt_resnet50_small.yaml")
    assert (what_decides(result) or "").startswith("An iteration is spent on exposed")


@pytest.mark.parametrize("fabric", ["express", "native"])
def test_one_definition_of_the_longest_queue(fabric: str, repository: Path, tmp_path: Path) -> None:
    """links.csv has the longest queue of every link, and no sample of it is longer.

    The summary has that of switches; without ranks between, as here, of links that leave them.
    """
    scenario = repository / "scenarios" / "collective_small.yaml"
    series = {"fabric": fabric, "outputs.series": {"interval": "1us", "links": "all"}}
    result = bridge.run(scenario, {**series, "workload.peer_order": "same"}, out=tmp_path)
    rows = list(csv.DictReader((tmp_path / "links.csv").read_text().splitlines()))
    longest = {row["link"]: int(row["max_queue_bytes"]) for row in rows}
    samples = csv.DictReader((tmp_path / "link_series.csv").read_text().splitlines())
    sampled = dict.fromkeys(longest, 0)
    for sample in samples:
        sampled[sample["link"]] = max(sampled[sample["link"]], int(sample["queue_bytes"]))
    assert max(sampled.values()) > 0
    assert all(sampled[link] <= longest[link] for link in longest)
    ranks = 16
    of_ranks = [longest[row["link"]] for row in rows if int(row["source"]) < ranks]
    of_switches = [longest[row["link"]] for row in rows if int(row["source"]) >= ranks]
    assert min(of_ranks) > 0
    assert result.network.dimensions[0].max_queue_bytes == max(of_switches)
