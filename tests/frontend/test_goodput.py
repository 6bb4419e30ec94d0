"""Goodput of jobs whose ranks fail: the closed form against failures drawn one by one."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.goodput import Period
from frontend.models.cards import Card
from frontend.models.transformer import parameters
from frontend.workloads.llm import KIND
from frontend.workloads.llm.workload import LlmWorkload
from tests.frontend.llm.llms import CARD, resolved

CARD_WEIGHTS = parameters(Card.model_validate(CARD))
PART = st.floats(0.001, 0.3)


def simulated(period, interval_s, *, failures, seed):
    """Return the goodput of a job that fails so many times, event by event."""
    draw = random.Random(seed)
    cycle = interval_s + period.stall_s
    clock, saved = 0.0, 0  # intervals in the last complete checkpoint
    for _ in range(failures):
        left = draw.expovariate(period.failures_per_s)
        clock += left
        # The job has trained `saved` intervals when it starts. The checkpoint of interval k is
        # complete write_s after the end of its stall.
        saved += max(0, int((left - period.write_s) // cycle))
        while True:  # restarts fail, too
            left = draw.expovariate(period.failures_per_s)
            if left >= period.restart_s:
                clock += period.restart_s
                break
            clock += left
    return saved * interval_s / clock


@settings(max_examples=15, deadline=None)
@given(interval=st.floats(0.02, 0.5), restart=PART, stall=PART, write=PART)
def test_simulated_failures_agree(interval, restart, stall, write):
    # All times in mean times between failures.
    period = Period(1.0, restart, stall, min(write, interval))
    found = simulated(period, interval, failures=20_000, seed=1)
    assert found == pytest.approx(period.goodput(interval), rel=0.05)


@given(stall=st.floats(1e-6, 0.5), restart=PART, factor=st.floats(0.2, 5))
def test_no_interval_is_better_than_the_best(stall, restart, factor):
    period = Period(1e-4, restart * 1e4, stall * 1e4)
    best = period.best_interval_s()
    assert period.goodput(best * factor) <= period.goodput(best) * (1 + 1e-9)


@given(stall=st.floats(1e-8, 1e-5))
def test_youngs_interval_is_the_limit_of_short_stalls(stall):
    best = Period(1.0, 0.1, stall).best_interval_s()
    assert best == pytest.approx((2 * stall) ** 0.5, rel=0.01)


def test_without_stalls_a_checkpoint_follows_the_other():
    assert Period(1e-4, 100, 0, write_s=30).best_interval_s() == 30


def test_llama_3_trains_more_than_nine_tenths_of_its_time():
    """ArXiv 2407.21783: 419 failures in 54 days, 2 TB/s to the storage. Restarts: 10 minutes."""
    period = Period(419 / (54 * 86400), 600, 405.85e9 * 14 / 2e12)
    assert 0.9 < period.goodput(period.best_interval_s()) < 0.95


def test_nothing_is_left_if_failures_are_too_frequent():
    assert Period(1.0, 1000, 1).goodput(1) == 0


def test_a_plan_has_the_rate_of_all_ranks():
    failures = {"per_rank_year": 365.0, "restart": "60s", "write_rate": "1MB/s"}
    made = resolved(4, layout={"zero": 1}, failures=failures)
    workload = made.scenario.workload
    assert isinstance(workload, LlmWorkload)
    work = KIND.training(workload, 4)
    # Four failures a day; a rank writes the weights (2 bytes) and a quarter of 12 bytes for each.
    assert work.period.failures_per_s == pytest.approx(4 / 86400)
    assert work.period.stall_s == pytest.approx(CARD_WEIGHTS * (2 + 12 / 4) / 1e6, rel=1e-3)
    with pytest.raises(Exception, match=r"workload\.failures\.interval: .* expected at least"):
        resolved(
            4, layout={"zero": 1},
            failures=failures | {"interval": "1us", "stall": "0us"},
        )  # fmt: skip
