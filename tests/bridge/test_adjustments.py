"""Delays and priorities that make jobs disturb each other less, against closed forms and search."""

from __future__ import annotations

import json
from itertools import combinations, product

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.batch.phases import Circle, Pattern, delays
from bridge.batch.priorities import Demand, correction, priorities_of, traffic_classes
from bridge.cli.main import main
from tests.bridge.job_parts import FLAT, RING

LINK = 7


def training(duty: float, period: float = 1000, load: float = 1, link: int = LINK) -> Pattern:
    """A job that communicates for a part of each iteration, from its beginning."""
    return Pattern(period, ((0, duty * period),), {link: load})


def meeting_ns(patterns: list[Pattern], late: list[float], load: float = 1) -> float:
    """Time in one common period for which two jobs communicate at once, by merging intervals."""
    period = max(one.period_ns for one in patterns)
    spans = []
    for one, delay in zip(patterns, late, strict=True):
        (phase,) = one.phases
        begins = [delay + turn * one.period_ns for turn in range(-2, 2 + int(period))]
        spans.append([(at + phase[0], at + phase[1]) for at in begins if at < 2 * period])
    return sum(max(0.0, min(a[1], b[1], period) - max(a[0], b[0], 0)) for a, b in product(*spans))


@settings(deadline=None)
@given(st.floats(0.02, 1), st.floats(0.02, 1), st.floats(0, 5000), st.floats(0, 5000))
def test_two_equal_jobs_meet_as_little_as_they_must(one, other, first, second):
    """On one link, the least overlap is 1 less than the sum of their parts of the period: nothing
    up to 1/2 each, 20 % at 60 %. The steps of the circle round it by at most 1 / 180."""
    jobs = {"a": training(one), "b": training(other)}
    found = delays(jobs, {"a": first, "b": second})
    assert min(found.values()) == 0
    assert all(0 <= delay < 1000 for delay in found.values())
    start = [(at + found[name]) % 1000 for name, at in (("a", first), ("b", second))]
    met = meeting_ns(list(jobs.values()), start)
    least = max(0, one + other - 1) * 1000
    assert least - 1e-6 <= met <= least + 1000 / 180


@pytest.mark.parametrize(("duty", "least"), [(0.5, 0), (0.6, 0.2), (0.75, 0.5), (1, 1)])
def test_the_excess_of_two_equal_jobs(duty: float, least: float) -> None:
    circle = Circle.of([training(duty), training(duty)])
    assert circle is not None
    assert circle.excess(circle.best()) == pytest.approx(least, abs=1e-9)
    assert circle.excess([0, 0]) == pytest.approx(duty)


def test_links_with_room_for_both_ask_for_no_delay() -> None:
    assert delays(
        {"a": training(0.9, load=0.5), "b": training(0.9, load=0.5)}, {"a": 0, "b": 9}
    ) == {
        "a": 0,
        "b": 0,
    }


def test_jobs_that_share_nothing_are_not_delayed() -> None:
    jobs = {"a": training(0.5), "b": training(0.5, link=1), "c": training(0.5)}
    found = delays(jobs, {"a": 0, "b": 0, "c": 0})
    assert found == {"a": pytest.approx(0), "b": 0, "c": pytest.approx(500, abs=1000 / 360)}


def test_a_job_with_half_the_period_fits_between() -> None:
    """It communicates twice on the circle, for 25 % of it each time; the other for 25 %."""
    circle = Circle.of([training(0.25, 2000), training(0.5, 1000)])
    assert circle is not None
    assert circle.perimeter_ns == 2000
    assert circle.excess(circle.best()) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("other", [1618, 31_415_926])
def test_periods_that_fit_no_circle_are_left_alone(other: float) -> None:
    """Of 1000 and 1618, 16 periods of the one are near 10 of the other, but not of the third."""
    jobs = [training(0.5, 1000), training(0.5, other), training(0.5, 1271)]
    assert Circle.of(jobs) is None
    found = delays(dict(zip("abc", jobs, strict=True)), {"a": 0, "b": 0, "c": 0})
    assert found == {"a": 0, "b": 0, "c": 0}


