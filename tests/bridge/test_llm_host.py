"""A host that launches operators one after another, against its queue, operator by operator.

An operator begins on the accelerator when the one before has ended there and the host has launched
it: b_i = max(e_{i-1}, h_1 + … + h_i), e_i = b_i + d_i.
"""

from itertools import accumulate

import pytest

import cosim
from frontend import load_scenario
from frontend.compiler.costs import Costs
from frontend.resolve.resolved import resolve
from frontend.workloads.plan import NodeType

from .test_llm import CARD, fast

US = 10**6
LAUNCHES = {
    # Queries, keys and values; two rotations, the attention; the projection and its sum.
    "attention.forward": (2, 4),
    "attention.input_gradient": (2, 4),
    # Two matrices, the activation and the sum.
    "feed_forward.forward": (2, 2),
    "feed_forward.input_gradient": (2, 2),
}
"""Linear layers and other operators of a computation; gradients of weights are launched before."""


def training(host):
    return fast(
        2,
        global_batch=4,
        overlap={"dp": False},
        compute={"kernels": "shapes", "update_accesses": 1, "host": host},
    )


def computations() -> list[tuple[str, int]]:
    """Return the computations of an iteration but for the update, with their durations."""
    [trace] = resolve(load_scenario(training(None))).plan.all_traces()
    found = [(node.name, node.duration_ps) for node in trace.nodes if node.type == NodeType.COMPUTE]
    return found[:-1]


def queue_ps(linear_ps: int, operator_ps: int) -> int:
    """Return when the last computation ends."""
    names, durations = zip(*computations(), strict=True)
    counts = [LAUNCHES.get(name, (0, 0)) for name in names]
    launched = accumulate(linears * linear_ps + others * operator_ps for linears, others in counts)
    end = 0
    for duration, ready in zip(durations, launched, strict=True):
        end = max(end, ready) + duration
    return end


def step_ps(host):
    return 1000 * cosim.run(training(host)).iterations[0].time_ns


@pytest.mark.parametrize("linear_us", [1, 10, 20, 40, 1000])
def test_an_operator_waits_for_its_launch_and_for_the_one_before(linear_us):
    """What is after the last computation (a reduction, the update) takes as long as without it."""
    after = step_ps(None) - queue_ps(0, 0)
    host = {"linear": f"{linear_us}us", "operator": "2us"}
    expected = queue_ps(linear_us * US, 2 * US) + after
    assert step_ps(host) == pytest.approx(expected, abs=2000)


def test_a_slow_host_decides_alone():
    """With launches of 1 ms, a step lasts as all launches, and what is left after the last one."""
    total = sum(
        linears * 1000 * US + others * 2 * US
        for name, _ in computations()
        for linears, others in [LAUNCHES.get(name, (0, 0))]
    )
    last = sum(duration for _, duration in computations()[-2:])
    assert queue_ps(1000 * US, 2 * US) == total + last
    assert total == 2 * CARD["layers"] * 2 * (4 * 1000 * US + 6 * 2 * US)  # two micro-batches


def test_each_exchange_is_launched():
    """Ranks of tp exchange activations, ten times in a layer."""
    slow, slower = (
        cosim.run(
            fast(
                2,
                global_batch=1,
                layout={"tp": 2},
                compute={"host": {"linear": "1ms", "operator": operator}, "update_accesses": 0},
            )
        )
        for operator in ("1us", "101us")
    )
    # Four collectives forward; backward as many, and two more for the inputs.
    others = CARD["layers"] * (2 * 6 + 4 + 6)
    more_ns = slower.iterations[0].time_ns - slow.iterations[0].time_ns
    # What is launched after the last computation does not count.
    assert 0 <= others * 100_000 - more_ns <= 2 * 100_000


def test_the_estimate_has_the_host_too():
    scenario = load_scenario(training({"linear": "1ms", "operator": "2us"}))
    work = scenario.only_work
    [found] = work.kind.estimates(work.workload, 2, Costs(resolve(scenario)), [{}])
    simulated = cosim.run(scenario).iterations[0].time_ns / 1e9
    assert found.seconds == pytest.approx(simulated, rel=0.01)
