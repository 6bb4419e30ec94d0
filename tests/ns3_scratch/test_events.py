"""The events of a run: starts have ends, nothing is lost, and they agree with the result."""

import subprocess
from collections import Counter, defaultdict, deque
from pathlib import Path
from typing import Any

import pytest

import bridge
from frontend import network_api_pb2 as api
from tests.ns3_scratch.events import (
    Event,
    Observed,
    RankTimes,
    exposed_ps,
    find_replay,
    observe,
    without_warning,
)
from tests.ns3_scratch.streams import ps

#: Each port of the switch has room for two packets, and all ranks send to the same port.
LOSSES = ("topology.buffer=300KB", "workload.peer_order=same", "transport.min_rto=1ms")

CASES = [
    ("collective_small", "express"),
    ("collective_small", "express", *LOSSES),
    ("collective_small", "native", *LOSSES),
    ("collective_small", "flow"),
    ("collective_small", "analytical", "workload.operation=all_to_all"),
    ("dlrm_hier_opt_small", "express"),
    ("dlrm_hier_opt_small", "native"),
    ("dlrm_hier_opt_small", "flow"),
    ("dlrm_hier_opt_small", "analytical"),
    ("direct_dbt_small", "analytical"),
    ("ocs_reconfig_small", "express"),
    ("ocs_reconfig_small", "express", "topology.buffer=100KB", "transport.min_rto=1ms"),
    ("ocs_reconfig_small", "flow"),
    ("topoopt_cluster_fat_tree_small", "express"),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(case[:3]))
def observed(
    request: pytest.FixtureRequest,
    scenarios: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Observed:
    name, fabric, *overrides = request.param
    stream = bridge.compile(scenarios / f"{name}.yaml", [f"fabric={fabric}", *overrides])
    seen = observe(find_replay(), stream, tmp_path_factory.mktemp("events"))
    assert seen.result["status"] == "complete"
    return seen


def test_observing_changes_nothing(observed: Observed) -> None:
    observed.unobserved["simulator"].pop("ranks", None)  # an observer wants all ranks
    assert observed.result == observed.unobserved


def test_times_rise_within_the_run(observed: Observed) -> None:
    """Events are in order of time, except for bundled messages on an estimator."""
    times = [
        event["time_ns"] for event in observed.events if not event["event"].startswith("message_")
    ]
    assert times == sorted(times)
    assert all(0 <= event["time_ns"] <= observed.result["time_ns"] for event in observed.events)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("node", ("rank", "node")),
        ("collective", ("rank", "collective")),
        ("chunk", ("rank", "collective", "chunk", "phase")),
    ],
)
def test_all_that_begins_ends_once(observed: Observed, kind: str, keys: tuple[str, ...]) -> None:
    def times(name: str) -> dict[tuple[Any, ...], float]:
        events = observed.select(f"{kind}_{name}")
        found = {tuple(event[key] for key in keys): event["time_ns"] for event in events}
        assert len(found) == len(events)
        return found

    begun, ended = times("begun"), times("ended")
    assert begun.keys() == ended.keys() != set()
    assert all(begun[one] <= ended[one] for one in begun)


def test_every_node_and_every_chunk_is_there(observed: Observed) -> None:
    nodes = sum(len(trace.ranks) * len(trace.type) for trace in observed.traces)
    assert len(observed.select("node_ended")) == nodes
    ended = observed.select("collective_ended")
    ranks = Counter(event["collective"] for event in ended)
    sizes = [row["group_size"] for row in observed.result["collectives"]]
    assert [ranks[number] for number in range(len(sizes))] == sizes
    chunks: dict[int, set[int]] = defaultdict(set)
    for event in observed.select("chunk_ended"):
        chunks[event["collective"]].add(event["chunk"])
    for number, row in enumerate(observed.result["collectives"]):
        assert chunks[number] == set(range(row["chunks"]))


def test_every_message_sent_is_delivered_later(observed: Observed) -> None:
    sent: dict[tuple[Any, ...], deque[Event]] = defaultdict(deque)
    for event in observed.select("message_sent"):
        key = tuple(event[name] for name in ("src", "dst", "tag", "route", "bytes"))
        sent[key].append(event)
    delivered = observed.select("message_delivered")
    for event in delivered:
        key = tuple(event[name] for name in ("src", "dst", "tag", "route", "bytes"))
        assert sent[key].popleft()["time_ns"] < event["time_ns"]
    assert not any(sent.values())
    network = observed.result["network"]
    assert len(delivered) == network["messages"]
    assert sum(event["bytes"] for event in delivered) == network["payload_bytes"]


def test_completion_times_are_those_of_the_result(observed: Observed) -> None:
    """Compare the maximum and the sum; the result keeps the mean in floating point."""
    sent: dict[tuple[Any, ...], deque[float]] = defaultdict(deque)
    times = []
    for event in sorted(observed.events, key=lambda event: event["time_ns"]):
        if event["event"].startswith("message_"):
            key = tuple(event[name] for name in ("src", "dst", "tag", "route", "bytes"))
            if event["event"] == "message_sent":
                sent[key].append(event["time_ns"])
            else:
                times.append(ps(event["time_ns"]) - ps(sent[key].popleft()))
    network = observed.result["network"]
    assert max(times) == ps(network["fct_max_ns"])
    assert sum(times) / len(times) == pytest.approx(network["fct_mean_ns"] * 1000, rel=1e-9)


