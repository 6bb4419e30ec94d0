"""`cosim cluster`: jobs at the level of jobs, each placement simulated alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bridge
from bridge.batch.cluster import estimate
from bridge.batch.running import Load, speeds
from bridge.cli.main import main
from frontend import load_scenario
from frontend.compiler.shapes import Shapes
from frontend.resolve import resolve
from tests.bridge.job_parts import CLOS, DLRM, FLAT, RING


def mix(policy: str, **more: Any) -> dict[str, Any]:
    arrivals = {"count": 8, "interval": "200us"}
    jobs: list[dict[str, Any]] = [
        {"name": "a", "ranks": 4, "workload": RING, "iterations": 2, "placement": "random"},
        {"name": "d", "ranks": 2, "workload": DLRM, "placement": "spread", "expected": "300us"},
        {"name": "b", "ranks": 6, "workload": RING, "expected": "150us"},
    ]
    listed = [job | {"arrivals": arrivals} for job in jobs]
    return {"topology": FLAT, "fabric": "flow", "queueing": policy, "jobs": listed, **more}


def estimated(content: dict[str, Any], placements: int | None = None) -> Any:
    return estimate(load_scenario(content), bridge.run, placements)


@pytest.mark.parametrize("policy", ["fifo", "backfill"])
def test_jobs_that_share_no_link_are_scheduled_as_in_one_simulation(policy):
    """All jobs of a mix start and end at the same picosecond as together, on the same ranks."""
    content = mix(policy)
    found = estimated(content)
    assert found.schedule == bridge.run(content).schedule
    assert {job.slowdown for job in found.jobs} == {1.0}
    assert all(job.is_simulated for job in found.jobs)
    # On a switch, all placements in ascending order are alike; those at random differ in order.
    assert found.simulations <= 2 + 8


def test_a_job_does_not_begin_with_the_windows_of_the_one_before():
    """This is what is left to one simulation on fabrics with windows: less than 3 % here."""
    content = mix("fifo", fabric="analytical")
    together = bridge.run(content).schedule
    assert together is not None
    found = estimated(content).schedule
    assert found.completion_mean_ns == pytest.approx(together.completion_mean_ns, rel=0.03)
    assert found != together


def test_one_placement_of_a_kind_stands_for_the_others():
    found = estimated(mix("fifo"), 1)
    assert found.simulations == 3  # one of each entry
    assert found.schedule == bridge.run(mix("fifo")).schedule


def test_two_equal_jobs_on_one_link_share_it():
    """The link carries what both send in no less time than it would take alone: 2u, if a job alone
    keeps it busy for the part u of the time; a job alone that needs more than half is slowed."""
    jobs = [
        {"name": name, "placement": ranks, "workload": RING, "iterations": 2}
        for name, ranks in (("a", [0, 4]), ("b", [1, 5]))
    ]
    content = {"topology": CLOS, "fabric": "flow", "jobs": jobs}
    alone = bridge.run(content | {"jobs": jobs[:1]})
    (link,) = [
        row
        for row in alone.tables.rows("links")
        if row["source_name"] == "leaf0" and row["target_name"].startswith("spine")
    ]
    used = link["wire_bytes"] * 8e9 / link["rate_bps"] / alone.time_ns
    assert 0.5 < used <= 1
    found = estimated(content)
    assert [job.slowdown for job in found.jobs] == pytest.approx([2 * used] * 2, rel=1e-6)
    assert found.fairness == 1
    together = bridge.run(content)
    assert found.schedule.completion_mean_ns == pytest.approx(together.time_ns, rel=0.05)


def test_a_link_is_shared_while_both_run():
    """b comes when a has done a half: then both run at the speed s = 1 / (2u), a for T / 2s."""
    job = {"placement": [0, 4], "workload": RING, "iterations": 2}
    alone = estimated({"topology": CLOS, "fabric": "flow", "jobs": [{"name": "a", **job}]})
    time = alone.jobs[0].time_ns
    other = job | {"name": "b", "placement": [1, 5], "arrival": f"{time / 2}ns"}
    jobs = [{"name": "a", **job}, other]
    both = estimated({"topology": CLOS, "fabric": "flow", "jobs": jobs})
    simultaneous = [jobs[0], other | {"arrival": "0ns"}]
    slow = estimated({"topology": CLOS, "fabric": "flow", "jobs": simultaneous}).jobs[0].slowdown
    assert both.jobs[0].time_ns == pytest.approx(time / 2 + slow * time / 2, rel=1e-6)
    assert both.jobs[1].time_ns == pytest.approx(both.jobs[0].time_ns, rel=1e-6)


@pytest.mark.parametrize(("transport", "error"), [({}, 0.05), ({"protocol": "roce"}, 0.15)])
def test_a_lower_class_gets_what_a_higher_one_leaves(transport, error):
    """The higher one runs as if alone for T, and keeps the link busy for the part u of it; the
    other one has the rest, the speed (1 - u) / u, and then all. In one simulation, the rates of
    RoCE take time to rise again."""
    jobs = [
        {"name": name, "placement": ranks, "workload": RING | {"bytes": "20MB"}} | more
        for name, ranks, more in (("a", [0, 4], {}), ("b", [1, 5], {"traffic_class": 0}))
    ]
    jobs[0]["traffic_class"] = 4
    content = {"topology": CLOS, "fabric": "express", "jobs": jobs}
    content |= {"transport": transport} if transport else {}
    alone = bridge.run(content | {"jobs": jobs[:1]})
    (link,) = [
        row
        for row in alone.tables.rows("links")
        if row["source_name"] == "leaf0" and row["target_name"].startswith("spine")
    ]
    used = link["wire_bytes"] * 8e9 / link["rate_bps"] / alone.time_ns
    assert 0.5 < used <= 1
    first, second = estimated(content).jobs
    assert first.slowdown == 1
    assert second.slowdown == pytest.approx(2 - (1 - used) / used, rel=0.01)
    together = bridge.run(content).schedule
    assert together is not None
    times = [job.completion_ns for job in together.jobs]
    assert times == pytest.approx([first.time_ns, second.time_ns], rel=error)


def test_more_iterations_take_the_time_of_the_last_simulated_one():
    job = {"name": "a", "ranks": 4, "workload": RING, "iterations": 20}
    content = {"topology": FLAT, "fabric": "flow", "jobs": [job]}
    assert estimated(content).schedule == bridge.run(content).schedule


@pytest.mark.parametrize("fabric", ["analytical", "flow"])
def test_placements_with_equal_links_take_the_same_time(fabric):
    """The digest is exact: of many placements, those with equal digests end in the same ps."""
    topology = {"family": "leaf_spine", "servers": 16, "radix": 6, "oversubscription": 2}
    topology |= {"buffer": "4MB"}
    content = {"topology": topology, "fabric": fabric}
    shapes, times = None, dict[bytes, set[float]]()
    for first in range(12):
        members = list(range(first, first + 4))
        job = {"name": "a", "placement": members, "workload": RING}
        scenario = load_scenario(content | {"jobs": [job]})
        shapes = shapes or Shapes(resolve(scenario))
        shape = shapes.of(scenario.work[0], tuple(members))
        times.setdefault(shape.exact, set()).add(bridge.run(scenario).time_ns)
    assert 2 <= len(times) < 12
    assert len(set.union(*times.values())) > 1
    assert all(len(one) == 1 for one in times.values())


LLM: dict[str, Any] = {
    "kind": "llm",
    "model": {"card": "llama3_8b", "layers": 2, "hidden": 512, "heads": 4, "kv_heads": 4}
    | {"feed_forward": 1024, "vocabulary": 4096, "sequence": 256},
    "layout": {"tp": 2},
    "global_batch": 4,
    "compute": {"accelerator": "h100", "efficiency": 0.001},
}
FAILURES = {"per_rank_year": 600_000, "restart": "1s", "interval": "4s", "write_rate": "50MB/s"}


@pytest.mark.parametrize("stall", [None, "0.2s"])
def test_goodput_is_that_of_the_closed_form(stall):
    """Daly's form for what a job keeps, with many hundred failures: within 3 %."""
    workload = LLM | {"failures": FAILURES | {"stall": stall}}
    job = {"name": "a", "ranks": 4, "workload": workload, "iterations": 100_000}
    content = {"topology": FLAT, "fabric": "analytical", "jobs": [job]}
    scenario = load_scenario(content)
    training = scenario.work[0].kind.training(scenario.work[0].workload, 4)
    assert training is not None
    assert training.period is not None
    found = estimated(content)
    assert found.jobs[0].failures > 500
    expected = training.period.goodput(training.interval_s)
    assert 0.2 < expected < 0.95
    assert found.goodput == pytest.approx(expected, rel=0.03)
    rate = found.jobs[0].failures / found.jobs[0].time_ns * 1e9
    assert rate == pytest.approx(training.period.failures_per_s, rel=0.15)
    assert estimated(content) == found
    assert estimated(content | {"seed": 2}) != found


