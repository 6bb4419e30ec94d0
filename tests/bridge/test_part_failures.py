"""Hosts, NICs and switches that fail in `cosim cluster`: closed forms, and no rank used while it is
down."""

from __future__ import annotations

import json
from functools import cache
from math import exp, expm1, sqrt
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bridge
from bridge.batch.cluster import ClusterEstimate, _Cluster, _Placements, estimate
from bridge.batch.parts import Parts
from bridge.cli.main import main
from bridge.errors import InputError
from bridge.results.result import Result
from frontend import Scenario, load_scenario
from frontend.resolve import resolve
from frontend.resolve.outages import Rates, failing
from tests.bridge.job_parts import FLAT, RING
from tests.bridge.test_cluster_estimate import FAILURES, LLM, mix
from topology_gen.networks.parts import HOST, NIC, SWITCH, hosts, parts_of

S = 10**12
SERVERS = {"family": "rail_only", "servers": 2, "server": "dgx_h100", "buffer": "16MB"}
FIRST = {"ranks": None, "placement": list(range(8))}


@cache
def simulated(scenario: str) -> Result:
    return bridge.run(json.loads(scenario))


def simulate(scenario: Scenario) -> Result:
    """Simulate a job alone once for all tests: seeds and arrivals do not matter."""
    return simulated(json.dumps(scenario.resolved() | {"seed": 1}))


def found(
    content: dict[str, Any], mtbf_ps: int, repair_ps: int, kind: str = HOST
) -> ClusterEstimate:
    scenario = load_scenario(content | {"fabric": "flow"})
    return estimate(scenario, simulate, 1, {kind: Rates(mtbf_ps, repair_ps)})


def in_turn(count: int, **more: Any) -> dict[str, Any]:
    """Equal jobs on 8 ranks, one after another; all of them are there from the start."""
    jobs = [{"name": f"j{n}", "ranks": 8, "workload": RING, **more} for n in range(count)]
    return {"topology": FLAT, "queueing": "fifo", "jobs": jobs}


def alone_ps(content: dict[str, Any]) -> int:
    one = content | {"jobs": content["jobs"][:1], "fabric": "flow"}
    (job,) = bridge.run(one).jobs or ()
    return round(1000 * job.iterations[-1].end_ns)


@pytest.mark.parametrize(
    ("kind", "ratio"), [(HOST, 0.1), (HOST, 0.5), (HOST, 1.5), (NIC, 0.5), (SWITCH, 0.5)]
)
def test_a_job_without_checkpoints_starts_again(kind: str, ratio: float) -> None:
    """With the rate λ of failures of its hosts or NICs, a job of the length T takes
    (exp(λT) - 1) / λ in the mean, and is interrupted exp(λT) - 1 times. So it is for the only
    switch. Repairs take no time here."""
    content = in_turn(800)
    length = alone_ps(content)
    count = {HOST: 8, NIC: 8, SWITCH: 1}[kind]  # each host is a rank
    jobs = found(content, round(count * length / ratio), 1, kind).jobs
    mean = sum(job.time_ns for job in jobs) / len(jobs)
    assert mean == pytest.approx(expm1(ratio) / ratio * length / 1000, rel=0.08)
    interrupted = sum(job.interruptions for job in jobs) / len(jobs)
    deviation = sqrt(expm1(ratio) * exp(ratio) / len(jobs))
    assert interrupted == pytest.approx(expm1(ratio), abs=3 * deviation)


def test_hosts_that_never_fail_change_nothing() -> None:
    content = mix("backfill")
    usual = estimate(load_scenario(content), bridge.run, 1)
    assert found(content, 10**30, 1) == usual
    assert usual.host_failures == 0