def test_losses_are_those_counted(observed: Observed) -> None:
    network = observed.result["network"]
    drops = observed.select("packet_dropped")
    assert len(drops) == network["drops"]
    assert len(observed.select("packet_retransmitted")) == network["retransmissions"]
    assert len(observed.select("flow_timed_out")) == network["rto_events"]
    # The links of the start have the topology's ends; one that is made later keeps its own.
    ends = dict(
        enumerate(zip(observed.topology.link_source, observed.topology.link_target, strict=True))
    )
    for event in drops:
        assert ends.setdefault(event["link"], (event["source"], event["target"])) == (
            event["source"],
            event["target"],
        )


def test_links_change_as_the_result_says(observed: Observed) -> None:
    rows = observed.result.get("reconfigurations", [])
    begun = [
        {key: value for key, value in event.items() if key != "event"}
        for event in observed.select("link_pause_begun")
    ]
    changed = [ps(event["time_ns"]) for event in observed.select("links_changed")]
    expected = [row | {"time_ns": row["start_ns"]} for row in rows]
    for row in expected:
        del row["start_ns"], row["pause_ns"]
    assert begun == expected
    pauses = [ps(row["start_ns"]) + ps(row["pause_ns"]) for row in rows]
    assert changed == pauses[: len(changed)]
    assert len(changed) >= len(rows) - 1  # the run may end in the last pause


def test_collectives_run_from_the_first_rank_to_the_last(observed: Observed) -> None:
    begun: dict[int, float] = {}
    ended: dict[int, float] = {}
    for event in observed.select("collective_begun"):
        begun.setdefault(event["collective"], event["time_ns"])
    for event in observed.select("collective_ended"):
        ended[event["collective"]] = event["time_ns"]
    for number, row in enumerate(observed.result["collectives"]):
        assert (row["start_ns"], row["end_ns"]) == (begun[number], ended[number])


def test_iterations_follow_from_the_nodes(observed: Observed) -> None:
    jobs = observed.result.get("jobs", [])
    for row in jobs or [observed.result]:
        ends: dict[int, float] = {}
        for event in observed.select("node_ended"):
            if event.get("job") == row.get("name"):
                ends[event["iteration"]] = event["time_ns"]
        begun = [
            event["time_ns"]
            for event in observed.select("node_begun")
            if event.get("job") == row.get("name")
        ]
        start = min(begun) if jobs else 0
        for iteration in row["iterations"]:
            end = max(start, ends[iteration["index"]])
            assert (iteration["start_ns"], iteration["end_ns"]) == (start, end)
            start = end
        assert len(row["iterations"]) == len(ends)


def test_compute_and_exposed_time_follow_from_the_nodes(observed: Observed) -> None:
    compute: Counter[tuple[int, int]] = Counter()
    exposed: Counter[tuple[int, int]] = Counter()
    ranks = 0
    for trace in observed.traces:
        for rank in trace.ranks:
            ranks += 1
            times = RankTimes.of(observed, rank)
            exposed.update(exposed_ps(trace, times))
            for node, kind in enumerate(trace.type):
                if kind == api.Trace.COMPUTE:
                    key = trace.iteration[node], trace.layer[node]
                    compute[key] += times.ended[node] - times.begun[node]
    layers = list(observed.traces[0].layers)
    for row in observed.result["layer_iterations"]:
        key = row["iteration"], layers.index(row["name"])
        assert ps(row["compute_ns"]) == (compute[key] + ranks // 2) // ranks
        assert ps(row["exposed_comm_ns"]) == (exposed[key] + ranks // 2) // ranks


@pytest.mark.parametrize(
    ("fabric", "overrides"), [("express", LOSSES), ("native", LOSSES)], ids=("express", "native")
)
def test_the_losing_scenario_loses(
    fabric: str, overrides: tuple[str, ...], scenarios: Path
) -> None:
    network = bridge.run(
        scenarios / "collective_small.yaml", [f"fabric={fabric}", *overrides]
    ).network
    assert min(network.drops, network.retransmissions, network.rto_events) > 0


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--events"], 2, "--events needs a file"),
        (["--events", "missing/x"], 2, "cannot write missing/x: No such file or directory"),
        (["--json", "x", "--events", "x"], 2, "--json and --events need different files"),
        (["--events", "/dev/full"], 1, "the events could not be written"),
    ],
)
def test_events_that_cannot_be_written(
    options: list[str],
    code: int,
    sentence: str,
    scenarios: Path,
    tmp_path: Path,
) -> None:
    stream = tmp_path / "x.stream"
    bridge.compile(scenarios / "collective_small.yaml", ["fabric=analytical"], out=stream)
    words = options if len(options) == 1 else [*options, str(stream)]
    done = subprocess.run(
        [find_replay(), *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    said = without_warning(done.stderr)
    assert (done.returncode, said) == (code, f"replay: {sentence}\n")