def met_ns(first: Pattern, second: Pattern, late: float, until: float) -> float:
    """Time until an end for which two jobs communicate at once; the second one starts later."""
    spans = [
        [
            (begin + at, end + at)
            for begin, end in one.phases
            for at in np.arange(delay - one.period_ns, until, one.period_ns)
        ]
        for one, delay in ((first, 0.0), (second, late))
    ]
    return sum(max(0.0, min(a[1], b[1], until) - max(a[0], b[0], 0)) for a, b in product(*spans))


@given(st.floats(0, 30_000), st.floats(0, 30_000))
@settings(deadline=None, max_examples=20)
def test_a_chain_of_jobs_that_fit_no_circle_together(second, third):
    """15 iterations of a are one of b, and 15 of c are two: a and b fit on a circle, so do b and c,
    and all three need 30. Along the links, neither pair meets."""
    jobs = {
        "a": Pattern(2000, ((0, 400),), {1: 1}),
        "b": Pattern(30_000, ((0, 1000),), {1: 1, 2: 1}),
        "c": Pattern(4000, ((0, 900),), {2: 1}),
    }
    assert Circle.of(list(jobs.values())) is None
    starts = {"a": 0.0, "b": second, "c": third}
    found = delays(jobs, starts)
    assert all(0 <= found[name] < jobs[name].period_ns for name in jobs)
    at = {name: starts[name] + found[name] for name in jobs}
    assert met_ns(jobs["a"], jobs["b"], (at["b"] - at["a"]) % 30_000, 60_000) < 60
    assert met_ns(jobs["b"], jobs["c"], (at["c"] - at["b"]) % 4000, 60_000) < 120


def test_links_that_lead_back_keep_the_pair_with_the_most_gain():
    """A circle of three jobs: what the third link says is left out, and delays are still those of
    the others."""
    jobs = {
        "a": Pattern(2000, ((0, 400),), {1: 1, 3: 1}),
        "b": Pattern(30_000, ((0, 1000),), {1: 1, 2: 1}),
        "c": Pattern(4000, ((0, 900),), {2: 1, 3: 1}),
    }
    found = delays(jobs, dict.fromkeys(jobs, 0.0))
    assert found["a"] == 0
    pairs = [("a", "b", 30_000), ("b", "c", 4000), ("a", "c", 4000)]
    met = [
        met_ns(jobs[one], jobs[other], (found[other] - found[one]) % period, 60_000)
        for one, other, period in pairs
    ]
    assert sum(value < 120 for value in met) >= 2


def test_jobs_that_interleave_already_are_not_delayed() -> None:
    jobs = {"a": training(0.4), "b": training(0.4)}
    assert delays(jobs, {"a": 0, "b": 450}) == {"a": 0, "b": 0}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 8), st.floats(0.3, 1)), min_size=2, max_size=3),
    st.data(),
)
def test_the_best_angles_against_all(jobs, data):
    """In steps of an eighth of the period, against every combination of angles. Turning one after
    another finds the best one of two jobs; of three, one that turning any single job cannot
    improve."""
    links = [data.draw(st.sets(st.integers(0, 2), min_size=1)) | {0} for _ in jobs]
    patterns = [
        Pattern(800, ((0, 100.0 * length),), dict.fromkeys(sorted(used), load))
        for (length, load), used in zip(jobs, links, strict=True)
    ]
    circle = Circle.of(patterns)
    assert circle is not None
    step = circle.steps // 8
    angles = circle.best()
    found = circle.excess(angles)
    if len(jobs) == 2:
        least = min(circle.excess([0, step * turn]) for turn in range(8))
        assert found == pytest.approx(least, abs=1e-9)
    for job, turn in product(range(len(jobs)), range(8)):
        other = [*angles[:job], (angles[job] + step * turn) % circle.steps, *angles[job + 1 :]]
        assert found <= circle.excess(other) + 1e-9


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=5),
    st.integers(1, 3),
    st.data(),
)
def test_classes_against_all_assignments(values, count, data):
    """Every assignment in which no job is below one with less priority that it shares links with,
    and what it costs, is the oracle."""
    names = [f"j{number}" for number in range(len(values))]
    intensities = {name: float(one) for name, (one, _) in zip(names, values, strict=True)}
    order = {name: float(one) for name, (_, one) in zip(names, values, strict=True)}
    every = [frozenset(pair) for pair in combinations(names, 2)]
    pairs = {pair for pair in every if data.draw(st.booleans())}
    found = traffic_classes(intensities, pairs, range(count), order)
    ranked = sorted(names, key=lambda name: (-order[name], -intensities[name], name))
    ordered = [tuple(sorted(pair, key=ranked.index)) for pair in pairs]

    def is_allowed(classes):
        return all(classes[first] >= classes[second] for first, second in ordered)

    def cost(classes):
        return sum(
            intensities[first] for first, second in ordered if classes[first] == classes[second]
        )

    every_one = (
        dict(zip(names, classes, strict=True))
        for classes in product(range(count), repeat=len(names))
    )
    assert is_allowed(found)
    assert cost(found) == min(cost(one) for one in every_one if is_allowed(one))