def test_a_job_waits_for_the_repair_of_its_server() -> None:
    """It has no other ranks, so it waits for exactly as long as the server is down; the failures of
    the other server do nothing."""
    content = in_turn(1, **FIRST) | {"topology": SERVERS}
    length = alone_ps(content)
    told = found(content, length, 7 * S)
    (job,) = told.jobs
    assert told.host_failures >= job.interruptions > 0
    assert job.waiting_ns == pytest.approx(7e9 * job.interruptions)
    assert job.runs_ns[-1][1] - job.runs_ns[-1][0] == pytest.approx(length / 1000)
    assert len(job.runs_ns) == job.interruptions + 1
    assert told.schedule.jobs[0].completion_ns == pytest.approx(job.waiting_ns + job.time_ns)


def test_checkpoints_keep_what_is_done() -> None:
    """A failure of a host costs at most the interval, the write and the restart; without
    checkpoints, it costs everything."""
    work = LLM | {"failures": FAILURES | {"per_rank_year": 1e-9}}
    content = in_turn(1, iterations=20_000, **FIRST) | {"topology": SERVERS}
    content["jobs"][0]["workload"] = work
    (whole,) = found(content, 10**30, 1).jobs
    mtbf = round(whole.alone_ns * 1000 / 4)
    (kept,) = found(content, mtbf, S).jobs
    assert kept.failures == 0
    assert kept.interruptions >= 1
    # A checkpoint is complete write_s after it was begun; the interval is 4 s, the restart 1 s.
    period = load_scenario(content).work[0]
    trained = period.kind.training(period.workload, 8)
    assert trained is not None
    assert trained.period is not None
    most = trained.interval_s + trained.period.stall_s + trained.period.write_s + 1
    lost = (kept.time_ns - whole.time_ns) / kept.interruptions
    assert 1e9 <= lost <= most * 1e9
    # It restarts each time it starts again.
    assert len(kept.restarts_ns) == kept.interruptions
    assert all(end - begin <= 1e9 * (1 + 1e-9) for begin, end in kept.restarts_ns)
    content["jobs"][0]["workload"] = LLM
    (again,) = found(content, mtbf, S).jobs
    assert again.time_ns > kept.time_ns


Span = tuple[int, int]


def meets(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def exact(span: tuple[float, float]) -> Span:
    """Return times of ns in ps, as sums of ns are not exact."""
    return round(1000 * span[0]), round(1000 * span[1])


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from([HOST, NIC]),
    st.sampled_from(["fifo", "backfill"]),
    st.integers(1, 50),
    st.floats(0.2, 5),
    st.floats(0.01, 2),
)
def test_no_rank_is_used_twice_or_while_it_is_down(kind, policy, seed, often, long):
    """The failures are drawn again; each rank is a host with a NIC. Of a
    job, the ranks of its last start are
    known, and of all starts their number."""
    failures = Rates(round(often * S / 1000), round(long * S / 1000))
    told = found(mix(policy, seed=seed), failures.mtbf_ps, failures.repair_ps, kind)
    end = max(exact(job.runs_ns[-1])[1] for job in told.jobs)
    network = resolve(load_scenario(mix(policy))).network
    all_parts = hosts(network.ranks, 1) if kind == HOST else parts_of(network, kind)
    parts = Parts(network, failing(all_parts, failures, seed))
    down: list[tuple[int, Span]] = []
    while parts.next_ps < end:
        now = parts.next_ps
        change = parts.pop()
        (rank,) = [*change.lost, *change.back]
        if change.fails:
            down.append((rank, (now, now + failures.repair_ps)))
    assert len(down) == (told.host_failures if kind == HOST else told.nic_failures)
    last = [
        (rank, exact(job.runs_ns[-1]))
        for job, placed in zip(told.jobs, told.schedule.jobs, strict=True)
        for rank in placed.ranks
    ]
    for number, (rank, run) in enumerate(last):
        others = [*last[:number], *down]
        assert not any(rank == other and meets(run, span) for other, span in others)
    runs = [(job.ranks, exact(run)) for job in told.jobs for run in job.runs_ns]
    for _, (start, finish) in runs:
        if finish > start:
            used = sum(ranks for ranks, run in runs if run[0] <= start < run[1])
            assert used + sum(span[0] <= start < span[1] for _, span in down) <= 8