def test_a_failed_job_keeps_the_next_one_waiting():
    """The second job waits for as long as the first one needs with its failures."""
    failing = {"name": "a", "ranks": 8, "iterations": 20_000}
    failing |= {"workload": LLM | {"failures": FAILURES}}
    after = {"name": "b", "ranks": 8, "workload": RING, "arrival": "1s"}
    content = {"topology": FLAT, "fabric": "analytical", "queueing": "fifo"}
    a, b = estimated(content | {"jobs": [failing, after]}).jobs
    assert a.failures > 0
    assert b.failures == 0
    assert a.time_ns > a.alone_ns
    assert b.waiting_ns == pytest.approx(a.time_ns - 1e9)


@given(
    st.lists(
        st.dictionaries(st.integers(0, 4), st.floats(0.01, 1), min_size=1), min_size=1, max_size=6
    )
)
def test_speeds_are_max_min_fair(loads):
    """No link is too busy, and a slow job is among the fastest on a link that is busy all along."""
    made = [Load(np.array(list(one)), np.array(list(one.values()))) for one in loads]
    found = speeds(made, 5)
    busy = [
        sum(one.get(link, 0) * speed for one, speed in zip(loads, found, strict=True))
        for link in range(5)
    ]
    assert max(busy) <= 1 + 1e-9
    for one, speed in zip(loads, found, strict=True):
        assert 0 < speed <= 1
        assert speed == 1 or any(
            busy[link] > 1 - 1e-9
            and all(
                other <= speed + 1e-9
                for some, other in zip(loads, found, strict=True)
                if link in some
            )
            for link in one
        )


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.integers(0, 4), st.floats(0.01, 1), min_size=1), st.integers(0, 2)
        ),
        min_size=1,
        max_size=6,
    )
)
def test_lower_classes_change_nothing_for_higher_ones(jobs):
    """Each class is as fast as without those below it, and no link is too busy."""
    made = [Load(np.array(list(one)), np.array(list(one.values()))) for one, _ in jobs]
    classes = [level for _, level in jobs]
    found = speeds(made, 5, classes)
    for link in range(5):
        busy = sum(one.get(link, 0) * speed for (one, _), speed in zip(jobs, found, strict=True))
        assert busy <= 1 + 1e-9
    for least in set(classes):
        kept = [number for number, level in enumerate(classes) if level >= least]
        alone = speeds([made[number] for number in kept], 5, [classes[number] for number in kept])
        assert [found[number] for number in kept] == alone
    assert speeds(made, 5, [7] * len(jobs)) == speeds(made, 5)


def test_the_command_says_the_same_twice(tmp_path, scenarios):
    file = scenarios / "jobs_queue_small.yaml"
    arguments = ["cluster", str(file), "--set", "fabric=analytical", "--out", str(tmp_path / "x")]
    first = CliRunner().invoke(main, [*arguments, "--json"])
    assert first.exit_code == 0, first.output
    assert (tmp_path / "x").read_text() == first.stdout
    assert CliRunner().invoke(main, [*arguments, "--json"]).stdout == first.stdout
    answer = json.loads(first.stdout)
    assert [len(answer[key]) for key in ("jobs", "schedule")] == [15, 8]
    shown = CliRunner().invoke(main, arguments)
    assert "simulations  10" in shown.stdout