def test_many_jobs_with_few_classes_keep_the_order_of_their_priorities():
    """Of twelve jobs on one link in three classes: the least cost by a cut of their order."""
    values = {f"j{number:02}": float(100 - number**2 // 2) for number in range(12)}
    pairs = {frozenset(pair) for pair in combinations(values, 2)}
    found = list(traffic_classes(values, pairs, range(3)).values())
    assert found == sorted(found, reverse=True)

    def cost(first, second):
        parts = (range(first), range(first, second), range(second, 12))
        ordered = list(values.values())
        return sum(ordered[job] * (part.stop - 1 - job) for part in parts for job in part)

    least = min(cost(*cut) for cut in combinations(range(1, 12), 2))
    assert cost(found.count(2), found.count(2) + found.count(1)) == least


def demand(period: float, sent: float, slack: float = 0, computed: float = 100) -> Demand:
    return Demand(period, sent, slack, computed)


def done(own: Demand, first: Demand, time: float) -> float:
    """The iterations of a job behind another one, moved from turn to turn of the other."""
    starts, total = 32, 0.0
    for start in range(starts):
        begin = offset = (start + 0.5) / starts * first.period
        count = 0
        while True:
            ready = at = begin + own.period - own.slack - own.sent
            left, turn = own.sent, int(at // first.period)
            while True:
                at = max(at, turn * first.period + first.sent)
                free = (turn + 1) * first.period - at
                if left <= free:
                    break
                at, left, turn = (turn + 1) * first.period, left - max(0.0, free), turn + 1
            late = max(0.0, at + left - ready - own.sent - own.slack)
            end = begin + own.period + late
            if end > offset + time:
                break
            begin, count = end, count + 1
        total += count + (offset + time - begin) / (end - begin)
    return total / starts


@given(
    st.tuples(st.floats(10, 100), st.floats(1, 9)),
    st.tuples(st.floats(10, 100), st.floats(1, 60)),
    st.floats(0, 5),
)
@settings(deadline=None, max_examples=20)
def test_the_iterations_behind_another_job(other, own, slack):
    first, job = demand(*other), demand(own[0] + own[1], own[1], min(slack, own[0]))
    time = 12 * max(first.period, job.period)
    assert job.iterations_behind(first, time) == pytest.approx(done(job, first, time), rel=0.03)


def test_a_whole_link_leaves_nothing():
    assert demand(100, 1).iterations_behind(demand(50, 50), 1000) == 0
    assert demand(100, 1).lost(demand(50, 50), 1000) == pytest.approx(100 * 10)


def test_the_examples_of_the_paper() -> None:
    """Section 4.2. First, iterations of 2 s and 2 s, and of 1 s and 1 s: behind the other one, they
    take 6 and 4 s, so 4 instead of 6 s of 12 s of the link, and 3 instead of 6 s. Second, jobs that
    communicate from the half of their computation on: the one whose communication fits into the
    rest of its computation waits without a loss more often."""
    long, short = demand(4, 2, computed=10), demand(2, 1, computed=5)
    assert 1200 / long.iterations_behind(short, 1200) == pytest.approx(6, rel=2e-3)
    assert 1200 / short.iterations_behind(long, 1200) == pytest.approx(4, rel=2e-3)
    assert correction(short, long) == pytest.approx(1.5, rel=1e-3)
    overlapped, exposed = demand(4, 1, slack=1, computed=10), demand(4, 3, computed=30)
    assert correction(exposed, overlapped) > 1 > correction(overlapped, exposed)


@given(st.integers(2, 8), st.floats(0, 1), st.floats(0.1, 10))
@settings(deadline=None, max_examples=40)
def test_the_correction_compares_what_each_loses_behind_the_other(often, hidden, work):
    """A job like the reference has its priority for each unit of intensity; several iterations in
    one of the reference have more if the link has no room for both, hidden communication less; a
    unit of computation cancels out."""
    reference = demand(100, 30)
    assert correction(reference, reference) == pytest.approx(1)
    assert correction(demand(100, 30, computed=work), reference) == pytest.approx(1)
    busy = demand(100, 60)
    assert correction(demand(100 / often, 60 / often), busy) > 1
    assert correction(demand(100, 30, slack=30 * hidden), reference) <= 1 + 1e-9
    assert correction(demand(100, 30, slack=100), reference) == 0
    assert correction(reference, demand(100, 30, slack=100)) == float("inf")


def test_equal_intensities_are_told_apart():
    """Two jobs of equal intensity: the one with the shorter iterations comes first; of two equal
    ones, that which does not hide its communication."""
    patterns = {
        "long": Pattern(1000, ((400, 1000),), {LINK: 1}),
        "short": Pattern(500, ((200, 500),), {LINK: 1}),
        "hidden": Pattern(1000, ((200, 800),), {LINK: 1}),
    }
    order = priorities_of(dict.fromkeys(patterns, 3.0), patterns)
    assert order["short"] > order["long"] > order["hidden"]
    assert order["long"] == pytest.approx(3)
    assert priorities_of({"idle": float("inf")}, {}) == {"idle": float("inf")}


def told(scenarios, tmp_path, *options):
    file = scenarios / "jobs_phases.yaml"
    answer = CliRunner().invoke(
        main, ["interference", str(file), "--json", "--out", str(tmp_path), *options]
    )
    assert answer.exit_code == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_a_delay_ends_what_two_trainings_do_to_each_other(scenarios, tmp_path, fabric):
    """Each communicates for less than half of its time, so with a delay it is as fast as alone."""
    found = told(scenarios, tmp_path, "--set", f"fabric={fabric}", "--phases", "cassini")
    assert all(job["slowdown"] > 1.07 for job in found["jobs"])
    adjusted = found["adjusted"]
    assert [job["slowdown"] for job in adjusted["jobs"]] == [pytest.approx(1, abs=1e-6)] * 2
    assert adjusted["fairness"] == pytest.approx(1)
    delay = sorted(change["delay_ns"] for change in adjusted["adjustments"].values())
    iteration = found["jobs"][0]["alone_ns"] / 8
    assert delay[0] == 0 < delay[1] < iteration
    # The folder has the jobs as they were simulated.
    scenario = json.loads((tmp_path / "adjusted" / "result.json").read_text())["scenario"]
    assert {job["arrival"] for job in scenario["jobs"]} == {"0ps", f"{round(delay[1] * 1000)}ps"}


def test_the_job_that_computes_more_comes_first(scenarios, tmp_path):
    """Both send the same, the second one computes for a quarter of the time: its intensity is a
    quarter, its class lower, and the first one is nearly as fast as alone."""
    fast = "jobs.1.workload.compute={peak_flops: 1TFLOPS, memory_bandwidth: 400GB/s}"
    found = told(scenarios, tmp_path, "--set", fast, "--priorities", "crux")
    first, second = (found["adjusted"]["adjustments"][name] for name in ("first", "second"))
    assert (first["traffic_class"], second["traffic_class"]) == (5, 4)
    assert first["gpu_intensity"] == pytest.approx(4 * second["gpu_intensity"], rel=1e-3)
    before, after = found["jobs"][0], found["adjusted"]["jobs"][0]
    assert after["slowdown"] < 1.005 < before["slowdown"]


def test_without_options_nothing_is_adjusted(scenarios, tmp_path):
    assert "adjusted" not in told(scenarios, tmp_path)


def test_a_job_without_a_class_beside_others_takes_what_it_takes_alone(tmp_path):
    """Its ports have queues for classes when it is alone, too."""
    content = {
        "topology": FLAT,
        "transport": {"protocol": "roce"},
        "jobs": [
            {"name": "a", "ranks": 4, "traffic_class": 1, "workload": RING},
            {"name": "b", "ranks": 4, "workload": RING},
        ],
    }
    file = tmp_path / "mix.yaml"
    file.write_text(json.dumps(content))
    answer = CliRunner().invoke(main, ["interference", str(file), "--json"])
    assert [job["slowdown"] for job in json.loads(answer.stdout)["jobs"]] == [1, 1]