def test_the_command_says_the_same_twice(tmp_path, scenarios) -> None:
    file = scenarios / "jobs_queue_small.yaml"
    options = ["--set", "fabric=analytical", "--host-mtbf", "20ms", "--host-repair", "1ms"]
    picture = tmp_path / "jobs.svg"
    words = ["cluster", str(file), *options, "--json", "--plot", str(picture)]
    first, second = (CliRunner().invoke(main, words) for _ in range(2))
    assert first.exit_code == 0, first.stderr
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["host_failures"] > 0
    assert "</svg>" in picture.read_text()
    shown = CliRunner().invoke(main, ["cluster", str(file), *options])
    assert "of hosts, by which jobs lost ranks" in shown.stdout


TWO_SPINES = {"family": "leaf_spine", "servers": 8, "radix": 6, "spines": 2, "buffer": "4MB"}
TWO_SPINES |= {"oversubscription": 2}
ACROSS = RING | {"operation": "all_to_all", "algorithm": "direct", "bytes": "4MB"}


def test_a_job_waits_for_the_repair_of_its_leaf_only() -> None:
    """Its ranks are all of one leaf: they are cut off while it is down. Other leaves do nothing."""
    content = in_turn(1, ranks=None, placement=[0, 1, 2, 3]) | {"topology": TWO_SPINES}
    length = alone_ps(content)
    told = found(content, length // 2, 7 * S, SWITCH)
    (job,) = told.jobs
    assert told.switch_failures > job.interruptions > 0
    assert job.waiting_ns == pytest.approx(7e9 * job.interruptions)
    assert job.failures == 0


def test_a_job_goes_on_over_the_other_spine() -> None:
    """A spine that fails costs no ranks. Then the other spine has the load of both: if it is more
    than a link carries, the job is slower by that much."""
    content = in_turn(1, workload=ACROSS, iterations=2, **FIRST) | {"topology": TWO_SPINES}
    scenario = load_scenario(content | {"fabric": "flow"})
    placements = _Placements(scenario, simulate, 1)
    network, members = placements.resolved.network, tuple(range(8))
    time, load, _ = placements.of(scenario.work[0], members)
    parts = parts_of(network, SWITCH)
    names = [network.node_names[network.source[part.links[0]]] for part in parts]
    spine = next(
        part for part in parts if not (network.source[list(part.links)] < network.ranks).any()
    )
    assert len(parts) == 4, names
    down = frozenset(spine.links)
    _, other, is_simulated = placements.of(scenario.work[0], members, down)
    assert is_simulated
    assert down.isdisjoint(other.links.tolist())
    assert not down.isdisjoint(load.links.tolist())
    sent = [sum(one.part * network.rate_bps[one.links]) for one in (load, other)]
    assert sent[0] == pytest.approx(sent[1])  # in all, over as many links
    assert other.part.max() > 1 > load.part.max()
    # One failure in the middle, and no repair before the end.
    cluster = _Cluster(scenario, placements, {"x": (SWITCH, Rates(10**30, 10**30))})
    cluster._parts._next = [(time // 2, parts.index(spine), 10**30)]
    (job,) = cluster.run().jobs
    assert (job.failures, job.interruptions) == (0, 0)
    slow = float(other.part.max())
    assert job.time_ns == pytest.approx((time // 2 + (time - time // 2) * slow) / 1000)


def test_nothing_outside_of_servers_is_told() -> None:
    content = in_turn(1) | {
        "topology": {"family": "direct_connect", "graph": "shifted_ring:n=8,d=4"}
        | {"bandwidth": "25Gbps", "latency": "1us", "buffer": "4MB"}
    }
    with pytest.raises(InputError, match="--nic-mtbf: expected no value, because the topology has"):
        found(content, 10**6, 10**9, NIC)


def test_jobs_that_cannot_end_are_given_up() -> None:
    content = in_turn(1)
    with pytest.raises(InputError, match="hosts have interrupted job j0 10000 times"):
        found(content, alone_ps(content) // 4, 1)
    with pytest.raises(InputError, match="and no job had enough ranks"):
        found(content, 10**6, 10**9)
